/* sizes.c - merges the modules of all sizes of a dimension; see sizes.h. */
#include "codegen/sizes.h"

#include <string.h>

/* Functions of different sizes that become one. */
typedef struct family {
    AC_VEC(int32_t) member; /* indices in work.fn */
    int32_t last;           /* size of the last of them */
    const ac_loop_fn *fn;   /* the merged constant */
    ac_share_group share;
} family;

/* Values by size of a class. */
typedef struct column {
    const int32_t *value;
} column;

typedef struct work {
    ac_ctx *cx;
    ac_region *r;
    ac_module *const *m; /* by size */
    ac_module *to;
    ac_sizes *s;
    AC_VEC(const ac_loop_fn *) fn; /* of all sizes, size by size */
    AC_VEC(const ac_call *) first; /* of each: the first call of it */
    AC_VEC(int32_t) family_of;     /* of each */
    AC_VEC(int32_t) place;         /* of each: among the family's members */
    int32_t *base;                 /* by size: where its functions begin */
    AC_VEC(family) family;
    AC_VEC(int32_t) konst;
    AC_VEC(column) column; /* of the class at hand */
} work;

/* ------------------------------------------------------------------ functions */

/* The number of different constants of two similar functions. */
static int32_t distance(const ac_loop_fn *a, const ac_loop_fn *b)
{
    int32_t n = 0;
    for (ac_x x = 1; x < a->code.n; x++)
        n += a->code.item[x].k.i != b->code.item[x].k.i;
    return n;
}

static bool same_sharing(const ac_call *a, const ac_call *b)
{
    for (int32_t i = 0; i < a->n_arg; i++)
        if (a->arg[i].shares != b->arg[i].shares)
            return false;
    return a->n_arg == b->n_arg;
}

/* The family of function f of size k: the one with the most similar function of another size; -1: none. */
static int32_t family_for(const work *w, int32_t k, const ac_loop_fn *fn, const ac_call *call)
{
    int32_t best = -1, least = 0;
    const bool exact = ac_share_unrolls(fn);
    for (int32_t i = 0; i < w->family.n; i++) {
        const family *y = &w->family.item[i];
        const int32_t last = y->member.item[y->member.n - 1];
        const ac_loop_fn *other = w->fn.item[last];
        if (y->last == k || !ac_share_alike(other, fn) || !same_sharing(w->first.item[last], call))
            continue;
        const int32_t far = distance(other, fn);
        if ((best < 0 || far < least) && !(exact && far)) {
            best = i;
            least = far;
        }
    }
    return best;
}

static const ac_call *first_call(const ac_module *m, int32_t f)
{
    int32_t i = 0;
    while (m->call[i].fn != f)
        i++;
    return &m->call[i];
}

static void add_functions(work *w, int32_t k)
{
    const ac_module *m = w->m[k];
    w->base[k] = w->fn.n;
    for (int32_t f = 0; f < m->n_fn; f++) {
        const ac_call *call = first_call(m, f);
        int32_t at = family_for(w, k, m->fn[f], call);
        if (at < 0) {
            at = w->family.n;
            ac_push(w->r, &w->family, (family){0});
        }
        family *y = &w->family.item[at];
        ac_push(w->r, &w->family_of, at);
        ac_push(w->r, &w->place, y->member.n);
        ac_push(w->r, &y->member, w->fn.n);
        y->last = k;
        ac_push(w->r, &w->fn, m->fn[f]);
        ac_push(w->r, &w->first, call);
    }
}

static void build_functions(work *w)
{
    w->to->fn = AC_NEW_N(w->r, const ac_loop_fn *, w->family.n + 1);
    w->to->n_fn = w->family.n;
    for (int32_t i = 0; i < w->family.n; i++) {
        family *y = &w->family.item[i];
        y->share = (ac_share_group){
            .fn = w->fn.item[y->member.item[0]], .form = w->fn.item, .member = y->member.item, .n = y->member.n};
        ac_share_find_holes(w->r, &y->share);
        w->to->fn[i] = y->share.n > 1 ? ac_share_build(w->r, &y->share) : y->share.fn;
    }
}

