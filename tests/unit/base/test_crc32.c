/* test_crc32.c - the check value of every catalogue, the same in two parts, and no bytes. */
#include "base/hash/crc32.h"
#include "tests/unit/support/in_context.h"

static void tests(ac_ctx *cx)
{
    const char nine[] = "123456789";
    (void)cx;
    CHECK(ac_crc32(0, nine, 9) == 0xcbf43926u);
    CHECK(ac_crc32(0, nine, 0) == 0);
    for (size_t n = 0; n <= 9; n++)
        CHECK(ac_crc32(ac_crc32(0, nine, n), nine + n, 9 - n) == 0xcbf43926u);
}

int main(void)
{
    static ac_ctx cx;
    return in_context(&cx, tests);
}
