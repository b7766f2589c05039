/* buffers.c - creates the buffers of a lowering: operands, results, scratch and constants. */
#include "ir/lower/buffers.h"
#include "ir/loop/extern.h"
#include "ir/loop/plane.h"
#include "ir/loop/ins_fields.h"

#include <assert.h>
#include <string.h>

int32_t ac_lo_align(const ac_lower *L, const ac_tensor *t)
{
    int64_t align = L->target->align > 0 ? L->target->align : 16;
    if (t->root)
        while (align > 1 && t->view_offset % align)
            align /= 2;
    return (int32_t)align;
}

static int32_t new_buf(ac_lower *L, const char *name, ac_dtype d, int64_t count, ac_role role, int32_t align,
                       ac_arg arg, const char *note)
{
    assert(count <= INT32_MAX && "index values are i32; pass infer has refused larger tensors");
    const int32_t buf = ac_lb_buf(&L->b, name, d, count, role, align, note);
    assert(buf == L->out->arg.n && "buffers of a lowering are made by lo_* only");
    ac_push(L->region, &L->out->arg, arg);
    return buf;
}

static int32_t tensor_buf(ac_lower *L, ac_tensor *t, ac_role role, const char *name)
{
    for (int32_t i = 0; i < L->out->arg.n; i++)
        if (L->out->arg.item[i].kind == AC_ARG_TENSOR && L->out->arg.item[i].tensor == t)
            return i;
    const char *note = ac_strf(L->region, "%s %s", ac_tensor_str(L->cx, t), t->name);
    return new_buf(L, name, ac_dtype_loops(t->dtype), ac_tensor_count(t), role, ac_lo_align(L, t),
                   (ac_arg){.kind = AC_ARG_TENSOR, .tensor = t}, note);
}

static ac_const *new_const(ac_lower *L, const char *name, ac_dtype d, int64_t count, int32_t align)
{
    ac_const *k = AC_NEW(L->region, ac_const);
    k->name = ac_strf(L->region, "%s_%d_%s", ac_ops[L->node->op].text, (int)L->node->id, name);
    k->dtype = d;
    k->count = count;
    k->align = align;
    return k;
}

int32_t ac_lo_const(ac_lower *L, ac_const *k, ac_dtype d, const char *name, const char *note)
{
    return new_buf(L, name, d, k->count, AC_BUF_CONST, k->align, (ac_arg){.kind = AC_ARG_CONST, .konst = k}, note);
}

ac_const *ac_lo_packed(const ac_lower *L, int32_t w)
{
    return L->out->arg.item[w].konst;
}

static int32_t const_buf(ac_lower *L, ac_const *k, const char *name, const char *note)
{
    return ac_lo_const(L, k, k->dtype, name, note);
}

static bool same_constant(const ac_tensor *a, const ac_tensor *t)
{
    return a == t || (a && a->data && a->data == t->data && a->dtype == t->dtype && a->splat == t->splat &&
                      ac_tensor_count(a) == ac_tensor_count(t));
}

int32_t ac_lo_operand(ac_lower *L, ac_tensor *t)
{
    if (!ac_tensor_is_const(t)) {
        static const char *const letter[] = {"x", "y", "z"};
        int32_t n = 0;
        for (int32_t i = 0; i < L->out->arg.n; i++)
            n += L->out->arg.item[i].kind == AC_ARG_TENSOR && L->b.fn->buf.item[i].role == AC_BUF_IN;
        return tensor_buf(L, t, AC_BUF_IN, n < 3 ? letter[n] : "in");
    }
    for (int32_t i = 0; i < L->out->arg.n; i++)
        if (L->out->arg.item[i].kind == AC_ARG_CONST && same_constant(L->out->arg.item[i].konst->source, t))
            return i;
    ac_const *k = new_const(L, "k", ac_dtype_loops(t->dtype), ac_tensor_count(t), 64);
    k->source = t;
    return const_buf(L, k, "k", ac_strf(L->region, "%s %s", ac_tensor_str(L->cx, t), t->name));
}

int32_t ac_lo_state(ac_lower *L, ac_tensor *t)
{
    return tensor_buf(L, t, AC_BUF_INOUT, "state");
}

int32_t ac_lo_result_buf(ac_lower *L)
{
    if (L->result_buf < 0)
        L->result_buf = tensor_buf(L, ac_node_result(L->node), AC_BUF_OUT, "out");
    return L->result_buf;
}

int32_t ac_lo_output_buf(ac_lower *L, int32_t i)
{
    return i == 0 ? ac_lo_result_buf(L) : tensor_buf(L, L->node->out[i], AC_BUF_OUT, "out");
}

int32_t ac_lo_scratch(ac_lower *L, const char *name, ac_dtype d, int64_t count)
{
    return new_buf(L, name, d, count, AC_BUF_SCRATCH, 64,
                   (ac_arg){.kind = AC_ARG_SCRATCH, .bytes = ac_dtype_size(d, count)}, NULL);
}

int32_t ac_lo_line(ac_lower *L, const char *name, ac_dtype d, int64_t count)
{
    const int32_t buf = ac_lo_scratch(L, name, d, count);
    L->out->arg.item[buf].fresh = true;
    return buf;
}

