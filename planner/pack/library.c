/* library.c - the planner with its public header: structs of the caller become a problem, all else is solve.c. */
#include "planner/pack/arenac_planner.h"

#include "base/format.h"
#include "base/sys/sys.h"
#include "planner/pack/solve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *help;
} PLANNERS[] = {
#define STRATEGY(name, role, fn, help) {name, help},
#include "planner/pack/strategies.def"
#undef STRATEGY
};

static bool is_planner(int k)
{
    return k >= 0 && k < (int)(sizeof PLANNERS / sizeof *PLANNERS);
}

const char *arenac_pack_planner(int k)
{
    return is_planner(k) ? PLANNERS[k].name : NULL;
}

const char *arenac_pack_planner_help(int k)
{
    return is_planner(k) ? PLANNERS[k].help : NULL;
}

/* The memory of an arenac_packing or of a problem read from CSV. */
typedef struct owner {
    ac_ctx cx;
    char *message;
} owner;

typedef struct call {
    const arenac_pack_problem *from;
    const arenac_pack_options *opt; /* NULL: defaults */
    const int64_t *offset;          /* a plan to check; NULL: make one */
    const int32_t *memory;
    arenac_packing *out;
    ac_problem problem;
    ac_solve_options search;
    ac_plan plan;
    int status;
} call;

/* ------------------------------------------------------------------ the caller's structs */

static int bad(ac_ctx *cx, const ac_item *it, const char *text)
{
    return ac_error(cx, (ac_place){.node = it->name}, E0012, "%s", text);
}

static int read_gaps(ac_ctx *cx, const arenac_interval *from, ac_item *it)
{
    ac_gap *gap = AC_NEW_N(cx->region, ac_gap, from->n_gaps);
    for (int32_t g = 0; g < from->n_gaps; g++) {
        const arenac_gap *x = &from->gap[g];
        if (x->begin >= x->end || x->begin < (g ? gap[g - 1].life.end : it->life.begin) || x->end > it->life.end)
            return bad(cx, it, "a gap is empty, outside the life, or begins before the previous one ends");
        if (x->lo < 0 || x->lo > x->hi || x->hi > it->size)
            return bad(cx, it, "the bytes of a gap are not inside those of the interval");
        gap[g] = (ac_gap){{x->begin, x->end}, x->lo, x->hi};
    }
    it->gaps = gap;
    it->n_gaps = from->n_gaps;
    return AC_OK;
}

static int read_item(ac_ctx *cx, const arenac_interval *from, int32_t i, int32_t n_mems, ac_item *it)
{
    const uint32_t all = n_mems >= 32 ? UINT32_MAX : (1u << n_mems) - 1;
    *it = (ac_item){.name = from->name ? ac_intern(cx, from->name) : ac_internf(cx, "%d", i),
                    .size = from->size,
                    .align = from->align ? from->align : 1,
                    .life = {from->begin, from->end},
                    .fixed = from->fixed < 0 ? -1 : from->fixed,
                    .mem = from->memory,
                    .mems = from->memories & all,
                    .traffic = from->traffic};
    if (it->size < 0)
        return bad(cx, it, "the size is negative");
    if (it->align < 1 || (it->align & (it->align - 1)))
        return bad(cx, it, "the alignment is not a power of two");
    if (from->begin < 0 || from->begin >= from->end)
        return bad(cx, it, "it does not end after it begins, or begins before step 0");
    if (it->mem < -1 || it->mem >= n_mems || (from->memories && !it->mems))
        return bad(cx, it, "the memory does not exist");
    if (it->mem >= 0 && it->mems && !(it->mems >> it->mem & 1u))
        return bad(cx, it, "its required memory is not among the allowed ones");
    if (it->fixed >= 0 && it->mem < 0 && n_mems > 1)
        return bad(cx, it, "a fixed offset needs a memory");
    if (it->traffic < 0 || it->traffic > INT64_MAX / 4)
        return bad(cx, it, "the traffic is negative, or above 61 bits");
    return read_gaps(cx, from, it);
}

