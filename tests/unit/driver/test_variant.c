/* test_variant.c - variants of a compilation: the options that each kind inherits, and lists that variants share until
 * one of them adds an item. */
#include "driver/door/door.h"
#include "tests/unit/support/expect.h"

#include <string.h>

static void set(arenac *a, const char *option, const char *value)
{
    CHECK(arenac_set(a, option, value) == AC_OK);
}

static int add_dim(ac_work *one, void *arg)
{
    const ac_dim_option *d = arg;
    ac_push(one->cx.region, &one->opt.dim, *d);
    return AC_OK;
}

static void inherited(arenac *a)
{
    ac_work *w = &a->work;
    ac_work *part = ac_work_like(w, AC_AS_PART), *other = ac_work_like(w, AC_AS_OTHER),
            *inference = ac_work_like(w, AC_AS_INFERENCE);
    CHECK(!strcmp(other->opt.target, "cortex-m4") && other->opt.budget.bytes == 4096);
    CHECK(!strcmp(part->opt.target, "cortex-m4") && part->opt.budget.bytes == -1 && !part->opt.emit);
    CHECK(part->opt.io == AC_OPT_IO_ROWS && !strcmp(ac_option_text(&part->opt, AC_OPT_io), "rows"));
    CHECK(inference->opt.bn == AC_OPT_BN_BATCH && other->opt.bn == AC_OPT_BN_FROZEN);
    CHECK(part->cx.diags.werror && part->cx.progress == w->cx.progress && part->cx.lender == &w->cx);
    ac_work_close(other); /* the others end with w */
}

static void shared_lists(arenac *a)
{
    ac_work *x = ac_work_like(&a->work, AC_AS_OTHER), *y = ac_work_like(&a->work, AC_AS_OTHER);
    ac_dim_option m = {.name = "m", .lo = 2, .hi = 2}, n = {.name = "n", .lo = 3, .hi = 3};
    CHECK(ac_guard(x, add_dim, &m) == AC_OK && ac_guard(y, add_dim, &n) == AC_OK);
    CHECK(a->work.opt.dim.n == 1 && x->opt.dim.n == 2 && y->opt.dim.n == 2);
    CHECK(!strcmp(x->opt.dim.item[1].name, "m") && !strcmp(y->opt.dim.item[1].name, "n"));
    CHECK(!strcmp(x->opt.dim.item[0].name, "batch") && x->opt.dim.item[0].lo == 8);
}

int main(void)
{
    arenac *a = arenac_open();
    MUST(a);
    set(a, "target", "cortex-m4");
    set(a, "budget", "4K");
    set(a, "emit", "c,h");
    set(a, "io", "rows");
    set(a, "bn", "frozen");
    set(a, "dim", "batch=8");
    set(a, "Werror", NULL);
    inherited(a);
    shared_lists(a);
    CHECK(a->work.child != NULL);
    arenac_close(a);
    return check_done();
}