/* Requested as scratch, so that parameters may still come after it; ac_lo_settle makes it a local. */
int32_t ac_lo_local(ac_lower *L, const char *name, ac_dtype d, int64_t count)
{
    assert(ac_dtype_size(d, count) <= 4096 && "locals are on the stack");
    return new_buf(L, name, d, count, AC_BUF_SCRATCH, 64, (ac_arg){.kind = AC_ARG_SCRATCH, .bytes = LO_LOCAL}, NULL);
}

int32_t ac_lo_line_local(ac_lower *L, const char *name, ac_dtype d, int64_t count)
{
    const int32_t buf = ac_lo_local(L, name, d, count);
    L->b.fn->buf.item[buf].fresh = true;
    return buf;
}

int32_t ac_lo_gpu_local(ac_lower *L, const char *name, ac_dtype d, int64_t count, ac_where where)
{
    const int32_t buf =
        new_buf(L, name, d, count, AC_BUF_SCRATCH, 16, (ac_arg){.kind = AC_ARG_SCRATCH, .bytes = LO_LOCAL}, NULL);
    L->b.fn->buf.item[buf].where = where;
    return buf;
}

int32_t ac_lo_table(ac_lower *L, const char *name, ac_dtype d, int64_t count, const void *data)
{
    const size_t bytes = (size_t)ac_dtype_size(d, count);
    for (int32_t i = 0; i < L->out->arg.n; i++) {
        const ac_const *k = L->out->arg.item[i].konst;
        if (L->out->arg.item[i].kind == AC_ARG_CONST && !k->source && k->data && k->dtype == d && k->count == count &&
            !memcmp(k->data, data, bytes))
            return i;
    }
    ac_const *k = new_const(L, name, d, count, 64);
    k->data = ac_copy(L->region, data, bytes);
    return const_buf(L, k, name, NULL);
}

/* While the maker of the constant is built, the destination is its buffer 0; at the end it becomes its last
 * parameter. */
int32_t ac_lo_pack_open(ac_lower *L, ac_lower *P, const char *name, ac_dtype d, int64_t count)
{
    *P = (ac_lower){.cx = L->cx,
                    .region = L->region,
                    .target = L->target,
                    .node = L->node,
                    .rows = L->rows,
                    .exact = L->exact,
                    .result_buf = -1};
    P->out = AC_NEW(L->region, ac_lowered);
    ac_const *k = new_const(L, name, d, count, 64);
    k->maker = P->out;
    ac_lb_open(&P->b, P->region, ac_strf(L->region, "make_%s", k->name), NULL);
    return new_buf(P, name, d, count, AC_BUF_OUT, 64, (ac_arg){.kind = AC_ARG_CONST, .konst = k}, NULL);
}

int32_t ac_lo_pack_close(ac_lower *L, ac_lower *P)
{
    ac_const *k = P->out->arg.item[0].konst;
    const char *name = P->b.fn->buf.item[0].name;
    if (!L->b.missing.op)
        L->b.missing = P->b.missing;
    P->out->fn = ac_lb_close(&P->b);
    ac_lo_settle(P->out, 0);
    L->refused |= P->refused;
    return const_buf(L, k, name, NULL);
}

/* 0: parameter, 1: the last parameter, 2: local. */
static int kind_of(const ac_lowered *w, int32_t i, int32_t last)
{
    if (w->arg.item[i].kind == AC_ARG_SCRATCH && w->arg.item[i].bytes == LO_LOCAL)
        return 2;
    return i == last;
}

void ac_lo_settle(ac_lowered *w, int32_t last)
{
    ac_loop_fn *fn = w->fn;
    const int32_t n = w->arg.n;
    ac_buf buf[256];
    ac_arg arg[256];
    int32_t to[256];
    bool used[256] = {false};
    assert(n <= 256 && "64 operands, and a few constants, scratches and tables");
    for (int32_t i = 1; i < fn->code.n; i++) {
        int32_t list[AC_INS_BUFFERS];
        for (int32_t k = ac_ins_buffers(&fn->code.item[i], list) - 1; k >= 0; k--)
            used[list[k]] = true;
    }
    int32_t count = 0, args = 0;
    for (int32_t i = 0; i < n; i++)
        to[i] = -1;
    for (int kind = 0; kind < 3; kind++) {
        for (int32_t i = 0; i < n; i++) {
            if (kind_of(w, i, last) != kind || !(used[i] || fn->buf.item[i].role == AC_BUF_OUT))
                continue;
            to[i] = count;
            buf[count] = fn->buf.item[i];
            arg[count] = w->arg.item[i];
            if (kind == 2)
                buf[count].role = AC_BUF_LOCAL;
            else if (arg[count].kind == AC_ARG_SCRATCH)
                w->scratch += ac_align_up(arg[count].bytes, 16);
            count++;
            args += kind < 2;
        }
    }
    if (count) {
        memcpy(fn->buf.item, buf, (size_t)count * sizeof *buf);
        memcpy(w->arg.item, arg, (size_t)count * sizeof *arg);
    }
    fn->buf.n = count;
    w->arg.n = args;
    for (int32_t i = 1; i < fn->code.n; i++)
        ac_ins_move_buffers(&fn->code.item[i], to);
    if (fn->call)
        ac_extern_move_buffers(fn->call, to);
    if (fn->plane) {
        int32_t *const of[] = {&fn->plane->x, &fn->plane->w, &fn->plane->m, &fn->plane->out};
        for (int32_t i = 0; i < 4; i++)
            *of[i] = to[*of[i]];
    }
}
