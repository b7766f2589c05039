/* code_certificate.c - writes a module as a certificate of code: memories, constants, functions and calls as printers
 * have them, and the values that the proof cut into parts. prove/replay reads it and trusts none of it. */
#include "prove/prove.h"

#include "ir/graph/graph.h"
#include "ir/loop/builder.h"

#include <math.h>

typedef struct writer {
    ac_sink *to;
    const ac_module *m;
} writer;

/* ------------------------------------------------------------------ memories */

static int32_t memory_of(const writer *w, ac_space space, int32_t index)
{
    switch (space) {
    case AC_SPACE_ARENA:
        return index;
    case AC_SPACE_STATE:
        return w->m->n_ram;
    case AC_SPACE_IN:
        return w->m->n_ram + 1 + index;
    case AC_SPACE_OUT:
        return w->m->n_ram + 1 + w->m->n_inputs + index;
    case AC_SPACE_CONST:
    case AC_SPACE_CHUNK:
    case AC_SPACE_SHAPE:
        break;
    }
    return -1;
}

static void put_memories(writer *w)
{
    const ac_module *m = w->m;
    for (int32_t i = 0; i < m->n_ram; i++)
        ac_putf(w->to, "memory %s %lld %lld\n", m->ram[i].name, (long long)m->ram[i].bytes, (long long)m->ram[i].align);
    ac_putf(w->to, "memory state %lld %lld\n", (long long)m->state_bytes, (long long)m->arena_align);
    for (int32_t i = 0; i < m->n_inputs; i++)
        ac_putf(w->to, "memory in%d %lld %lld\n", i, (long long)m->input[i].bytes, (long long)m->arena_align);
    for (int32_t i = 0; i < m->n_outputs; i++)
        ac_putf(w->to, "memory out%d %lld %lld\n", i, (long long)m->output[i].bytes, (long long)m->arena_align);
}

/* MEMORY OFFSET BYTES TENSOR BEGIN */
static void put_held(writer *w, const char *word, const ac_io *io)
{
    const int32_t memory = memory_of(w, io->space, io->index);
    if (io->rows || memory < 0 || !io->bytes)
        return;
    ac_putf(w->to, "%s %d %lld %lld %d %lld\n", word, memory,
            (long long)(io->space == AC_SPACE_IN || io->space == AC_SPACE_OUT ? 0 : io->offset),
            (long long)ac_tensor_bytes(io->tensor), ac_tensor_root(io->tensor)->id + 1,
            (long long)ac_tensor_root_offset(io->tensor));
}

/* ------------------------------------------------------------------ constants */

static bool is_small(const ac_const *k, bool needed)
{
    enum { MOST_REALS = 4096, MOST = 65536, MOST_NEEDED = 1 << 22 };
    return k->count <= (ac_dtype_is_float(k->dtype) ? MOST_REALS : needed ? MOST_NEEDED : MOST);
}

/* Constants of calls that are proven by each element: by number. */
static bool *needed_constants(const ac_module *m, const ac_verdict *v)
{
    bool *needed = AC_NEW_N(m->cx->region, bool, m->n_konst + 1);
    for (int32_t i = 0; i < m->n_calls; i++)
        for (int32_t a = 0; a < m->call[i].n_arg && v->by_element[i]; a++)
            if (m->call[i].arg[a].space == AC_SPACE_CONST)
                needed[m->call[i].arg[a].offset] = true;
    return needed;
}

static void put_real(ac_sink *to, double v)
{
    if (isnan(v))
        ac_put(to, " nan");
    else if (isinf(v))
        ac_put(to, v < 0 ? " -inf" : " inf");
    else
        ac_putf(to, " %a", v);
}

static void put_integer(ac_sink *to, ac_dtype d, int64_t v)
{
    if (d == AC_U64)
        ac_putf(to, " %llu", (unsigned long long)v);
    else
        ac_putf(to, " %lld", (long long)v);
}

/* Each element, or the range of all. */
static int put_constant(writer *w, ac_const *k, bool needed)
{
    ac_sink *to = w->to;
    const void *data = ac_const_data(w->m->cx, k);
    const bool real = ac_dtype_is_float(k->dtype), each = is_small(k, needed);
    double least = (double)INFINITY, most = -(double)INFINITY;
    int64_t lo = INT64_MAX, hi = INT64_MIN;
    bool nan = false;
    if (!data)
        return AC_FAIL;
    ac_putf(to, "const %s %lld%s", ac_dtype_name(k->dtype), (long long)k->count, each ? "" : " range");
    for (int64_t i = 0; i < k->count; i++) {
        const double x = real ? ac_dtype_get_num(k->dtype, data, i) : 0;
        const int64_t n = real ? 0 : ac_dtype_get_int(k->dtype, data, i);
        if (each && real)
            put_real(to, x);
        else if (each)
            put_integer(to, k->dtype, n);
        least = fmin(least, x), most = fmax(most, x), nan |= isnan(x);
        lo = n < lo ? n : lo, hi = n > hi ? n : hi;
    }
    if (!each && real) {
        put_real(to, least);
        put_real(to, most);
        ac_put(to, nan ? " nan" : "");
    } else if (!each) {
        put_integer(to, k->dtype, k->dtype == AC_U64 ? 0 : lo);
        put_integer(to, k->dtype, k->dtype == AC_U64 ? -1 : hi);
    }
    ac_putc(to, '\n');
    return AC_OK;
}

