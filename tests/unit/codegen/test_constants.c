/* test_constants.c - constants of several steps that are one: found by where their bytes come from, aligned for all. */
#include "codegen/bind.h"
#include "codegen/constants.h"
#include "tests/unit/support/in_context.h"

static ac_ctx cx;

static ac_const *constant(ac_tensor *source, int32_t align)
{
    ac_const *k = AC_NEW(cx.region, ac_const);
    *k = (ac_const){.name = "k", .dtype = AC_I8, .count = 4, .align = align, .source = source};
    return k;
}

/* The strictest alignment comes first, last or in between. */
static void test_index(void)
{
    static const int32_t ALIGN[][3] = {{1, 16, 64}, {64, 16, 1}, {16, 64, 1}};
    for (int32_t c = 0; c < 3; c++) {
        ac_tensor *t = AC_NEW(cx.region, ac_tensor), *other = AC_NEW(cx.region, ac_tensor);
        ac_const_list list = {0};
        for (int32_t i = 0; i < 3; i++)
            CHECK(ac_const_index(cx.region, &list, constant(t, ALIGN[c][i])) == 0);
        CHECK(ac_const_index(cx.region, &list, constant(other, 4)) == 1);
        CHECK(ac_const_index(cx.region, &list, constant(t, 2)) == 0);
        CHECK(list.konst.n == 2);
        CHECK(list.konst.item[0]->align == 64);
        CHECK(list.konst.item[1]->align == 4);
    }
}

/* Those with equal bytes have one place, which is aligned for each of them; others have a place of their own. */
static void test_places(void)
{
    static const int8_t BYTES[4] = {1, 2, 3, 4}, SAME[4] = {1, 2, 3, 4}, HALF[4] = {1, 2, 3, 5};
    ac_const *k[] = {constant(NULL, 4), constant(NULL, 4), constant(NULL, 32)};
    ac_bytes offset[3] = {0}, total = 0;
    k[0]->data = HALF;
    k[1]->data = BYTES;
    k[2]->data = SAME;
    const ac_module m = {.cx = &cx, .konst = k, .n_konst = 3};
    ac_consts_layout(&m, offset, &total);
    CHECK(offset[1] == offset[2]);
    CHECK(offset[0] != offset[1]);
    CHECK(offset[0] % 4 == 0);
    CHECK(offset[1] % 32 == 0);
    CHECK(total >= offset[1] + 4);
}

static void tests(ac_ctx *c)
{
    (void)c;
    test_index();
    test_places();
}

int main(void)
{
    return in_context(&cx, tests);
}
