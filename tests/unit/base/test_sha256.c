/* test_sha256.c - the vectors of FIPS 180-4's examples, one piece against many, and the C of a block against what this
 * processor runs. */
#include "base/hash/sha256.c" /* that block */

#include <stdio.h>
#include <string.h>

static int bad;

static void check(const char *what, const char *got, const char *want)
{
    if (strcmp(got, want) != 0) {
        printf("%s: %s, expected %s\n", what, got, want);
        bad = 1;
    }
}

static void check_blocks(const uint8_t *bytes)
{
    enum { BLOCKS = 9 };
    uint32_t one[8], other[8];
    for (uint32_t k = 0; k < 200; k++) {
        for (uint32_t i = 0; i < 8; i++)
            one[i] = other[i] = (k + 1) * (i + 3) * 2654435761u;
        for (size_t i = 0; i < k % BLOCKS; i++)
            block(one, bytes + k + 64 * i);
        blocks(other, bytes + k, k % BLOCKS);
        if (memcmp(one, other, sizeof one) != 0) {
            printf("%u blocks by instructions differ\n", k % BLOCKS);
            bad = 1;
        }
    }
}

int main(void)
{
    static uint8_t bytes[1000000];
    char hex[65], again[65];
    ac_sha256_hex("", 0, hex);
    check("nothing", hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    ac_sha256_hex("abc", 3, hex);
    check("abc", hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    memset(bytes, 'a', sizeof bytes);
    ac_sha256_hex(bytes, sizeof bytes, hex);
    check("a million a", hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 251);
    check_blocks(bytes);
    for (size_t n = 0; n < 300; n++) {
        ac_sha256 s = ac_sha256_open();
        for (size_t at = 0, piece = n % 67; at < n; at += piece, piece = at % 71 + 1)
            ac_sha256_add(&s, bytes + at, piece < n - at ? piece : n - at);
        ac_sha256_close(&s, again);
        ac_sha256_hex(bytes, n, hex);
        check("pieces", again, hex);
    }
    return bad;
}
