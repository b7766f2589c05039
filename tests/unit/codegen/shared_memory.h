/* shared_memory.h - shared memory of a block above 48 KiB: the emulation gives the evaluator's bits, the text has a
 * place in dynamic memory for each buffer, and a target with less is refused; below 48 KiB arrays are static.
 * test_backends.c runs it. */
#ifndef AC_TESTS_SHARED_MEMORY_H
#define AC_TESTS_SHARED_MEMORY_H
#include "codegen/targets.h"
#include "tests/unit/codegen/printed_programs.h"

enum { THREADS = 256, BLOCKS = 3 };

/* y[g][i] = x[g][n - 1 - i] + 1 by way of shared memory, with bytes before the floats. */
static ac_loop_fn *turned(int32_t n)
{
    ac_lb_open(&b, cx.region, "turned", NULL);
    const int32_t x = ac_lb_buf(&b, "x", AC_F32, BLOCKS * n, AC_BUF_IN, 64, NULL);
    const int32_t y = ac_lb_buf(&b, "y", AC_F32, BLOCKS * n, AC_BUF_OUT, 64, NULL);
    const int32_t one = ac_lb_buf(&b, "one", AC_I8, THREADS + 1, AC_BUF_LOCAL, 16, NULL);
    const int32_t all = ac_lb_buf(&b, "all", AC_F32, n, AC_BUF_LOCAL, 128, NULL);
    b.fn->buf.item[one].where = b.fn->buf.item[all].where = AC_WHERE_SHARED;
    const ac_x g = ac_lb_for(&b, "g", ac_lb_i32(&b, 0), ac_lb_i32(&b, BLOCKS), 1, AC_MARK_GRID);
    for (int32_t phase = 0; phase < 2; phase++) {
        const ac_x t = ac_lb_for(&b, "t", ac_lb_i32(&b, 0), ac_lb_i32(&b, THREADS), 1, AC_MARK_BLOCK);
        if (!phase)
            ac_lb_store(&b, one, t, ac_lb_int(&b, AC_I8, 1));
        const ac_x k = ac_lb_for_n(&b, "k", n / THREADS);
        const ac_x i = ac_lb_add(&b, ac_lb_mul(&b, k, ac_lb_i32(&b, THREADS)), t);
        const ac_x at = ac_lb_add(&b, ac_lb_mul(&b, g, ac_lb_i32(&b, n)), i);
        if (phase) {
            const ac_x next = ac_lb_sub(&b, ac_lb_i32(&b, THREADS - 1), t);
            const ac_x v = ac_lb_load(&b, all, ac_lb_sub(&b, ac_lb_i32(&b, n - 1), i), 1);
            ac_lb_store(&b, y, at, ac_lb_add(&b, v, ac_lb_cast(&b, ac_lb_load(&b, one, next, 1), AC_F32)));
        } else {
            ac_lb_store(&b, all, i, ac_lb_load(&b, x, at, 1));
        }
        ac_lb_end(&b);
        ac_lb_end(&b);
    }
    ac_lb_end(&b);
    return ac_lb_close(&b);
}

static void open_turned(const char *gpu, int32_t n)
{
    begin();
    open_module(ac_target_find(gpu));
    const ac_loop_fn *fn = turned(n);
    MUST(ac_loop_verify(&cx, fn) == AC_OK);
    add_program("turned", fn, NULL, NULL);
    ac_module_whole(module);
    ac_module_dedupe(module);
}

static const char *turned_text(void)
{
    ac_sink cu;
    const ac_emit_names names = {"t.h", "t.bin"};
    ac_sink_open(&cu, &cx);
    return ac_backend_cuda.emit(module, "cu", &names, &cu) == AC_OK ? ac_sink_text(&cu) : NULL;
}

static void test_bits(const char *dir, const char *gpu, int32_t n)
{
    void *base[2];
    now = gpu;
    open_turned(gpu, n);
    uint8_t *want = new_arena(&base[0]), *got = new_arena(&base[1]);
    fill_arena(want);
    memcpy(got, want, (size_t)arena_bytes);
    MUST(evaluate(0, programs[0].fn, want) == 0 && run_emulation(dir, got) == 0);
    const ac_bytes y = programs[0].arg[1].offset, x = programs[0].arg[0].offset;
    MUST(!memcmp(want + y, got + y, (size_t)(BLOCKS * n) * 4));
    float first, last;
    memcpy(&first, want + y, 4);
    memcpy(&last, want + x + (n - 1) * 4, 4);
    last += 1;
    MUST(!memcmp(&first, &last, 4));
    free(base[0]);
    free(base[1]);
}

static void test_text(void)
{
    now = "text";
    open_turned("cuda-sm75", 12 << 10 >> 1); /* 24 KiB */
    const char *cu = turned_text();
    MUST(cu && strstr(cu, "ARN_SHARED(float, all, 6144);") && !strstr(cu, "ARN_DYNAMIC(") &&
         strstr(cu, "_call), 0u, 0u}"));
    open_turned("cuda-sm80", 24 << 10); /* 96 KiB, after 257 bytes of 384 */
    cu = turned_text();
    MUST(cu && strstr(cu, "ARN_DYNAMIC(int8_t, one, 257, 0);") && strstr(cu, "ARN_DYNAMIC(float, all, 24576, 384);"));
    MUST(!strstr(cu, "ARN_SHARED(int8_t") && strstr(cu, "_call), 98688u, 0u}"));
}

/* The most that fits, and a row more. */
static void test_limits(void)
{
    static const struct {
        const char *target;
        int32_t kib;
    } LIMIT[] = {{"cuda-sm75", 64},  {"cuda-sm80", 163},  {"cuda-sm86", 99},   {"cuda-sm87", 163}, {"cuda-sm89", 99},
                 {"cuda-sm90", 227}, {"cuda-sm90a", 227}, {"cuda-sm100", 227}, {"cuda-sm120", 99}};
    for (size_t i = 0; i < sizeof LIMIT / sizeof *LIMIT; i++) {
        now = LIMIT[i].target;
        MUST(ac_target_find(now)->shared_bytes == LIMIT[i].kib << 10);
        open_turned(now, (LIMIT[i].kib - 1) << 8);
        MUST(turned_text());
        open_turned(now, LIMIT[i].kib << 8);
        MUST(!turned_text());
        bool said = false;
        for (const ac_diag *d = cx.diags.first; d; d = d->next)
            said |= strstr(d->text, "bytes of shared memory") != NULL;
        MUST(said);
    }
}

/* dir NULL: nothing is compiled. */
static void test_shared_memory(const char *dir)
{
    test_text();
    test_limits();
    if (!dir)
        return;
    test_bits(dir, "cuda-sm75", 15 << 10);
    test_bits(dir, "cuda-sm80", 40 << 10);
    test_bits(dir, "cuda-sm90", 56 << 10);
    test_bits(dir, "cuda-sm90", 6 << 10);
}

#endif
