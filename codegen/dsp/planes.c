/* planes.c - writes the functions of planes.h as instructions.
 *
 * In a kernel: r0 x, r1 out, r2-r4 p0-p2, r5 q0 and q1, r6 q2, r7 m, r8 its term, r9 and r10 sums, r11 and r12 a
 * column, lr the start of sums. The stack belongs to `planes`. */
#include "codegen/dsp/planes.h"

#include "base/sink.h"

enum { WHOLE = 6, REACH = 4095, SHORT = 255 };
/* The stack: of kernels, then of `planes`. */
enum {
    LEFT = 0,
    RIGHT = 4,
    END = 8,
    BACK = 12,
    LOOP = 16,
    X = 20,
    W = 24,
    OUT = 28,
    M = 32,
    ARGS = 36,
    COUNT = 40,
    FRAME = 44,
    SAVED = 36
};
_Static_assert(SAVED + FRAME == (int)AC_PLANES_STACK, "the stack that planes.h states");

/* ------------------------------------------------------------------ kernels */

typedef struct kernel {
    ac_sink to;
    const ac_plane *p;
    int32_t row, pixel; /* bytes of x */
    bool unrolled;
} kernel;

static bool ends_outside(const ac_plane *p)
{
    return (p->out_columns - 1) * p->stride_x - p->pad_x + 3 > p->in_columns;
}

static bool unrolled(const ac_plane *p)
{
    return p->out_columns * p->stride_x <= WHOLE;
}

static void put_add(ac_sink *to, const char *reg, int32_t by)
{
    if (by)
        ac_putf(to, "%s %s, %s, #%d\n", by < 0 ? "subw" : "addw", reg, reg, (int)(by < 0 ? -by : by));
}

static void put_column(kernel *k, int32_t at)
{
    ac_putf(&k->to, "ldrsb r11, [r0, #%d]\nldrsb r12, [r0, #%d]\npkhbt r11, r11, r12, lsl #16\nldrsb r12, [r0, #%d]\n",
            (int)at, (int)(at + 2 * k->row), (int)(at + k->row));
}

/* The column is column kx of the window of the sum in `reg`; first: the sum starts. */
static void put_taps(kernel *k, int32_t kx, int reg, bool first)
{
    ac_putf(&k->to, "smlad r%d, r11, r%d, %s\nsmlab%c r%d, r12, r%d, r%d\n", reg, (int)(2 + kx),
            first      ? "lr"
            : reg == 9 ? "r9"
                       : "r10",
            kx == 1 ? 't' : 'b', reg, kx == 2 ? 6 : 5, reg);
}

/* The sum is whole: output j. */
static void put_output(kernel *k, int reg, int32_t j)
{
    const int32_t c = k->p->channels;
    ac_putf(&k->to, "lsl r%d, r%d, #%d\nsmmla r%d, r%d, r7, r8\nssat r%d, #8, r%d, asr #%d\n", reg, reg, (int)k->p->pre,
            reg, reg, reg, reg, (int)k->p->post);
    if (k->unrolled)
        ac_putf(&k->to, "strb r%d, [r1, #%d]\n", reg, (int)(j * c));
    else
        ac_putf(&k->to, c <= SHORT ? "strb r%d, [r1], #%d\n" : "strb r%d, [r1]\naddw r1, r1, #%d\n", reg, (int)c);
}

static void put_right(kernel *k, int reg)
{
    ac_putf(&k->to, "ldr r11, [sp, #%d]\nadd r%d, r%d, r11\n", RIGHT, reg, reg);
}

/* Stride 1: the column ends the output in a, and starts the one after next there. */
static void put_next(kernel *k, int32_t at, int32_t j, int a, int b, bool starts)
{
    put_column(k, at);
    put_taps(k, 2, a, false);
    put_output(k, a, j);
    put_taps(k, 1, b, false);
    if (starts)
        put_taps(k, 0, a, true);
}

/* A loop over `n` times `bytes` of x, whose pointer is where it begins. */
static void put_loop(kernel *k, int32_t n, int32_t bytes)
{
    ac_putf(&k->to, "movw r11, #%d\nadd r11, r11, r0\nstr r11, [sp, #%d]\n3:\n", (int)(n * bytes), LOOP);
}

static void put_loop_end(kernel *k, int32_t bytes)
{
    put_add(&k->to, "r0", bytes);
    ac_putf(&k->to, "ldr r11, [sp, #%d]\ncmp r0, r11\nbne 3b\n", LOOP);
}

