/* test_fold.c - folding of constants against evaluation and the plain interpreter: every operator and type of the loop
 * IR on random operands. */
#include "tests/unit/support/loop_reference.h"
#include "ir/loop/eval/eval.h"
#include "tests/unit/support/loop_text.h"

static const ac_dtype TYPES[] = {AC_I8,  AC_I16, AC_I32, AC_I64, AC_U8,   AC_U16, AC_U32,
                                 AC_U64, AC_F32, AC_F64, AC_F16, AC_BF16, AC_BOOL};
enum { N_TYPES = sizeof TYPES / sizeof *TYPES };

typedef struct operand {
    ac_dtype dtype;
    int32_t lanes;
    char bytes[CELL];
} operand;

static operand random_operand(ac_dtype d, int32_t lanes)
{
    operand o = {.dtype = d, .lanes = lanes};
    bool equal_lanes = !below(3);
    for (int32_t l = 0; l < lanes; l++)
        ac_lane_put(d, o.bytes, l, equal_lanes && l ? ac_lane_get(d, o.bytes, 0) : random_lane(d));
    return o;
}

/* Builds one instruction, on constants or on loads, and runs it. */
static ac_loop_fn *one_op(ac_ins ins, const operand *in, const int64_t *pattern, bool constant, int32_t out_lanes)
{
    ac_lb b;
    ac_lb_open(&b, cx.region, "one", NULL);
    ac_x x[3] = {0};
    int32_t arity = ac_lop_arity((ac_lop)ins.op);
    for (int32_t k = 0; k < 3; k++)
        ac_lb_buf(&b, "in", in[k].dtype ? in[k].dtype : AC_I8, in[k].dtype ? in[k].lanes : 1, AC_BUF_IN, 1, NULL);
    int32_t out = ac_lb_buf(&b, "out", (ac_dtype)ins.dtype, out_lanes, AC_BUF_OUT, 1, NULL);
    ac_x zero = ac_lb_i32(&b, 0);
    for (int32_t k = 0; k < arity; k++) {
        int64_t lane[WIDE];
        for (int32_t l = 0; l < in[k].lanes; l++)
            lane[l] = ac_lane_get(in[k].dtype, in[k].bytes, l);
        x[k] = constant ? ac_lb_constv(&b, in[k].dtype, lane, in[k].lanes) : ac_lb_load(&b, k, zero, in[k].lanes);
    }
    ins.a = x[0];
    ins.b = x[1];
    ins.c = x[2];
    ac_x v = ins.op == AC_L_SHUFFLE ? ac_lb_shuffle(&b, x[0], x[1], pattern, ins.lanes) : ac_lb_op(&b, ins);
    ac_lb_store(&b, out, zero, v);
    return ac_lb_close(&b);
}

static void fold_case(ac_ins ins, const operand *in, const int64_t *pattern)
{
    char got[4][CELL] = {{0}};
    int32_t kinds = 0;
    bool fails[4] = {0};
    operand memory[3];
    memcpy(memory, in, sizeof memory);
    for (int k = 0; k < 4; k++) {
        const ac_loop_fn *fn = one_op(ins, in, pattern, k == 0, ins.lanes);
        if (k == 2)
            fn = ac_loop_scalar(&cx, fn);
        int status = 0;
        void *data[] = {memory[0].bytes, memory[1].bytes, memory[2].bytes, got[k]};
        if (k == 3)
            fails[k] = !reference(cx.region, fn, data, &status);
        else
            fails[k] = ac_eval(&cx, fn, data, 4, &status) != AC_OK;
        kinds++;
    }
    for (int k = 0; k < kinds; k++)
        if (fails[k] != fails[0] || (!fails[0] && !same_lanes((ac_dtype)ins.dtype, got[0], got[k], ins.lanes))) {
            FAILED(k == 1   ? "folding equals evaluation"
                   : k == 2 ? "scalars equal vectors"
                            : "reference equals evaluation");
            puts(dump(one_op(ins, in, pattern, true, ins.lanes)));
            puts(dump(one_op(ins, in, pattern, false, ins.lanes)));
        }
}