static int read_pairs(ac_ctx *cx, const arenac_pack_problem *from, ac_problem *p)
{
    p->pair = AC_NEW_N(cx->region, ac_pair, from->n_pairs);
    for (int32_t k = 0; k < from->n_pairs; k++) {
        const arenac_pack_pair *x = &from->pair[k];
        if (x->a < 0 || x->a >= p->n || x->b < 0 || x->b >= p->n || x->a == x->b || x->above < -1 || x->below < -1)
            return ac_error(cx, (ac_place){0}, E0013, "pair %d does not name two intervals, or has a negative distance",
                            k);
        const ac_life a = p->item[x->a].life, b = p->item[x->b].life;
        if (!ac_life_overlap(a, b))
            continue; /* nothing to allow */
        p->pair[p->n_pairs++] =
            (ac_pair){.a = x->a,
                      .b = x->b,
                      .life = {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end},
                      .max_below = x->below < 0 ? INT64_MIN : -x->below,
                      .min_above = x->above < 0 ? INT64_MAX : x->above};
    }
    return AC_OK;
}

static int read_problem(ac_ctx *cx, const arenac_pack_problem *from, ac_problem *p)
{
    const int32_t n_mems = from->n_memories ? from->n_memories : 1;
    int64_t total = 0;
    if (from->n < 0 || from->n_pairs < 0 || from->n_memories < 0 || from->n_memories > AC_MAX_MEMS)
        return ac_error(cx, (ac_place){0}, E0012, "a negative number of rows, or more than %d memories", AC_MAX_MEMS);
    *p = (ac_problem){.item = AC_NEW_N(cx->region, ac_item, from->n),
                      .n = from->n,
                      .mem = AC_NEW_N(cx->region, ac_memory, n_mems),
                      .n_mems = n_mems,
                      .steps = 1};
    for (int32_t m = 0; m < n_mems; m++) {
        const arenac_pack_memory one = {.name = "arena", .capacity = -1},
                                 *x = from->n_memories ? &from->memory[m] : &one;
        p->mem[m] = (ac_memory){.name = x->name ? ac_intern(cx, x->name) : ac_internf(cx, "memory %d", m),
                                .capacity = x->capacity < 0 ? -1 : x->capacity,
                                .align = 1};
    }
    for (int32_t i = 0; i < from->n; i++) {
        ac_item *it = &p->item[i];
        AC_TRY(read_item(cx, &from->item[i], i, n_mems, it));
        p->steps = it->life.end > p->steps ? it->life.end : p->steps;
        /* Everything a planner adds up stays below this sum, so no later sum needs a check. */
        if (!ac_add_ok(total, it->size, &total) || !ac_add_ok(total, it->align, &total) ||
            !ac_add_ok(total, it->fixed > 0 ? it->fixed : 0, &total) || total > INT64_MAX / 4)
            return bad(cx, it, "the sizes add up to more than 61 bits hold");
    }
    return read_pairs(cx, from, p);
}

/* ------------------------------------------------------------------ plans */

static int over_capacity(ac_ctx *cx, const call *c)
{
    int status = ARENAC_PACK_OK;
    for (int32_t m = 0; m < c->problem.n_mems; m++) {
        ac_bytes limit = c->problem.mem[m].capacity;
        if (!m && c->opt && c->opt->capacity > 0 && (limit < 0 || c->opt->capacity < limit))
            limit = c->opt->capacity;
        if (limit < 0 || c->plan.mem_bytes[m] <= limit)
            continue;
        ac_error(cx, (ac_place){0}, E0401, "memory '%s' needs %s B and has %s B", c->problem.mem[m].name,
                 ac_commas(cx, c->plan.mem_bytes[m]), ac_commas(cx, limit));
        status = ARENAC_PACK_TOO_LARGE;
    }
    return status;
}

static void fill(call *c)
{
    arenac_packing *out = c->out;
    out->offset = c->plan.offset;
    out->memory = c->plan.mem;
    out->memory_bytes = c->plan.mem_bytes;
    out->bytes = c->plan.mem_bytes[0];
    out->lower_bound = c->plan.proven;
    out->optimal = out->bytes == out->lower_bound;
    out->planner = c->plan.strategy;
    if (c->search.certificate && c->search.certificate->n)
        out->certificate = ac_sink_text(c->search.certificate);
}