/* Returns the bytes that x has moved by. */
static int32_t put_row_1(kernel *k)
{
    const int32_t n = k->p->out_columns, pixel = k->pixel, loops = k->unrolled ? 0 : (n - 2) / 2;
    int32_t j = 0;
    ac_putf(&k->to, "ldr r9, [sp, #%d]\n", LEFT);
    put_column(k, 0);
    put_taps(k, 1, 9, false);
    put_taps(k, 0, 10, true);
    if (loops) {
        put_loop(k, loops, 2 * pixel);
        put_next(k, pixel, 0, 9, 10, true);
        put_next(k, 2 * pixel, 0, 10, 9, true);
        put_loop_end(k, 2 * pixel);
        j = 2 * loops;
    }
    const int32_t moved = j * pixel;
    for (; j < n - 1; j++)
        put_next(k, (j + 1) * pixel - moved, j, j % 2 ? 10 : 9, j % 2 ? 9 : 10, j < n - 2);
    put_right(k, j % 2 ? 10 : 9);
    put_output(k, j % 2 ? 10 : 9, j);
    return moved;
}

/* Output j's last two columns, from `at` on. */
static void put_pair(kernel *k, int32_t at, int32_t j, bool starts)
{
    put_column(k, at);
    put_taps(k, 1, 9, false);
    put_column(k, at + k->pixel);
    put_taps(k, 2, 9, false);
    put_output(k, 9, j);
    if (starts)
        put_taps(k, 0, 9, true);
}

static int32_t put_row_2(kernel *k)
{
    const int32_t n = k->p->out_columns, pixel = k->pixel, first = k->p->pad_x ? 0 : pixel;
    int32_t moved = 0, j = 0;
    if (k->p->pad_x) {
        ac_putf(&k->to, "ldr r9, [sp, #%d]\n", LEFT);
    } else {
        put_column(k, 0);
        put_taps(k, 0, 9, true);
    }
    if (!k->unrolled) {
        put_loop(k, n - 1, 2 * pixel);
        put_pair(k, first, 0, true);
        put_loop_end(k, 2 * pixel);
        moved = (n - 1) * 2 * pixel;
        j = n - 1;
    }
    for (; j < n - 1; j++)
        put_pair(k, first + 2 * j * pixel, j, true);
    const int32_t at = first + 2 * j * pixel - moved;
    if (!ends_outside(k->p)) {
        put_pair(k, at, j, false);
        return moved;
    }
    put_column(k, at);
    put_taps(k, 1, 9, false);
    put_right(k, 9);
    put_output(k, 9, j);
    return moved;
}

const char *ac_planes_kernel_asm(ac_ctx *cx, const ac_plane *p)
{
    kernel k = {.p = p, .row = p->in_columns * p->channels, .pixel = p->channels, .unrolled = unrolled(p)};
    ac_sink_open(&k.to, cx);
    ac_put(&k.to, "2:\n");
    const int32_t moved = p->stride_x == 1 ? put_row_1(&k) : put_row_2(&k);
    put_add(&k.to, "r0", k.row * p->stride_y - moved);
    if (k.unrolled)
        put_add(&k.to, "r1", p->out_columns * p->channels);
    ac_putf(&k.to, "ldr r11, [sp, #%d]\ncmp r1, r11\nbne 2b\nldr pc, [sp, #%d]\n", END, BACK);
    return ac_sink_text(&k.to);
}

const char *ac_planes_kernel_name(ac_ctx *cx, const ac_plane *p)
{
    return ac_internf(cx, "plane_%d_%d_%d_by_%d_%d_%d_%d_%d", (int)p->in_columns, (int)p->out_columns, (int)p->channels,
                      (int)p->stride_y, (int)p->stride_x, (int)p->pad_x, (int)p->pre, (int)p->post);
}

static bool fits_axis(int32_t in, int32_t out, int32_t stride, int32_t pad)
{
    const int32_t after = (out - 1) * stride - pad + 3 - in;
    return in >= 3 && out >= 2 && after <= 1 && (stride == 1 || stride == 2) && (pad == 0 || pad == 1);
}

static bool fits(const ac_plane *p)
{
    const int64_t row = (int64_t)p->in_columns * p->channels;
    return fits_axis(p->in_rows, p->out_rows, p->stride_y, p->pad_y) &&
           fits_axis(p->in_columns, p->out_columns, p->stride_x, p->pad_x) &&
           (p->stride_x == 2 || (p->pad_x == 1 && p->out_columns == p->in_columns)) &&
           (unrolled(p) ? 3 : 2) * row + 3 * (int64_t)p->channels <= REACH && p->pre > 0 && p->pre < 32 &&
           p->post > 0 && p->post < 32;
}

const ac_plane *ac_planes_of(const ac_target *t, const ac_loop_fn *fn, const bool *restricted)
{
    const ac_plane *p = fn->plane;
    return t->dsp && p && !p->apart && restricted && restricted[p->out] && fits(p) ? p : NULL;
}

/* ------------------------------------------------------------------ all channels */

/* The weights of the channel to r9-r11, the bytes of a column in each; x at the part. */
static void put_weights(ac_sink *to)
{
    ac_putf(to, "ldr r12, [sp, #%d]\nldr r9, [r12]\nldr r10, [r12, #3]\nldr r11, [r12, #6]\n", W);
}