/* ------------------------------------------------------------------ classes */

static int32_t function_of(const work *w, int32_t k, const ac_call *c)
{
    return w->base[k] + c->fn;
}

/* True if the calls of two sizes are equal except for numbers. */
static bool same_calls(const work *w, int32_t a, int32_t b)
{
    const ac_module *x = w->m[a], *y = w->m[b];
    if (x->n_calls != y->n_calls)
        return false;
    for (int32_t i = 0; i < x->n_calls; i++) {
        const ac_call *c = &x->call[i], *d = &y->call[i];
        if (w->family_of.item[function_of(w, a, c)] != w->family_of.item[function_of(w, b, d)])
            return false;
        for (int32_t k = 0; k < c->n_arg; k++)
            if (c->arg[k].space != d->arg[k].space || c->arg[k].index != d->arg[k].index)
                return false;
    }
    return true;
}

static void find_classes(work *w)
{
    ac_sizes *s = w->s;
    int32_t *class_of = AC_NEW_N(w->r, int32_t, s->n), *size = AC_NEW_N(w->r, int32_t, s->n), at = 0;
    s->class = AC_NEW_N(w->r, ac_size_class, s->n);
    for (int32_t k = 0; k < s->n; k++)
        class_of[k] = -1;
    for (int32_t k = 0; k < s->n; k++) {
        if (class_of[k] >= 0)
            continue;
        ac_size_class *c = &s->class[s->n_classes];
        c->size = size + at;
        for (int32_t i = k; i < s->n; i++) {
            if (class_of[i] >= 0 || (i > k && !same_calls(w, k, i)))
                continue;
            class_of[i] = s->n_classes;
            size[at++] = i;
            c->n_sizes++;
        }
        s->n_classes++;
    }
    s->class_of = class_of;
}

/* ------------------------------------------------------------------ numbers */

bool ac_sizes_line(const int64_t *value, const int32_t *size, int32_t n, ac_sized_number *line)
{
    const int64_t steps = n > 1 ? size[1] - size[0] : 1, rise = n > 1 ? value[1] - value[0] : 0, slope = rise / steps,
                  first = value[0] - slope * size[0], most = slope * size[n - 1];
    if (rise % steps || first != (int32_t)first || most != (int32_t)most || slope != (int32_t)slope)
        return false;
    for (int32_t k = 0; k < n; k++)
        if (value[k] != slope * size[k] + first)
            return false;
    *line = (ac_sized_number){.slope = (int32_t)slope, .first = (int32_t)first};
    return true;
}

/* The index of `count` consecutive columns, reusing existing ones. */
static int32_t columns(work *w, const ac_size_class *c, const int32_t *const *value, int32_t count)
{
    const size_t bytes = (size_t)c->n_sizes * sizeof(int32_t);
    for (int32_t at = 0; at + count <= w->column.n; at++) {
        int32_t k = 0;
        while (k < count && !memcmp(w->column.item[at + k].value, value[k], bytes))
            k++;
        if (k == count)
            return at;
    }
    for (int32_t k = 0; k < count; k++)
        ac_push(w->r, &w->column, (column){value[k]});
    return w->column.n - count;
}

static int32_t choice(work *w, int32_t konst)
{
    for (int32_t i = 0; i < w->konst.n; i++)
        if (w->konst.item[i] == konst)
            return i;
    ac_push(w->r, &w->konst, konst);
    return w->konst.n - 1;
}

