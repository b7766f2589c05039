/* bytes.c - the arguments of all calls in order: what lies in every byte of every memory before a call reads it.
 *
 * The calls are gone through as a run would, with a map of who wrote each byte last: a tensor (and which of its bytes
 * lies there), scratch of a call, or nobody. A call that takes a tensor wants to find exactly that one, so reading what
 * is dead, overwritten, moved or never made is found, whatever the plan says about lives. Inputs, constants and state
 * count as written before the first call. That a call writes all of its results, and what it makes for itself before it
 * reads it, is claimed by written.c. */
#include "prove/bytes.h"

#include "prove/verdict.h"

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

ac_bytes ac_p_arg_bytes(const ac_module *m, int32_t step, int32_t arg)
{
    const ac_call *c = &m->call[step];
    const ac_loop_fn *own = c->low->fn;
    const ac_buf *buf = arg < own->buf.n && own->buf.item[arg].role != AC_BUF_LOCAL ? &own->buf.item[arg]
                                                                                    : &m->fn[c->fn]->buf.item[arg];
    return ac_dtype_size(buf->dtype, buf->count);
}

bool ac_p_arg_written(const ac_module *m, int32_t step, int32_t arg)
{
    const ac_role role = m->fn[m->call[step].fn]->buf.item[arg].role;
    return role == AC_BUF_OUT || role == AC_BUF_INOUT || role == AC_BUF_SCRATCH;
}

/* Is one of these tensors, in the caller's memory from the start, of this root? */
static bool is_given(const ac_io *io, int32_t n, const ac_tensor *root)
{
    for (int32_t i = 0; i < n; i++)
        if (ac_tensor_root(io[i].tensor) == root)
            return true;
    return false;
}

bool ac_p_made_here(const ac_module *m, int32_t step, int32_t arg)
{
    const ac_call *c = &m->call[step];
    if (arg >= c->low->arg.n || c->low->arg.item[arg].kind != AC_ARG_TENSOR ||
        m->fn[c->fn]->buf.item[arg].role != AC_BUF_INOUT || !c->low->arg.item[arg].tensor->def)
        return false;
    const ac_tensor *root = ac_tensor_root(c->low->arg.item[arg].tensor);
    if (is_given(m->input, m->n_inputs, root) || is_given(m->state, m->n_states, root))
        return false;
    for (int32_t k = 0; k < step; k++) {
        const ac_call *before = &m->call[k];
        for (int32_t a = 0; a < before->low->arg.n && a < before->n_arg; a++)
            if (before->low->arg.item[a].kind == AC_ARG_TENSOR && ac_p_arg_written(m, k, a) &&
                ac_tensor_root(before->low->arg.item[a].tensor) == root)
                return false;
    }
    return true;
}

bool ac_p_args_overlap(const ac_module *m, int32_t step, int32_t i, int32_t j)
{
    const ac_bound_arg *a = &m->call[step].arg[i], *b = &m->call[step].arg[j];
    if (a->space != b->space || a->index != b->index || a->space == AC_SPACE_CONST || a->space == AC_SPACE_CHUNK)
        return false;
    return a->offset < b->offset + ac_p_arg_bytes(m, step, j) && b->offset < a->offset + ac_p_arg_bytes(m, step, i);
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

/* From now on `h` is what its bytes hold. */
static void put(map *b, memory *mem, held h)
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

static const char *found(map *b, const held *h, const held *wanted)
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

/* Do the bytes hold this tensor? step -1: the caller reads it afterwards. own: the step, which is of several operators,
 * may make the part of it that it reads. */
static void want(map *b, int32_t step, ac_space space, int32_t index, const ac_tensor *t, ac_bytes offset, bool own)
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
              t->name, (long long)at, found(b, other, &w));
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

/* Every argument lies inside its memory, with the alignment that its parameter promises. */
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

static void follow_call(map *b, int32_t step)
{
    const ac_module *m = b->m;
    const ac_call *c = &m->call[step];
    const ac_loop_fn *fn = m->fn[c->fn];
    const int32_t n = c->low->arg.n < c->n_arg ? c->low->arg.n : c->n_arg;
    for (int32_t a = 0; a < n; a++) {
        const ac_arg *arg = &c->low->arg.item[a];
        const ac_role role = fn->buf.item[a].role;
        if (arg->kind == AC_ARG_TENSOR && (role == AC_BUF_IN || role == AC_BUF_INOUT) && !ac_p_made_here(m, step, a))
            want(b, step, c->arg[a].space, c->arg[a].index, arg->tensor, c->arg[a].offset,
                 role == AC_BUF_INOUT && arg->tensor->def);
    }
    for (int32_t a = 0; a < n; a++) {
        const ac_arg *arg = &c->low->arg.item[a];
        if (!ac_p_arg_written(m, step, a) || (arg->kind != AC_ARG_TENSOR && arg->kind != AC_ARG_SCRATCH))
            continue;
        memory *mem = memory_of(b, c->arg[a].space, c->arg[a].index);
        const ac_bytes at = c->arg[a].offset;
        if (arg->kind == AC_ARG_TENSOR)
            put(b, mem, of_tensor(arg->tensor, at, step));
        else
            put(b, mem, (held){at, at + ac_p_arg_bytes(m, step, a), at, NULL, step});
    }
}

static void put_io(map *b, const ac_io *io, int32_t n, int32_t part)
{
    for (int32_t i = 0; i < n; i++)
        if (!io[i].rows && io[i].part == part)
            put(b, memory_of(b, io[i].space, io[i].index), of_tensor(io[i].tensor, io[i].offset, -1));
}

void ac_p_bytes(ac_ctx *cx, const ac_module *m, ac_verdict *v)
{
    map b = {.cx = cx, .m = m, .out = v};
    put_io(&b, m->state, m->n_states, 0);
    put_io(&b, m->input, m->n_inputs, 0);
    for (int32_t i = 0; i < m->n_calls; i++) {
        for (int32_t k = 1; k < m->n_parts; k++)
            if (m->part[k].begin == i)
                put_io(&b, m->input, m->n_inputs, k);
        claim_places(&b, i);
        claim_restrict(&b, i);
        follow_call(&b, i);
    }
    for (int32_t i = 0; i < m->n_outputs; i++)
        want(&b, -1, m->output[i].space, m->output[i].index, m->output[i].tensor, m->output[i].offset, false);
    for (int32_t i = 0; i < m->n_states; i++)
        want(&b, -1, m->state[i].space, m->state[i].index, m->state[i].tensor, m->state[i].offset, false);
}