/* ------------------------------------------------------------------ calls */

static void put_argument(writer *w, int32_t step, int32_t a)
{
    const ac_module *m = w->m;
    const ac_call *c = &m->call[step];
    const ac_bound_arg *at = &c->arg[a];
    const ac_buf *own = a < c->low->fn->buf.n ? &c->low->fn->buf.item[a] : NULL;
    const ac_buf *buf = &m->fn[c->fn]->buf.item[a];
    const int64_t count = own && own->role != AC_BUF_LOCAL && own->count < buf->count ? own->count : buf->count;
    const ac_arg *arg = a < c->low->arg.n ? &c->low->arg.item[a] : NULL;
    const ac_tensor *t = arg && arg->kind == AC_ARG_TENSOR ? arg->tensor : NULL;
    const bool apart = at->space == AC_SPACE_IN || at->space == AC_SPACE_OUT;
    if (at->space == AC_SPACE_CHUNK)
        ac_put(w->to, "  arg task\n");
    else if (at->space == AC_SPACE_CONST)
        ac_putf(w->to, "  arg const %lld\n", (long long)at->offset);
    else
        ac_putf(w->to, "  arg memory %d %lld %lld %d %lld %lld\n", memory_of(w, at->space, at->index),
                (long long)(apart ? 0 : at->offset), (long long)count, t ? ac_tensor_root(t)->id + 1 : 0,
                (long long)(t ? ac_tensor_root_offset(t) : 0), (long long)(t ? ac_tensor_bytes(t) : 0));
}

/* The maximum is a part by itself: sums of the proof exclude a case that only the maximum can reach. */
static void put_cut(ac_sink *to, const ac_verdict_cut *u)
{
    const int32_t n = u->end.n;
    const int64_t last = u->end.item[n - 1];
    int64_t at = n > 1 ? u->end.item[n - 2] + 1 : u->lo;
    ac_putf(to, "  cut %d %d", u->ins, n + (at < last));
    for (int32_t i = 0; i < n - 1; i++)
        ac_putf(to, " %lld %lld", (long long)(i ? u->end.item[i - 1] + 1 : u->lo), (long long)u->end.item[i]);
    if (at < last) {
        ac_putf(to, " %lld %lld", (long long)at, (long long)last - 1);
        at = last;
    }
    ac_putf(to, " %lld %lld\n", (long long)at, (long long)last);
}

static void put_call(writer *w, int32_t step, const ac_verdict *v)
{
    const ac_call *c = &w->m->call[step];
    const int32_t tasks = c->low->rows > 0 ? c->low->rows : c->low->chunks > 0 ? c->low->chunks : 1;
    ac_putf(w->to, "call %d tasks %d", c->fn, tasks);
    if (c->low->rows > 0) {
        const ac_buf *given = &w->m->fn[c->fn]->buf.item[c->low->streamed_arg];
        ac_putf(w->to, " given %d %lld", c->low->streamed_arg,
                (long long)(c->low->row_bytes / ac_dtype_size(given->dtype, 1)));
    }
    ac_putc(w->to, '\n');
    for (int32_t a = 0; a < c->n_arg; a++)
        put_argument(w, step, a);
    for (int32_t i = v->cut.n - 1; i >= 0; i--)
        if (v->cut.item[i].step == step)
            put_cut(w->to, &v->cut.item[i]);
}

int ac_code_certificate(ac_sink *to, const ac_module *m, const ac_verdict *v, const char *const *written,
                        int32_t n_written)
{
    writer w = {.to = to, .m = m};
    AC_TRY(ac_module_without_custom(m, "a certificate of the code"));
    ac_putf(to, "arenac-code-certificate 1\nmodel sha256 %s arenac %s\noptions %s\n", m->sha256, m->version,
            m->options);
    for (int32_t i = 0; i < n_written; i++)
        ac_putf(to, "written sha256 %s\n", written[i]);
    put_memories(&w);
    for (int32_t i = 0; i < m->n_states; i++)
        put_held(&w, "before", &m->state[i]);
    for (int32_t i = 0; i < m->n_inputs; i++)
        put_held(&w, "before", &m->input[i]);
    const bool *needed = needed_constants(m, v);
    for (int32_t i = 0; i < m->n_konst; i++)
        AC_TRY(put_constant(&w, m->konst[i], needed[i]));
    for (int32_t i = 0; i < m->n_fn; i++)
        ac_loop_dump_plain(to, m->fn[i]);
    for (int32_t i = 0; i < m->n_fn; i++) {
        const bool *restricted = ac_module_restricted(m, i);
        for (int32_t b = 0; b < m->fn[i]->buf.n && m->fn[i]->buf.item[b].role != AC_BUF_LOCAL; b++)
            if (restricted[b])
                ac_putf(to, "restrict %d %d\n", i, b);
    }
    for (int32_t i = 0; i < m->n_calls; i++)
        put_call(&w, i, v);
    for (int32_t i = 0; i < m->n_outputs; i++)
        put_held(&w, "after", &m->output[i]);
    for (int32_t i = 0; i < m->n_states; i++)
        put_held(&w, "after", &m->state[i]);
    ac_put(to, "end\n");
    return AC_OK;
}