/* Argument a of call i of the class; AC_FAIL: its offset does not fit a number. */
static int argument(work *w, const ac_size_class *c, int32_t i, int32_t a, ac_bound_arg *arg)
{
    int32_t *value = AC_NEW_N(w->r, int32_t, c->n_sizes);
    ac_bytes *at = AC_NEW_N(w->r, ac_bytes, c->n_sizes);
    bool differs = false;
    for (int32_t k = 0; k < c->n_sizes; k++) {
        const ac_module *m = w->m[c->size[k]];
        const ac_bound_arg *x = &m->call[i].arg[a];
        at[k] = x->space == AC_SPACE_CONST ? m->in_block[x->offset] : x->offset;
        differs |= at[k] != at[0];
    }
    arg->offset = at[0];
    for (int32_t k = 0; differs && k < c->n_sizes; k++) {
        value[k] = arg->space == AC_SPACE_CONST ? choice(w, (int32_t)at[k]) : (int32_t)at[k];
        if (arg->space != AC_SPACE_CONST && value[k] != at[k])
            return ac_error(w->cx, (ac_place){0}, E0502, "an arena of more than 2 GiB cannot be one program of sizes");
    }
    arg->number = differs ? 1 + columns(w, c, (const int32_t *const[]){value}, 1) : 0;
    return AC_OK;
}

/* The numbers of call i's function, as its last argument. */
static ac_bound_arg table(work *w, const ac_size_class *c, int32_t i, const family *y)
{
    const int32_t slots = y->share.slots;
    const int32_t **value = AC_NEW_N(w->r, const int32_t *, slots);
    int32_t **own = AC_NEW_N(w->r, int32_t *, slots);
    for (int32_t k = 0; k < slots; k++)
        value[k] = own[k] = AC_NEW_N(w->r, int32_t, c->n_sizes);
    for (int32_t k = 0; k < c->n_sizes; k++) {
        const int32_t f = function_of(w, c->size[k], &w->m[c->size[k]]->call[i]);
        const int32_t *number = ac_share_numbers(w->r, &y->share, w->place.item[f]);
        for (int32_t j = 0; j < slots; j++)
            own[j][k] = number[j];
    }
    return (ac_bound_arg){.space = AC_SPACE_SHAPE, .number = 1 + columns(w, c, value, slots)};
}

static void put_numbers(work *w, ac_size_class *c)
{
    int64_t *value = AC_NEW_N(w->r, int64_t, c->n_sizes);
    c->n_numbers = w->column.n;
    c->number = AC_NEW_N(w->r, ac_sized_number, w->column.n + 1);
    for (int32_t i = 0; i < w->column.n; i++) {
        const int32_t *own = w->column.item[i].value;
        for (int32_t k = 0; k < c->n_sizes; k++)
            value[k] = own[k];
        if (!ac_sizes_line(value, c->size, c->n_sizes, &c->number[i]))
            c->number[i] = (ac_sized_number){.own = own};
    }
}

static int put_calls(work *w, ac_size_class *c)
{
    const int32_t k = c->size[c->n_sizes - 1]; /* comments show the largest */
    const ac_module *m = w->m[k];
    ac_module *to = w->to;
    c->begin = to->n_calls;
    w->column.n = 0;
    for (int32_t i = 0; i < m->n_calls; i++) {
        ac_call *call = &to->call[to->n_calls++];
        *call = m->call[i];
        call->fn = w->family_of.item[function_of(w, k, &m->call[i])];
        ac_bound_arg *arg = AC_NEW_N(w->r, ac_bound_arg, call->n_arg + 1);
        memcpy(arg, call->arg, (size_t)call->n_arg * sizeof *arg);
        for (int32_t a = 0; a < call->n_arg; a++)
            AC_TRY(argument(w, c, i, a, &arg[a]));
        if (w->family.item[call->fn].share.slots)
            arg[call->n_arg++] = table(w, c, i, &w->family.item[call->fn]);
        call->arg = arg;
    }
    c->end = to->n_calls;
    put_numbers(w, c);
    return AC_OK;
}

/* ------------------------------------------------------------------ the surrounding module */

