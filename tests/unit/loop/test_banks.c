/* test_banks.c - conflicts of banks of shared memory, of accesses whose number of passes is known. */
#include "ir/loop/access/banks.h"
#include "ir/loop/builder.h"
#include "tests/unit/support/fresh.h"

enum { THREADS = 64, BLOCKS = 3, TIMES = 5 };

typedef struct access {
    const char *what;
    int32_t stride, lanes, padding; /* index: t * stride + t / 32 * padding; elements of f32 */
    int32_t below;                  /* only threads below it; 0: all */
    bool bytes;
    int32_t passes, least; /* of one warp */
} access;

static const access ACCESSES[] = {
    {"a row", 1, 1, 0, 0, false, 1, 1},
    {"one word", 0, 1, 0, 0, false, 1, 1},
    {"two words of each bank", 2, 1, 0, 0, false, 2, 1},
    {"a column", 32, 1, 0, 0, false, 32, 1},
    {"a padded column", 33, 1, 0, 0, false, 1, 1},
    {"a column of 8 threads", 32, 1, 0, 8, false, 8, 1},
    {"rows of 8 bytes", 2, 2, 0, 0, false, 2, 2},
    {"rows of 16 bytes", 4, 4, 0, 0, false, 4, 4},
    {"a column of 16 bytes", 32, 4, 0, 0, false, 32, 4},
    {"a padded column of 16 bytes", 36, 4, 0, 0, false, 4, 4},
    {"bytes of 8 words", 1, 1, 0, 0, true, 1, 1},
    {"bytes of 32 rows", 128, 1, 0, 0, true, 32, 1},
};

static ac_loop_fn *function(const access *a)
{
    ac_lb b;
    ac_lb_open(&b, cx.region, "f", NULL);
    const ac_dtype d = a->bytes ? AC_I8 : AC_F32;
    const int32_t y = ac_lb_buf(&b, "y", d, BLOCKS * THREADS * 4, AC_BUF_OUT, 64, NULL);
    const int32_t s = ac_lb_buf(&b, "s", d, 64 << 7, AC_BUF_LOCAL, 16, NULL);
    b.fn->buf.item[s].where = AC_WHERE_SHARED;
    const ac_x g = ac_lb_for(&b, "g", ac_lb_i32(&b, 0), ac_lb_i32(&b, BLOCKS), 1, AC_MARK_GRID);
    (void)ac_lb_for_n(&b, "k", TIMES);
    const ac_x t = ac_lb_for(&b, "t", ac_lb_i32(&b, 0), ac_lb_i32(&b, THREADS), 1, AC_MARK_BLOCK);
    if (a->below)
        ac_lb_if(&b, ac_lb_lt(&b, t, ac_lb_i32(&b, a->below)));
    const ac_x x = ac_lb_load(&b, s, ac_lb_mul(&b, t, ac_lb_i32(&b, a->stride)), a->lanes);
    const ac_x at = ac_lb_mul(&b, ac_lb_add(&b, ac_lb_mul(&b, g, ac_lb_i32(&b, THREADS)), t), ac_lb_i32(&b, a->lanes));
    ac_lb_store(&b, y, at, x);
    for (int32_t n = a->below ? 4 : 3; n > 0; n--)
        ac_lb_end(&b);
    return ac_lb_close(&b);
}

int main(void)
{
    int bad = 0;
    for (size_t k = 0; k < sizeof ACCESSES / sizeof *ACCESSES; k++) {
        const access *a = &ACCESSES[k];
        fresh();
        const ac_banks n = ac_loop_banks(cx.region, function(a));
        const double times = BLOCKS * TIMES * THREADS / 32;
        if (n.passes > times * a->passes || n.passes < times * a->passes || n.least > times * a->least ||
            n.least < times * a->least) {
            printf("%s: %g passes, %g at least, of %g times\n", a->what, n.passes, n.least, times);
            bad = 1;
        }
    }
    ac_ctx_close(&cx);
    printf("banks: %s\n", bad ? "FAILED" : "ok");
    return bad;
}