/* Jumps to label `over` if the part has no output; args in r12. Else sets the end of its outputs, and x. */
static void put_part(ac_sink *to, int32_t bytes, int32_t x, const char *over)
{
    ac_putf(to, "ldr r12, [sp, #%d]\nldr r10, [r12, #%d]\ncmp r10, #0\nbeq %s\nadd r10, r10, r1\nstr r10, [sp, #%d]\n",
            ARGS, (int)bytes, over, END);
    ac_putf(to, "ldr r0, [sp, #%d]\n", X);
    if (x)
        ac_putf(to, "ldr r10, [r12, #%d]\nadd r0, r0, r10\n", (int)x);
}

/* Sums start at the zero point times the weights of row `byte`. */
static void put_start(ac_sink *to, int byte)
{
    ac_putf(to, "ldr r12, [sp, #%d]\nldrsh r12, [r12, #8]\nsbfx r2, r9, #%d, #8\nsbfx r3, r10, #%d, #8\n", ARGS,
            8 * byte, 8 * byte);
    ac_putf(to, "sbfx r4, r11, #%d, #8\nadds r2, r2, r3\nadds r2, r2, r4\nmul r6, r2, r12\n", 8 * byte);
}

const char *ac_planes_asm(ac_ctx *cx)
{
    ac_sink to;
    ac_sink_open(&to, cx);
    ac_putf(&to, "push {r4-r11, lr}\nsub sp, #%d\nstr r0, [sp, #%d]\nstr r1, [sp, #%d]\nstr r2, [sp, #%d]\n", FRAME, X,
            W, OUT);
    ac_putf(&to,
            "str r3, [sp, #%d]\nldr r4, [sp, #%d]\nldr r5, [r3, #4]\nstr r4, [sp, #%d]\nstr r5, [sp, #%d]\n1:\n"
            "ldr r1, [sp, #%d]\n",
            ARGS, SAVED + FRAME, M, COUNT, OUT);
    put_part(&to, 12, 0, "2f");
    put_weights(&to);
    put_start(&to, 0);
    ac_put(&to, "ubfx r9, r9, #8, #16\nubfx r10, r10, #8, #16\nubfx r11, r11, #8, #16\nbl 5f\n2:\n");
    put_part(&to, 16, 20, "3f");
    put_weights(&to);
    ac_put(&to, "movs r6, #0\nbl 5f\n3:\n");
    put_part(&to, 24, 28, "4f");
    put_weights(&to);
    put_start(&to, 2);
    ac_put(&to, "lsl r9, r9, #8\nlsl r10, r10, #8\nlsl r11, r11, #8\nbl 5f\n4:\n");
    static const struct {
        int32_t slot, by;
    } NEXT[] = {{X, 1}, {OUT, 1}, {W, 9}, {M, 8}};
    for (int i = 0; i < 4; i++)
        ac_putf(&to, "ldr r2, [sp, #%d]\nadds r2, #%d\nstr r2, [sp, #%d]\n", (int)NEXT[i].slot, (int)NEXT[i].by,
                (int)NEXT[i].slot);
    ac_putf(&to, "ldr r2, [sp, #%d]\nsubs r2, #1\nstr r2, [sp, #%d]\nbne 1b\nadd sp, #%d\npop {r4-r11, pc}\n", COUNT,
            COUNT, FRAME);
    /* a part: weights in r9-r11, start in r6 */
    ac_putf(&to, "5:\nstr lr, [sp, #%d]\nmov lr, r6\nsxtb16 r2, r9\nsxtb16 r3, r10\nsxtb16 r4, r11\n", BACK);
    ac_put(&to, "sxtb r5, r9, ror #8\nsxtb r7, r10, ror #8\npkhbt r5, r5, r7, lsl #16\nsxtb r6, r11, ror #8\n");
    ac_putf(&to,
            "ldr r12, [sp, #%d]\nldr r10, [r12, #8]\nsmlad r11, r2, r10, lr\nsmlabb r11, r5, r10, r11\n"
            "str r11, [sp, #%d]\nsmuad r11, r4, r10\nsmlabb r11, r6, r10, r11\nstr r11, [sp, #%d]\n",
            ARGS, LEFT, RIGHT);
    ac_putf(&to, "ldr r9, [sp, #%d]\nldr r7, [r9]\nldr r8, [r9, #4]\nldr r12, [r12]\nbx r12\n", M);
    return ac_sink_text(&to);
}

const char *ac_planes_name(void)
{
    return "planes_3x3";
}

ac_planes_args ac_planes_args_of(const ac_plane *p)
{
    const int32_t row = p->out_columns * p->channels, in = p->in_columns * p->channels, first = p->pad_y;
    const int32_t last = (p->out_rows - 1) * p->stride_y - p->pad_y + 3 > p->in_rows;
    return (ac_planes_args){.channels = p->channels,
                            .border = (int32_t)((uint32_t)(uint16_t)p->zero_x * 0x10001u),
                            .first_bytes = first * row,
                            .middle_bytes = (p->out_rows - first - last) * row,
                            .middle_x = (first * p->stride_y - p->pad_y) * in,
                            .last_bytes = last * row,
                            .last_x = (p->in_rows - 3) * in};
}
