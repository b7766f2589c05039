/* test_pieces.c - loops marked apart become separate functions: which ones, their arguments, and the remaining
 * function. That the printed calls compute the same is tested with all other instructions (tests/unit/codegen). */
#include "ir/loop/pieces.h"
#include "tests/unit/support/loop_text.h"

static const ac_loop_fn *parsed(const char *text)
{
    ac_loop_fn *fn = NULL;
    CHECK(ac_loop_read(&cx, "text", text, strlen(text), &fn) == AC_OK);
    CHECK(fn && ac_loop_verify(&cx, fn) == AC_OK);
    return fn;
}

/* The body reads two values of outside, one of them a variable, and has an array of its own. */
static const char BOTH[] = "fn f\n"
                           "  buf x in i32 8 align 4\n"
                           "  buf y out i32 8 align 4\n"
                           "  buf own local i32 4 align 4\n"
                           "  %1 = const i32 0\n"
                           "  %2 = const i32 1\n"
                           "  %3 = const i32 8\n"
                           "  %4 = var i32 %1 as next\n"
                           "  %5 = for i32 %1 .. %3 step 1 as tick\n"
                           "    %6 = load i32 x[%5]\n"
                           "    %7 = for i32 %1 .. %2 step 1 as body apart\n"
                           "      store own[%1] %6\n"
                           "      %9 = get i32 %4\n"
                           "      %10 = load i32 own[%1]\n"
                           "      store y[%9] %10\n"
                           "    end\n"
                           "    %13 = get i32 %4\n"
                           "    %14 = add i32 %13 %2\n"
                           "    set %14 to %4\n"
                           "  end\n";

static void test_cut(void)
{
    const ac_loop_fn *fn = parsed(BOTH);
    const ac_pieces p = ac_loop_pieces(&cx, cx.region, fn);
    CHECK(p.n == 1 && p.outer != fn);
    CHECK(ac_loop_verify(&cx, p.outer) == AC_OK && ac_loop_verify(&cx, p.item[0].fn) == AC_OK);
    const ac_loop_fn *body = p.item[0].fn;
    CHECK(!strcmp(body->name, "f_body") && body->buf.n == 3); /* y, the values, own */
    CHECK(p.item[0].buf[0] == 1 && p.item[0].buf[1] == fn->buf.n && p.item[0].buf[2] == 2);
    CHECK(body->buf.item[1].role == AC_BUF_IN && body->buf.item[1].count == 2);
    CHECK(body->buf.item[2].role == AC_BUF_LOCAL && p.outer->buf.n == fn->buf.n + 1);
    int32_t calls = 0, stores = 0;
    for (ac_x x = 1; x < p.outer->code.n; x++) {
        calls += ac_is_piece(p.outer, x) && p.outer->code.item[x + 1].op == AC_L_END;
        stores += p.outer->code.item[x].op == AC_L_STORE && p.outer->code.item[x].aux == fn->buf.n;
    }
    CHECK(calls == 1 && stores == 2);
}

/* A variable that the body sets, or an array that others use, keeps it where it is. */
static void test_kept(void)
{
    const char *kept = "fn f\n"
                       "  buf y out i32 8 align 4\n"
                       "  buf own local i32 4 align 4\n"
                       "  %1 = const i32 0\n"
                       "  %2 = const i32 1\n"
                       "  %3 = var i32 %1 as next\n"
                       "  store own[%1] %2\n"
                       "  %5 = for i32 %1 .. %2 step 1 as one apart\n"
                       "    %6 = load i32 own[%1]\n"
                       "    store y[%1] %6\n"
                       "  end\n"
                       "  %9 = for i32 %1 .. %2 step 1 as two apart\n"
                       "    set %2 to %3\n"
                       "  end\n"
                       "  %12 = get i32 %3\n"
                       "  store y[%2] %12\n";
    const ac_pieces p = ac_loop_pieces(&cx, cx.region, parsed(kept));
    CHECK(p.n == 0 && ac_loop_verify(&cx, p.outer) == AC_OK);
    for (ac_x x = 1; x < p.outer->code.n; x++)
        CHECK(p.outer->code.item[x].op != AC_L_FOR);
}

static void test_none(void)
{
    const ac_loop_fn *fn = parsed("fn f\n  buf y out i32 8 align 4\n  %1 = const i32 0\n  store y[%1] %1\n");
    const ac_pieces p = ac_loop_pieces(&cx, cx.region, fn);
    CHECK(p.n == 0 && p.outer == fn);
}

int main(void)
{
    fresh();
    test_cut();
    test_kept();
    test_none();
    ac_ctx_close(&cx);
    return check_done();
}