static bool same_state(const ac_module *a, const ac_module *b)
{
    if (a->n_states != b->n_states || a->state_bytes != b->state_bytes)
        return false;
    for (int32_t i = 0; i < a->n_states; i++)
        if (strcmp(a->state[i].tensor->name, b->state[i].tensor->name) != 0 ||
            a->state[i].offset != b->state[i].offset || a->state[i].bytes != b->state[i].bytes)
            return false;
    return true;
}

static const ac_io *constant_io(const ac_module *m)
{
    for (int32_t i = 0; i < m->n_inputs + m->n_outputs; i++) {
        const ac_io *io = i < m->n_inputs ? &m->input[i] : &m->output[i - m->n_inputs];
        if (io->space == AC_SPACE_CONST || io->rows)
            return io;
    }
    return NULL;
}

static int check(const work *w)
{
    const ac_sizes *s = w->s;
    for (int32_t k = 0; k < s->n; k++) {
        const ac_module *m = w->m[k];
        const ac_io *io = constant_io(m);
        if (io)
            return ac_error(w->cx, (ac_place){.file = m->source}, E0502,
                            "with %s = %lld tensor '%s' is %s, which --sizes one does not support", s->dim,
                            (long long)(s->lo + k), io->tensor->name, io->rows ? "streamed by rows" : "a constant");
        if (!same_state(w->m[0], m))
            return ac_error(w->cx, (ac_place){0}, E0502,
                            "the state depends on %s, but --sizes one has one state for all sizes", s->dim);
    }
    return AC_OK;
}

static void put_memories(work *w)
{
    ac_module *to = w->to;
    const ac_module *last = w->m[w->s->n - 1];
    to->ram = AC_NEW(w->r, ac_module_ram);
    *to->ram = *last->ram;
    for (int32_t k = 0; k < w->s->n; k++) {
        const ac_module *m = w->m[k];
        to->ram->bytes = m->ram->bytes > to->ram->bytes ? m->ram->bytes : to->ram->bytes;
        to->ram->align = m->ram->align > to->ram->align ? m->ram->align : to->ram->align;
        to->arena_align = m->arena_align > to->arena_align ? m->arena_align : to->arena_align;
        to->n_calls += m->n_calls; /* at most, for the calls' array */
    }
    to->n_ram = 1;
    to->arena_bytes = to->ram->bytes;
    to->state_bytes = last->state_bytes;
    to->state_address = -1;
    to->input = last->input;
    to->n_inputs = last->n_inputs;
    to->output = last->output;
    to->n_outputs = last->n_outputs;
    to->state = w->m[0]->state;
    to->n_states = last->n_states;
    to->counted = last->counted;
    to->n_counted = last->n_counted;
}

int ac_module_merge_sizes(ac_module *const *m, int32_t n, const char *dim, int64_t lo, ac_module *to, ac_merged *sum)
{
    ac_sizes *s = AC_NEW(to->cx->region, ac_sizes);
    *s = (ac_sizes){.dim = dim, .lo = lo, .n = n, .of = m};
    work w = {.cx = to->cx, .r = to->cx->region, .m = m, .to = to, .s = s};
    AC_TRY(check(&w));
    w.base = AC_NEW_N(w.r, int32_t, n);
    for (int32_t k = 0; k < n; k++)
        add_functions(&w, k);
    build_functions(&w);
    find_classes(&w);
    put_memories(&w);
    to->call = AC_NEW_N(w.r, ac_call, to->n_calls + 1);
    to->n_calls = 0;
    AC_TRY(ac_module_pool_consts(m, n, to, sum));
    for (int32_t k = 0; k < s->n_classes; k++)
        AC_TRY(put_calls(&w, &s->class[k]));
    s->konst = w.konst.item;
    s->n_konst = w.konst.n;
    to->sizes = s;
    ac_module_whole(to);
    return AC_OK;
}
