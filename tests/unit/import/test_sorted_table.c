/* test_sorted_table.c - checksums and sorted tables: the contents of the index of models/tf_saved; damaged ones are
 * refused without a crash. */
#include "base/file.h"
#include "import/tf/bundle.h"
#include "import/wire/crc32c.h"
#include "tests/unit/support/expect.h"

#include <string.h>

static ac_ctx cx;

static void test_crc32c(void)
{
    ac_crc32c c;
    const uint8_t *nine = (const uint8_t *)"123456789";
    uint8_t zeros[32] = {0};
    ac_crc32c_init(&c);
    CHECK(ac_crc32c_of(&c, 0, nine, 9) == 0xe3069283u);   /* the check value of every catalogue */
    CHECK(ac_crc32c_of(&c, 0, zeros, 32) == 0x8a9136aau); /* RFC 3720, B.4 */
    CHECK(ac_crc32c_of(&c, 0, nine, 0) == 0);
    for (size_t n = 0; n <= 9; n++)
        CHECK(ac_crc32c_of(&c, ac_crc32c_of(&c, 0, nine, n), nine + n, 9 - n) == 0xe3069283u);
    CHECK(ac_crc32c_masked(0) == 0xa282ead8u);
}

/* -1: an error; else the number of entries */
static int32_t entries_of(const uint8_t *p, size_t n, ac_sorted_table *t)
{
    ac_ctx_close(&cx);
    ac_ctx_open(&cx);
    ac_ctx_start(&cx);
    const int rc = ac_sorted_table_read(&cx, "index", (ac_span){p, n}, t);
    CHECK((rc == AC_OK) == (cx.diags.errors == 0));
    return rc == AC_OK ? t->n : -1;
}

static bool is_key(const ac_table_entry *e, const char *key)
{
    return e && e->key.n == strlen(key) && !memcmp(e->key.p, key, e->key.n);
}

static void test_table(const uint8_t *good, size_t n)
{
    static const char *const KEY[] = {
        "", "model/a/.ATTRIBUTES/VARIABLE_VALUE", "model/layer-0/rows/.ATTRIBUTES/VARIABLE_VALUE",
        "model/layer-1/b/.ATTRIBUTES/VARIABLE_VALUE", "model/layer-1/w/.ATTRIBUTES/VARIABLE_VALUE"};
    ac_sorted_table t;
    uint8_t *copy = malloc(n);
    MUST(copy && entries_of(good, n, &t) == 5);
    for (int32_t i = 0; i < 5; i++) {
        CHECK(is_key(&t.item[i], KEY[i]));
        CHECK(ac_sorted_table_find(&t, KEY[i], strlen(KEY[i])) == &t.item[i]);
    }
    CHECK(!ac_sorted_table_find(&t, "model/layer-0/rows", 18));
    CHECK(!ac_sorted_table_find(&t, "z", 1));
    for (size_t k = 0; k < n; k++)
        CHECK(entries_of(good, k, &t) < 0);
    int32_t silent = 0; /* the footer's padding, and the block about the table itself, which is not read */
    for (size_t bit = 0; bit < 8 * n; bit++) {
        memcpy(copy, good, n);
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
        const int32_t got = entries_of(copy, n, &t);
        CHECK(got < 0 || (got == 5 && is_key(&t.item[4], KEY[4])));
        silent += got >= 0;
    }
    CHECK(silent <= 8 * (48 + 13));
    free(copy);
}

static void test_bundle(const uint8_t *good, size_t n)
{
    const char *key = "model/layer-1/w/.ATTRIBUTES/VARIABLE_VALUE";
    ac_tf_saved e;
    ac_tf_bundle *b = ac_tf_bundle_read(&cx, "m", "index", (ac_span){good, n});
    MUST(b && ac_tf_bundle_find(b, (ac_span){(const uint8_t *)key, strlen(key)}, &e));
    CHECK(e.type == 1 && e.shard == 1 && e.size == 48 && !e.slices.n);
    CHECK(!ac_tf_bundle_find(b, (ac_span){(const uint8_t *)"", 0}, &e)); /* the header is not a tensor */
    CHECK(!ac_tf_bundle_find(b, (ac_span){(const uint8_t *)key, 5}, &e));
}

int main(void)
{
    static ac_file f;
    static ac_ctx outer;
    ac_ctx_open(&outer);
    ac_ctx_start(&outer);
    ac_ctx_open(&cx);
    ac_ctx_start(&cx);
    MUST(ac_file_open(&outer, SOURCE_DIR "/models/tf_saved/variables/variables.index", &f) == AC_OK);
    test_crc32c();
    test_table(f.data, f.n);
    test_bundle(f.data, f.n);
    ac_file_close(&f);
    ac_ctx_close(&cx);
    ac_ctx_close(&outer);
    return check_done();
}
