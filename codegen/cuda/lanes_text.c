/* lanes_text.c - loops that give each lane of a warp every 32nd element or so, as text of CUDA.
 *
 *     for c = t % 32 .. 12 step 32             for (int32_t c = t % 32; c < 12; c = 12)
 *     for c = t % 32 .. 100 step 32 unroll     for (int32_t k = 0; k < 4; k++) { c = t % 32 + k * 32; if (c < 100) */
#include "codegen/cuda/cuda.h"

/* True for a loop from a lane on, to a constant. */
static bool from_lane(const ac_cfn *f, ac_x x)
{
    const ac_ins *in = c_ins(f, x), *lo = c_ins(f, in->a), *of = c_ins(f, lo->a);
    return in->op == AC_L_FOR && (in->aux == AC_MARK_SERIAL || in->aux == AC_MARK_UNROLL) && lo->op == AC_L_MOD &&
           of->op == AC_L_FOR && of->aux == AC_MARK_BLOCK && c_ins(f, in->b)->op == AC_L_CONST;
}

/* Rounds of such a loop, if it is to be unrolled; 0: it is not. */
int64_t ac_cuda_rounds(const ac_cfn *f, ac_x x)
{
    const ac_ins *in = c_ins(f, x);
    const int64_t step = in->k.i, end = c_ins(f, in->b)->k.i;
    return from_lane(f, x) && in->aux == AC_MARK_UNROLL && end > step ? (end + step - 1) / step : 0;
}

/* A loop from a lane on. It runs once or not at all, as its steps are longer than all: in this form compilers do not
 * unroll it. Or it is to be unrolled: all lanes count the same rounds. */
bool ac_cuda_open_lanes(ac_cfn *f, ac_x x)
{
    const ac_ins *in = c_ins(f, x);
    const int64_t rounds = ac_cuda_rounds(f, x);
    if (!from_lane(f, x) || (!rounds && in->k.i < c_ins(f, in->b)->k.i))
        return false;
    const char *name = ac_c_name_take(&f->names, in->name ? in->name : "i"), *end = f->val[in->b].e.text,
               *from = f->val[in->a].e.text;
    if (rounds) {
        const char *k = ac_c_name_take(&f->names, "k");
        ac_c_line(f, "ARN_UNROLL");
        ac_c_line(f, "for (int32_t %s = 0; %s < %lld; %s++) {", k, k, (long long)rounds, k);
        f->depth++;
        ac_c_line(f, "const int32_t %s = %s + %s * %lld;", name, from, k, (long long)in->k.i);
        ac_c_line(f, "if (%s < %s) {", name, end);
    } else {
        ac_c_line(f, "for (int32_t %s = %s; %s < %s; %s = %s) {", name, from, name, end, name, end);
    }
    f->depth++;
    f->val[x].e = ac_c_atom(name);
    return true;
}
