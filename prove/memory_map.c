/* memory_map.c - tracks the tensor in every byte of every memory, and claims that calls find the tensors that they
 * read.
 *
 * The calls are taken in order of execution, with a map of the last writer of each byte: a tensor (and the position of
 * the byte in it), scratch of a call, or none. A call must find exactly the bytes of its operands, so the map detects a
 * read of a dead, overwritten, moved or missing tensor independently of the plan's live ranges. Inputs, constants and
 * state count as written before the first call. written.c claims that a call writes its results, and its own buffers
 * before it reads them. */
#include "prove/memory_map.h"

#include "prove/facts/arguments.h"

/* Bytes begin .. end of a memory hold bytes of `root`, whose byte 0 would be at `at`; NULL: scratch of step `by`. */
typedef struct held {
    ac_bytes begin, end, at;
    const ac_tensor *root;
    int32_t by;
} held;

typedef struct memory {
    ac_space space;
    int32_t index;
    AC_VEC(held) held; /* sorted, disjoint */
} memory;

typedef struct map {
    ac_ctx *cx;
    const ac_module *m;
    ac_verdict *out;
    AC_VEC(memory) memory;
} map;

static void doubt(map *b, int32_t step, ac_claim claim, bool wrong, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
static void doubt(map *b, int32_t step, ac_claim claim, bool wrong, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *reason = ac_vstrf(b->cx->region, fmt, ap);
    va_end(ap);
    ac_verdict_doubt(b->cx, b->out, (ac_doubt){step, 0, claim, wrong, reason});
}

/* ------------------------------------------------------------------ the map */

static memory *memory_of(map *b, ac_space space, int32_t index)
{
    for (int32_t i = 0; i < b->memory.n; i++)
        if (b->memory.item[i].space == space && b->memory.item[i].index == index)
            return &b->memory.item[i];
    ac_push(b->cx->region, &b->memory, ((memory){.space = space, .index = index}));
    return &b->memory.item[b->memory.n - 1];
}

/* Overwrites the bytes of h. */
static void write_bytes(map *b, memory *mem, held h)
{
    AC_VEC(held) now = {0};
    bool placed = false;
    if (h.begin >= h.end)
        return;
    for (int32_t i = 0; i < mem->held.n; i++) {
        const held old = mem->held.item[i];
        held left = old, right = old;
        left.end = old.end < h.begin ? old.end : h.begin;
        right.begin = old.begin > h.end ? old.begin : h.end;
        if (left.begin < left.end)
            ac_push(b->cx->region, &now, left);
        if (!placed && old.end > h.begin) {
            ac_push(b->cx->region, &now, h);
            placed = true;
        }
        if (right.begin < right.end)
            ac_push(b->cx->region, &now, right);
    }
    if (!placed)
        ac_push(b->cx->region, &now, h);
    mem->held.item = now.item;
    mem->held.n = now.n;
    mem->held.cap = now.cap;
}

static held of_tensor(const ac_tensor *t, ac_bytes offset, int32_t by)
{
    return (held){offset, offset + ac_tensor_bytes(t), offset - ac_tensor_root_offset(t), ac_tensor_root(t), by};
}

static const char *found_instead(map *b, const held *h, const held *wanted)
{
    if (!h)
        return "nothing has been written there";
    if (!h->root)
        return ac_strf(b->cx->region, "scratch of step %d is there", h->by);
    if (h->root == wanted->root)
        return ac_strf(b->cx->region, "it lies 0x%llx bytes %s",
                       (long long)(h->at < wanted->at ? wanted->at - h->at : h->at - wanted->at),
                       h->at < wanted->at ? "lower" : "higher");
    if (h->by < 0)
        return ac_strf(b->cx->region, "'%s' is there", h->root->name);
    return ac_strf(b->cx->region, "step %d has written '%s' there", h->by, h->root->name);
}

/* Claims that the bytes hold this tensor. step -1: the caller reads it at the end. own: the step, which has several
 * operators, may write the part that it reads. */
static void claim_holds(map *b, int32_t step, ac_space space, int32_t index, const ac_tensor *t, ac_bytes offset,
                        bool own)
{
    const memory *mem = memory_of(b, space, index);
    const held w = of_tensor(t, offset, step);
    ac_bytes at = w.begin;
    const held *other = NULL;
    for (int32_t i = 0; i < mem->held.n && at < w.end && !other; i++) {
        const held *h = &mem->held.item[i];
        if (h->end <= at)
            continue;
        if (h->begin > at)
            break;
        if (h->root != w.root || h->at != w.at)
            other = h;
        else
            at = h->end;
    }
    if (at >= w.end)
        ac_verdict_proven(b->out, step, AC_CLAIM_WRITTEN);
    else
        doubt(b, step, AC_CLAIM_WRITTEN, !own, "byte %lld of '%s' is read at 0x%llx, but %s", (long long)(at - w.begin),
              t->name, (long long)at, found_instead(b, other, &w));
}

/* ------------------------------------------------------------------ calls */

static ac_bytes memory_bytes(const ac_module *m, const ac_bound_arg *a)
{
    switch (a->space) {
    case AC_SPACE_ARENA:
        return m->ram[a->index].bytes;
    case AC_SPACE_STATE:
        return m->state_bytes;
    case AC_SPACE_CONST:
        return ac_dtype_size(m->konst[a->offset]->dtype, m->konst[a->offset]->count);
    case AC_SPACE_IN:
        return m->input[a->index].bytes;
    case AC_SPACE_OUT:
        return m->output[a->index].bytes;
    case AC_SPACE_CHUNK:
    case AC_SPACE_SHAPE: /* sizes.h: such programs are not proven */
        break;
    }
    return 4;
}

/* Claims that every argument is inside its memory, at the alignment of its parameter. */
static void claim_places(map *b, int32_t step)
{
    const ac_module *m = b->m;
    const ac_call *c = &m->call[step];
    for (int32_t a = 0; a < c->n_arg; a++) {
        const ac_bound_arg *arg = &c->arg[a];
        const ac_buf *buf = &m->fn[c->fn]->buf.item[a];
        const bool fixed = arg->space == AC_SPACE_CONST || arg->space == AC_SPACE_CHUNK;
        const ac_bytes offset = fixed ? 0 : arg->offset, bytes = ac_p_arg_bytes(m, step, a);
        if (bytes && (offset < 0 || offset + bytes > memory_bytes(m, arg)))
            doubt(b, step, AC_CLAIM_ACCESS, true, "argument '%s' takes bytes %lld .. %lld of a memory of %lld",
                  buf->name, (long long)offset, (long long)(offset + bytes - 1), (long long)memory_bytes(m, arg));
        else if (bytes && arg->space == AC_SPACE_ARENA && buf->align > 1 && offset % buf->align)
            doubt(b, step, AC_CLAIM_ACCESS, true, "argument '%s' is at offset %lld, its alignment is %d", buf->name,
                  (long long)offset, buf->align);
        else
            ac_verdict_proven(b->out, step, AC_CLAIM_ACCESS);
    }
}

static void claim_restrict(map *b, int32_t step)
{
    const ac_module *m = b->m;
    const ac_call *c = &m->call[step];
    const bool *restricted = ac_module_restricted(m, c->fn);
    for (int32_t i = 0; i < c->n_arg; i++) {
        bool fine = true;
        for (int32_t j = 0; j < c->n_arg && restricted[i] && fine; j++) {
            fine = i == j || (!ac_p_arg_written(m, step, i) && !ac_p_arg_written(m, step, j)) ||
                   !ac_p_args_overlap(m, step, i, j);
            if (!fine)
                doubt(b, step, AC_CLAIM_RESTRICT, true, "parameter '%s' is restrict and shares bytes with '%s'",
                      m->fn[c->fn]->buf.item[i].name, m->fn[c->fn]->buf.item[j].name);
        }
        if (fine && restricted[i])
            ac_verdict_proven(b->out, step, AC_CLAIM_RESTRICT);
    }
}

static void take_call(map *b, int32_t step)
{
    const ac_module *m = b->m;
    const ac_call *c = &m->call[step];
    const ac_loop_fn *fn = m->fn[c->fn];
    const int32_t n = c->low->arg.n < c->n_arg ? c->low->arg.n : c->n_arg;
    for (int32_t a = 0; a < n; a++) {
        const ac_arg *arg = &c->low->arg.item[a];
        const ac_role role = fn->buf.item[a].role;
        if (arg->kind == AC_ARG_TENSOR && (role == AC_BUF_IN || role == AC_BUF_INOUT) && !ac_p_made_here(m, step, a))
            claim_holds(b, step, c->arg[a].space, c->arg[a].index, arg->tensor, c->arg[a].offset,
                        role == AC_BUF_INOUT && arg->tensor->def);
    }
    for (int32_t a = 0; a < n; a++) {
        const ac_arg *arg = &c->low->arg.item[a];
        if (!ac_p_arg_written(m, step, a) || (arg->kind != AC_ARG_TENSOR && arg->kind != AC_ARG_SCRATCH))
            continue;
        memory *mem = memory_of(b, c->arg[a].space, c->arg[a].index);
        const ac_bytes at = c->arg[a].offset;
        if (arg->kind == AC_ARG_TENSOR)
            write_bytes(b, mem, of_tensor(arg->tensor, at, step));
        else
            write_bytes(b, mem, (held){at, at + ac_p_arg_bytes(m, step, a), at, NULL, step});
    }
}

static void write_io(map *b, const ac_io *io, int32_t n, int32_t part)
{
    for (int32_t i = 0; i < n; i++)
        if (!io[i].rows && io[i].part == part)
            write_bytes(b, memory_of(b, io[i].space, io[i].index), of_tensor(io[i].tensor, io[i].offset, -1));
}

void ac_p_claim_memory(ac_ctx *cx, const ac_module *m, ac_verdict *v)
{
    map b = {.cx = cx, .m = m, .out = v};
    write_io(&b, m->state, m->n_states, 0);
    write_io(&b, m->input, m->n_inputs, 0);
    for (int32_t i = 0; i < m->n_calls; i++) {
        for (int32_t k = 1; k < m->n_parts; k++)
            if (m->part[k].begin == i)
                write_io(&b, m->input, m->n_inputs, k);
        claim_places(&b, i);
        claim_restrict(&b, i);
        take_call(&b, i);
    }
    for (int32_t i = 0; i < m->n_outputs; i++)
        claim_holds(&b, -1, m->output[i].space, m->output[i].index, m->output[i].tensor, m->output[i].offset, false);
    for (int32_t i = 0; i < m->n_states; i++)
        claim_holds(&b, -1, m->state[i].space, m->state[i].index, m->state[i].tensor, m->state[i].offset, false);
}