static bool is_compare(ac_lop op)
{
    return op == AC_L_EQ || op == AC_L_NE || op == AC_L_LT || op == AC_L_LE;
}
static bool is_shift(ac_lop op)
{
    return op == AC_L_SHL || op == AC_L_SHR;
}

static void test_fold(void)
{
    static const int32_t LANES[] = {1, 4, 16};
    int32_t cases = 0;
    for (int32_t op = AC_L_ADD; op <= AC_L_MAXLANES; op++)
        for (int32_t t = 0; t < N_TYPES; t++)
            for (int32_t round = 0; round < 24; round++) {
                if (round % 8 == 0)
                    fresh();
                ac_dtype d = TYPES[t], from = TYPES[below(N_TYPES)];
                int32_t lanes = LANES[below(3)];
                ac_ins ins = {.op = (uint8_t)op, .dtype = (uint8_t)d, .lanes = (uint16_t)lanes};
                operand in[3] = {{0}};
                int64_t pattern[WIDE] = {0};
                if (op == AC_L_CAST || op == AC_L_SATCAST) {
                    if (!ac_kernel_of((ac_lop)op, d, from))
                        continue;
                    in[0] = random_operand(from, lanes);
                } else if (op == AC_L_BITCAST) {
                    if (d == AC_BOOL || from == AC_BOOL || lanes * ac_dtype_bits(d) % ac_dtype_bits(from))
                        continue;
                    in[0] = random_operand(from, lanes * ac_dtype_bits(d) / ac_dtype_bits(from));
                } else if (op == AC_L_SELECT) {
                    in[0] = random_operand(AC_BOOL, below(2) ? 1 : lanes);
                    in[1] = random_operand(d, lanes);
                    in[2] = random_operand(d, lanes);
                } else if (op == AC_L_SPLAT || op == AC_L_LANE || op == AC_L_SHUFFLE) {
                    in[0] = random_operand(d, op == AC_L_SPLAT ? 1 : lanes);
                    in[1] = random_operand(d, lanes);
                    ins.aux = op == AC_L_LANE ? below(lanes) : 0;
                    ins.lanes = op == AC_L_LANE ? 1 : (uint16_t)LANES[below(3)];
                    for (int32_t l = 0; l < WIDE; l++)
                        pattern[l] = below(2 * lanes);
                } else if (op == AC_L_DOT4 || op == AC_L_DOT2) {
                    bool four = op == AC_L_DOT4;
                    if (d != AC_I32)
                        continue;
                    in[0] = random_operand(four ? (below(2) ? AC_U8 : AC_I8) : AC_I16, lanes * (four ? 4 : 2));
                    in[1] = random_operand(four ? AC_I8 : AC_I16, lanes * (four ? 4 : 2));
                    in[2] = random_operand(AC_I32, lanes);
                } else {
                    if (!ac_kernel_of((ac_lop)op, d, d))
                        continue;
                    for (int32_t k = 0; k < ac_lop_arity((ac_lop)op); k++)
                        in[k] = random_operand(d, lanes);
                    for (int32_t l = 0; is_shift((ac_lop)op) && l < lanes; l++)
                        ac_lane_put(d, in[1].bytes, l, below(ac_dtype_bits(d)));
                    if (op == AC_L_SUMLANES || op == AC_L_MAXLANES)
                        ins.lanes = 1;
                    if (is_compare((ac_lop)op))
                        ins.dtype = AC_BOOL;
                    if (ac_dtype_is_int(d) && below(2))
                        ins.flags = AC_F_WRAP;
                }
                fold_case(ins, in, pattern);
                cases++;
            }
    CHECK(cases > 6000);
}

int main(void)
{
    test_fold();
    ac_ctx_close(&cx);
    return check_done();
}
