/* block_text.c - blocks of 8 and 16 bytes, and late stores, as text of CUDA.
 *
 *     shuffle f32x4 of four scalars       join_f32x4(a, b, c, d)
 *     store f32x4 s[i] (select c (load x[j]) 0) late       copy_late16(s + (i), x + (j), c)
 *
 * The functions are PTX's cp.async on a GPU from compute capability 8.0 on, and arn_cuda_emu.h's without one; before
 * 8.0 they load and store. */
#include "codegen/cuda/cuda.h"
#include "ir/loop/gpu_loops.h"

static const ac_ins *ins(const ac_loop_fn *fn, ac_x x)
{
    return &fn->code.item[x];
}

bool ac_cuda_joins(const ac_ins *i)
{
    const ac_lop op = (ac_lop)i->op;
    return i->lanes > 1 && (op == AC_L_SHUFFLE || op == AC_L_SPLAT || op == AC_L_CONST);
}

ac_x ac_cuda_lane(const ac_loop_fn *fn, ac_x x, int32_t *lane)
{
    const ac_ins *i = ins(fn, x);
    while (ac_cuda_joins(i) && i->op != AC_L_CONST) {
        const int32_t from = i->op == AC_L_SPLAT ? 0 : (int32_t)fn->pool.item[i->aux + *lane], n = ins(fn, i->a)->lanes;
        x = from < n ? i->a : i->b;
        *lane = from < n ? from : from - n;
        i = ins(fn, x);
    }
    return x;
}

const char *ac_cuda_lane_text(ac_cfn *f, ac_x x, int32_t l)
{
    x = ac_cuda_lane(f->fn, x, &l);
    const ac_ins *i = c_ins(f, x);
    if (i->op == AC_L_CONST)
        return ac_c_const(f->file, (ac_dtype)i->dtype, i).text;
    return i->lanes > 1 ? ac_strf(f->file->region, "%s.v[%d]", f->val[x].e.text, l) : f->val[x].e.text;
}

ac_cexpr ac_cuda_join(ac_cfn *f, ac_x x, const char *type)
{
    ac_cfile *F = f->file;
    const ac_ins *i = c_ins(f, x);
    const char *element = ac_dtype_c((ac_dtype)i->dtype), *name = ac_strf(F->region, "join_%s", type);
    ac_sink text;
    ac_sink_open(&text, F->cx);
    for (int32_t l = 0; l < i->lanes; l++)
        ac_putf(&text, "%s%s", l ? ", " : "", ac_cuda_lane_text(f, x, l));
    if (!ac_c_have(F, name)) {
        ac_putf(&F->helpers, "static %s %s(", type, name);
        for (int32_t l = 0; l < i->lanes; l++)
            ac_putf(&F->helpers, "%s%s v%d", l ? ", " : "", element, l);
        ac_putf(&F->helpers, ")\n{\n    %s all;\n", type);
        for (int32_t l = 0; l < i->lanes; l++)
            ac_putf(&F->helpers, "    all.v[%d] = v%d;\n", l, l);
        ac_put(&F->helpers, "    return all;\n}\n");
    }
    return ac_c_atom(ac_strf(F->region, "%s(%s)", name, ac_sink_text(&text)));
}

const char *ac_cuda_late(ac_cfn *f, ac_x x)
{
    const ac_ins *i = c_ins(f, x);
    int32_t buf;
    ac_x from, cond;
    if (!ac_late_copy(f->fn, i, &buf, &from, &cond))
        return NULL;
    return ac_strf(f->file->region, "copy_late%d(%s + (%s), %s + (%s), %s);",
                   (int)ac_dtype_size((ac_dtype)i->dtype, i->lanes), f->buf[i->aux], f->val[i->a].e.text, f->buf[buf],
                   f->val[from].e.text, cond ? f->val[cond].e.text : "1");
}

ac_x ac_cuda_end_of(const ac_loop_fn *fn, ac_x x)
{
    int32_t depth = 0;
    for (; x < fn->code.n; x++) {
        const ac_ins *i = ins(fn, x);
        depth += i->op == AC_L_FOR || i->op == AC_L_IF ? 1 : i->op == AC_L_END ? -1 : 0;
        if (!depth)
            break;
    }
    return x;
}

ac_x ac_cuda_weights_first(const ac_loop_fn *fn)
{
    ac_x phase = 1;
    while (phase < fn->code.n && !ac_gpu_is_loop(fn, phase, AC_MARK_BLOCK))
        phase++;
    if (phase == fn->code.n || !ins(fn, phase)->groups || ins(fn, phase)->groups <= AC_GROUPS_OPEN)
        return 0;
    const ac_x end = ac_cuda_end_of(fn, phase);
    for (ac_x x = 1; x < end; x++) {
        const ac_ins *i = ins(fn, x);
        const ac_buf *b = ac_lop_has_buffer((ac_lop)i->op) ? &fn->buf.item[i->aux] : NULL;
        if (b && b->role != AC_BUF_CONST && b->where != AC_WHERE_THREAD &&
            !(i->op == AC_L_STORE && i->flags & AC_F_LATE))
            return 0;
    }
    return phase;
}

bool ac_cuda_is_copied(const ac_loop_fn *fn, ac_x load)
{
    for (ac_x x = load; x < fn->code.n && ins(fn, x)->op != AC_L_END; x++) {
        const ac_ins *i = ins(fn, x);
        if (i->op == AC_L_STORE && i->flags & AC_F_LATE &&
            (i->b == load || (ins(fn, i->b)->op == AC_L_SELECT && ins(fn, i->b)->b == load)))
            return true;
    }
    return false;
}

void ac_cuda_end_phase(ac_cfn *f, ac_x phase, bool waits)
{
    const int32_t groups = c_ins(f, phase)->groups;
    if (groups)
        ac_c_line(f, "late_group();");
    if (groups && groups <= AC_GROUPS_OPEN)
        ac_c_line(f, "late_wait(%d);", groups - 1);
    if (waits)
        ac_c_line(f, "__syncthreads();");
    if (phase == ac_cuda_weights_first(f->fn) && ac_target_early(f->file->target))
        ac_c_line(f, "ARN_BEGIN();");
}