static int make_plan(ac_ctx *cx, call *c)
{
    const arenac_pack_options *o = c->opt;
    const char *planner = o && o->planner ? o->planner : "auto";
    if (o && (o->effort < 0 || o->effort > 10 || o->capacity < 0 || o->max_memory < 0)) {
        ac_error(cx, (ac_place){0}, E0012, "an option is out of range");
        return ARENAC_PACK_INVALID;
    }
    c->search = (ac_solve_options){.steps = o ? ac_solve_steps(o->effort - 1) : 0, .goal = o ? o->capacity : 0};
    if (o && o->certificate) {
        c->search.certificate = AC_NEW(cx->region, ac_sink);
        ac_sink_open(c->search.certificate, cx);
    }
    if (ac_solve(cx, &c->problem, planner, &c->search, &c->plan) != AC_OK)
        return ARENAC_PACK_INVALID;
    fill(c);
    return over_capacity(cx, c);
}

static int check_plan(ac_ctx *cx, call *c)
{
    ac_problem *p = &c->problem;
    ac_plan *plan = &c->plan;
    ac_bytes *offset = AC_NEW_N(cx->region, ac_bytes, p->n), *used = AC_NEW_N(cx->region, ac_bytes, p->n_mems);
    int32_t *mem = AC_NEW_N(cx->region, int32_t, p->n);
    for (int32_t i = 0; i < p->n; i++) {
        const int32_t m = mem[i] = c->memory ? c->memory[i] : 0;
        offset[i] = c->offset[i];
        const ac_bytes end = offset[i] < INT64_MAX / 4 ? offset[i] + p->item[i].size : 0;
        if (m >= 0 && m < p->n_mems && end > used[m])
            used[m] = end;
    }
    *plan = (ac_plan){.offset = offset, .mem = mem, .mem_bytes = used, .arena_bytes = used[0], .strategy = "given"};
    const bool safe = ac_plan_check(cx, NULL, p, plan) == AC_OK;
    for (int32_t i = 0; i < p->n; i++) /* the bound is about the items there */
        p->item[i].mem = mem[i] >= 0 && mem[i] < p->n_mems ? mem[i] : 0;
    plan->proven = ac_problem_bound(p, cx->region).aligned;
    fill(c);
    return safe ? ARENAC_PACK_OK : ARENAC_PACK_UNSAFE;
}

static void work(void *arg)
{
    call *c = arg;
    ac_ctx *cx = &((owner *)c->out->own)->cx;
    ac_ctx_start(cx);
    c->status = read_problem(cx, c->from, &c->problem) != AC_OK ? ARENAC_PACK_INVALID
                : c->offset                                     ? check_plan(cx, c)
                                                                : make_plan(cx, c);
}

/* ------------------------------------------------------------------ messages and memory */

static owner *open_owner(const arenac_pack_options *opt)
{
    owner *own = calloc(1, sizeof *own);
    if (!own)
        return NULL;
    ac_ctx_open(&own->cx);
    own->cx.heap.limit = opt && opt->max_memory > 0 ? (size_t)opt->max_memory : 0;
    return own;
}

static void close_owner(owner *own)
{
    if (!own)
        return;
    ac_ctx_close(&own->cx);
    free(own->message);
    free(own);
}

static void print_message(FILE *to, const void *own)
{
    ac_diags_print(&((const owner *)own)->cx.diags, to, false);
}

static const char *message_of(owner *own)
{
    own->message = own->cx.diags.first ? ac_sys_printed(print_message, own) : NULL;
    return own->message ? own->message : "";
}

static int guarded(call *c)
{
    static const arenac_packing EMPTY = {.message = "out of memory"};
    owner *own = open_owner(c->opt);
    *c->out = EMPTY;
    if (!own)
        return ARENAC_PACK_NO_MEMORY;
    c->out->own = own;
    if (!ac_heap_guard(&own->cx.heap, work, c))
        return ARENAC_PACK_NO_MEMORY;
    c->out->message = message_of(own);
    return c->status;
}

int arenac_pack(const arenac_pack_problem *problem, const arenac_pack_options *options, arenac_packing *out)
{
    call c = {.from = problem, .opt = options, .out = out};
    return guarded(&c);
}

int arenac_pack_check(const arenac_pack_problem *problem, const int64_t *offset, const int32_t *memory,
                      arenac_packing *out)
{
    static const int64_t NONE;
    call c = {.from = problem, .offset = offset ? offset : &NONE, .memory = memory, .out = out};
    return guarded(&c);
}

void arenac_packing_free(arenac_packing *out)
{
    close_owner(out->own);
    memset(out, 0, sizeof *out);
}

/* ------------------------------------------------------------------ CSV */

/* The memory of a problem read from CSV; its items follow directly. */
typedef struct csv_rows {
    char *names;
    arenac_gap *gap;
} csv_rows;

/* A copy that outlives the context it was read in: rows, names and gaps in malloc's memory. */
static bool copy_rows(const ac_problem *p, arenac_pack_problem *out)
{
    size_t text = 1, gaps = 1;
    for (int32_t i = 0; i < p->n; i++) {
        text += strlen(p->item[i].name) + 1;
        gaps += (size_t)p->item[i].n_gaps;
    }
    csv_rows *rows = calloc(1, sizeof *rows + (size_t)p->n * sizeof(arenac_interval));
    if (!rows)
        return false;
    rows->names = malloc(text);
    rows->gap = calloc(gaps, sizeof *rows->gap);
    arenac_interval *item = (arenac_interval *)(void *)(rows + 1);
    out->item = item;
    if (!rows->names || !rows->gap) {
        arenac_pack_problem_free(out);
        return false;
    }
    char *name = rows->names;
    arenac_gap *gap = rows->gap;
    for (int32_t i = 0; i < p->n; i++) {
        const ac_item *it = &p->item[i];
        const size_t len = strlen(it->name) + 1;
        item[i] = (arenac_interval){.name = memcpy(name, it->name, len),
                                    .size = it->size,
                                    .align = it->align,
                                    .begin = it->life.begin,
                                    .end = it->life.end,
                                    .fixed = it->fixed,
                                    .memory = -1,
                                    .gap = gap,
                                    .n_gaps = it->n_gaps};
        name += len;
        for (int32_t g = 0; g < it->n_gaps; g++)
            *gap++ = (arenac_gap){it->gaps[g].life.begin, it->gaps[g].life.end, it->gaps[g].lo, it->gaps[g].hi};
    }
    out->n = p->n;
    return true;
}

typedef struct csv_call {
    owner *own;
    const char *file, *text;
    size_t n;
    arenac_pack_problem *out;
    int status;
} csv_call;

static void read_rows(void *arg)
{
    csv_call *c = arg;
    ac_problem p;
    ac_ctx_start(&c->own->cx);
    if (ac_problem_read_csv(&c->own->cx, c->file, c->text, c->n, false, &p) != AC_OK)
        c->status = ARENAC_PACK_INVALID;
    else if (copy_rows(&p, c->out))
        c->status = ARENAC_PACK_OK;
}

int arenac_pack_read_csv(const char *file, const char *text, size_t n, arenac_pack_problem *out, char *message,
                         size_t message_bytes)
{
    static const arenac_pack_problem EMPTY = {0};
    csv_call c = {open_owner(NULL), file, text, n, out, ARENAC_PACK_NO_MEMORY};
    *out = EMPTY;
    if (c.own)
        ac_heap_guard(&c.own->cx.heap, read_rows, &c);
    if (message && message_bytes)
        ac_print(message, message_bytes, "%s",
                 c.status == ARENAC_PACK_INVALID ? message_of(c.own)
                 : c.status                      ? "out of memory"
                                                 : "");
    close_owner(c.own);
    return c.status;
}

void arenac_pack_problem_free(arenac_pack_problem *problem)
{
    static const arenac_pack_problem EMPTY = {0};
    if (problem->item) {
        csv_rows *rows = (csv_rows *)(void *)(uintptr_t)problem->item - 1;
        free(rows->names);
        free(rows->gap);
        free(rows);
    }
    *problem = EMPTY;
}
