/* flow_lower.c - loops of IF, WHILE and SCAN: the steps of their subgraphs, in order in one function. */
#include "planner/graph/flow_lower.h"

#include "ir/loop/access/flow.h"
#include "ir/lower/node/node.h"
#include "ir/ops/decode/cells.h"
#include "planner/graph/live.h"
#include "planner/pack/solve.h"

/* The elements of a tensor outside that a step uses begin at first + step * pace. */
typedef struct pace {
    int64_t first, pace;
} pace;

/* A subgraph on its way into the function. */
typedef struct part {
    const ac_graph *g;
    ac_lowered **step;
    int32_t n_steps;
    ac_liveness *live;
    ac_bytes *offset;                        /* by item: in the scratch of its type */
    ac_tensor *const *in;                    /* by input of g: the tensor outside */
    ac_tensor *const *out;                   /* by output; NULL: the flag */
    pace *in_pace, *out_pace;                /* by input, by output; NULL: it is the whole tensor outside */
    ac_tensor *const *state, *const *keeper; /* tensors of g that are state, and in whose bytes outside */
    int32_t n_states;
} part;

typedef struct flow {
    ac_ctx *cx;
    ac_region *region;
    const ac_graph *model;
    const ac_node *n;
    const ac_flow_how *how;
    part part[3];
    int32_t n_parts;
    ac_lowered *low;
    ac_flow_fn fn;
    int32_t scratch[AC_DTYPE_COUNT]; /* 1 + parameter, by type */
    ac_tensor **first;               /* of a loop: first values that are computed */
    int32_t carried;                 /* of a loop: first operands, and first results */
} flow;

/* ------------------------------------------------------------------ steps of a subgraph, and their scratch */

/* A result over an operand of another type: not in one function, see flow_lower.h. */
static void keep_types(ac_lowered *low)
{
    const ac_dtype own = ac_dtype_loops(ac_node_result(low->node)->dtype);
    int32_t n = 0;
    for (int32_t i = 0; i < low->n_overwrite; i++)
        if (ac_dtype_loops(low->overwrite[i]->dtype) == own)
            low->overwrite[n++] = low->overwrite[i];
    low->n_overwrite = n;
}

static int lower_steps(flow *f, part *p, ac_graph *g)
{
    ac_graph_own_outputs(g, true);
    ac_node **order = AC_NEW_N(f->region, ac_node *, g->node.n + 1);
    int rc = AC_OK;
    p->g = g;
    p->n_steps = ac_order_keep(g, order);
    p->step = AC_NEW_N(f->region, ac_lowered *, p->n_steps + 1);
    for (int32_t i = 0; i < p->n_steps; i++) {
        if (ac_ops[order[i]->op].flags & OF_CALLS) {
            ac_error(f->cx, order[i]->at, E0108, "custom operator '%s' is in a branch or loop that data decides",
                     order[i]->attrs.custom.call);
            rc = ac_help(f->cx, "move it out of the subgraph, or make the condition constant (--const)");
            continue;
        }
        p->step[i] = ac_flow_lower(f->cx, f->region, f->model, order[i], f->how);
        if (p->step[i])
            keep_types(p->step[i]);
        else
            rc = AC_FAIL;
    }
    return rc;
}

/* The type of the elements of each item; AC_NONE: of none that is scratch here. */
static ac_dtype *types_of(const flow *f, const part *p)
{
    const ac_problem *problem = &p->live->problem;
    ac_dtype *type = AC_NEW_N(f->region, ac_dtype, problem->n + 1);
    for (int32_t i = 0; i < problem->n; i++)
        if (p->live->owner[i] && ac_item_in_ram(problem, &problem->item[i]))
            type[i] = ac_dtype_loops(p->live->owner[i]->dtype);
    for (int32_t s = 0; s < p->n_steps; s++)
        for (int32_t a = 0; a < p->step[s]->arg.n; a++)
            if (p->live->scratch_item[s][a] >= 0)
                type[p->live->scratch_item[s][a]] = p->step[s]->fn->buf.item[a].dtype;
    return type;
}

/* A parameter for `bytes` of scratch of the type, or the one that is there, made as large. */
static void grow_scratch(flow *f, ac_dtype type, ac_bytes bytes)
{
    int32_t *at = &f->scratch[type];
    if (!*at) {
        const ac_buf buf = {.name = "own", .dtype = type, .role = AC_BUF_SCRATCH, .align = 64};
        ac_push(f->region, &f->fn.buf, buf);
        ac_push(f->region, &f->low->arg, ((ac_arg){.kind = AC_ARG_SCRATCH}));
        *at = f->fn.buf.n;
    }
    ac_buf *buf = &f->fn.buf.item[*at - 1];
    const int64_t count = ac_align_up(bytes, 16) / ac_dtype_size(type, 1);
    buf->count = count > buf->count ? count : buf->count;
    f->low->arg.item[*at - 1].bytes = ac_dtype_size(type, buf->count);
}

static int pack(flow *f, part *p)
{
    const ac_live_options live = {.inplace = true, .caller_io = true, .align = f->how->target->align};
    p->live = ac_live(f->cx, f->region, p->g, p->step, p->n_steps, live);
    const ac_problem *all = &p->live->problem;
    const ac_dtype *type = types_of(f, p);
    ac_memory arena = {.name = "arena", .capacity = -1, .align = 64};
    ac_item *item = AC_NEW_N(f->region, ac_item, all->n + 1);
    int32_t *of = AC_NEW_N(f->region, int32_t, all->n + 1);
    p->offset = AC_NEW_N(f->region, ac_bytes, all->n + 1);
    for (int32_t d = AC_NONE + 1; d < AC_DTYPE_COUNT; d++) {
        ac_problem one = {.mem = &arena, .n_mems = 1, .item = item, .steps = all->steps};
        ac_plan plan;
        for (int32_t i = 0; i < all->n; i++)
            if (type[i] == (ac_dtype)d) {
                of[one.n] = i;
                one.item[one.n] = all->item[i];
                one.item[one.n].mem = 0;
                one.item[one.n].mems = 0;
                one.n++;
            }
        if (!one.n)
            continue;
        AC_TRY(ac_solve(f->cx, &one, "auto", NULL, &plan));
        for (int32_t i = 0; i < one.n; i++)
            p->offset[of[i]] = plan.offset[i];
        grow_scratch(f, (ac_dtype)d, plan.arena_bytes);
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ parameters */

/* Results are written before they are read: by each branch, and by a loop's first values. */
static int32_t tensor_param(flow *f, ac_tensor *t, const ac_buf *like)
{
    bool result = false;
    for (int32_t i = 0; i < f->n->n_out; i++)
        result |= f->n->out[i] == t;
    for (int32_t i = 0; i < f->low->arg.n; i++)
        if (f->low->arg.item[i].kind == AC_ARG_TENSOR && f->low->arg.item[i].tensor == t)
            return i;
    const char *note = ac_strf(f->region, "%s %s", ac_tensor_str(f->cx, t), t->name);
    const ac_buf buf = {.name = result ? "out" : "in",
                        .dtype = ac_dtype_loops(t->dtype),
                        .count = ac_tensor_count(t),
                        .role = result ? AC_BUF_OUT : AC_BUF_IN,
                        .align = like->align,
                        .note = note};
    ac_push(f->region, &f->fn.buf, buf);
    ac_push(f->region, &f->low->arg, ((ac_arg){.kind = AC_ARG_TENSOR, .tensor = t}));
    return f->fn.buf.n - 1;
}

static int32_t const_param(flow *f, ac_const *k, const ac_buf *like)
{
    for (int32_t i = 0; i < f->low->arg.n; i++) {
        const ac_const *c = f->low->arg.item[i].konst;
        if (c && (c == k || (c->source && c->source == k->source && c->align >= k->align)))
            return i;
    }
    ac_push(f->region, &f->fn.buf, *like);
    ac_push(f->region, &f->low->arg, ((ac_arg){.kind = AC_ARG_CONST, .konst = k}));
    return f->fn.buf.n - 1;
}

/* A constant: a first value, or an operand that has become one. */
static int32_t source_param(flow *f, ac_tensor *t)
{
    ac_const *k = AC_NEW(f->region, ac_const);
    *k = (ac_const){.name = ac_strf(f->region, "%s_%d_k", ac_ops[f->n->op].text, (int)f->n->id),
                    .dtype = ac_dtype_loops(t->dtype),
                    .count = ac_tensor_count(t),
                    .align = 64,
                    .source = t};
    const ac_buf buf = {.name = "k", .dtype = k->dtype, .count = k->count, .role = AC_BUF_CONST, .align = k->align};
    return const_param(f, k, &buf);
}

static int32_t outside(flow *f, ac_tensor *t, const ac_buf *like)
{
    return ac_tensor_is_const(t) ? source_param(f, t) : tensor_param(f, t, like);
}

/* Argument a of step s of p, a tensor. */
static ac_flow_place tensor_place(flow *f, const part *p, ac_lowered *low, int32_t a)
{
    const ac_tensor *t = low->arg.item[a].tensor;
    const ac_buf *like = &low->fn->buf.item[a];
    const int32_t item = p->live->item_of[t->id];
    const ac_item *it = &p->live->problem.item[item];
    const ac_memory *mem = &p->live->problem.mem[it->mem < 0 ? 0 : it->mem];
    const int64_t size = ac_dtype_size(like->dtype, 1), at = p->live->delta[t->id] / size;
    if (mem->use == AC_MEM_IN) {
        const pace step = p->in_pace ? p->in_pace[mem->index] : (pace){0, 0};
        return (ac_flow_place){outside(f, p->in[mem->index], like), at + step.first, step.pace};
    }
    if (mem->use == AC_MEM_OUT) {
        const pace step = p->out_pace ? p->out_pace[mem->index] : (pace){0, 0};
        return (ac_flow_place){p->out ? tensor_param(f, p->out[mem->index], like) : f->fn.flag, at + step.first,
                               step.pace};
    }
    if (mem->use == AC_MEM_STATE) {
        int32_t k = 0;
        while (k < p->n_states - 1 && p->state[k] != p->live->owner[item])
            k++;
        return (ac_flow_place){tensor_param(f, p->keeper[k], like), at, 0};
    }
    return (ac_flow_place){f->scratch[like->dtype] - 1, p->offset[item] / size + at, 0};
}

static void make_params(flow *f)
{
    for (int32_t k = 0; k < f->n_parts; k++) {
        const part *p = &f->part[k];
        f->fn.part[k] = (ac_flow_part){AC_NEW_N(f->region, ac_flow_call, p->n_steps + 1), p->n_steps};
        for (int32_t s = 0; s < p->n_steps; s++) {
            ac_lowered *low = p->step[s];
            ac_flow_place *at = AC_NEW_N(f->region, ac_flow_place, low->fn->buf.n + 1);
            f->fn.part[k].call[s] = (ac_flow_call){low->fn, at};
            f->low->macs += low->macs * (f->fn.form == AC_FLOW_STEPS ? f->fn.turns : 1);
            for (int32_t a = 0; a < low->arg.n; a++) {
                const ac_buf *like = &low->fn->buf.item[a];
                if (low->arg.item[a].kind == AC_ARG_TENSOR)
                    at[a] = tensor_place(f, p, low, a);
                else if (low->arg.item[a].kind == AC_ARG_CONST)
                    at[a] = (ac_flow_place){const_param(f, low->arg.item[a].konst, like), 0, 0};
                else
                    at[a] = (ac_flow_place){f->scratch[like->dtype] - 1,
                                            p->offset[p->live->scratch_item[s][a]] / ac_dtype_size(like->dtype, 1), 0};
            }
        }
    }
}

/* Steps use the stack in turn, so locals of the same type are one. */
static void make_locals(flow *f)
{
    for (int32_t k = 0; k < f->n_parts; k++)
        for (int32_t s = 0; s < f->part[k].n_steps; s++) {
            const ac_lowered *low = f->part[k].step[s];
            int32_t from = f->low->arg.n;
            for (int32_t a = low->arg.n; a < low->fn->buf.n; a++) {
                const ac_buf *like = &low->fn->buf.item[a];
                while (from < f->fn.buf.n && f->fn.buf.item[from].dtype != like->dtype)
                    from++;
                if (from == f->fn.buf.n)
                    ac_push(f->region, &f->fn.buf, *like);
                ac_buf *own = &f->fn.buf.item[from];
                own->count = like->count > own->count ? like->count : own->count;
                own->align = like->align > own->align ? like->align : own->align;
                f->fn.part[k].call[s].place[a] = (ac_flow_place){from++, 0, 0};
            }
        }
}

/* ------------------------------------------------------------------ the subgraphs of a node */

/* Copies the initial values to the results of a loop. Constants are known here, so a uniform one needs no table. */
static ac_graph *first_values(flow *f)
{
    f->first = AC_NEW_N(f->region, ac_tensor *, f->carried + 1);
    ac_graph *g = ac_graph_new(f->cx, "first");
    g->file = f->model->file;
    for (int32_t i = 0; i < f->carried; i++) {
        ac_tensor *x = f->n->in[i];
        ac_tensor *t = ac_tensor_copy(g, x);
        if (!t)
            return NULL;
        t->output = true;
        t->input = !ac_tensor_is_const(x);
        if (t->input) {
            f->first[g->input.n] = f->n->in[i];
            ac_push(g->region, &g->input, t);
        }
        ac_push(g->region, &g->output, t);
    }
    return g;
}

/* Values that the body carries have a place of their own only after pass state. */
static int need_state(const flow *f, const ac_graph *body)
{
    return !body->carried || body->carry ? AC_OK
                                         : ac_error(f->cx, f->n->at, E0501,
                                                    "a loop cannot be lowered without pass state: it was skipped, or "
                                                    "the passes stopped before");
}

static int open_loop(flow *f)
{
    const ac_node *n = f->n;
    ac_graph *cond = f->model->sub.item[n->attrs.flow.first - 1], *body = f->model->sub.item[n->attrs.flow.second - 1];
    AC_TRY(need_state(f, body));
    ac_tensor **in = AC_NEW_N(f->region, ac_tensor *, n->n_in + 1);
    for (int32_t i = 0; i < n->n_in; i++)
        in[i] = i < n->n_out ? n->out[i] : n->in[i];
    f->n_parts = 3;
    f->fn.form = AC_FLOW_LOOP;
    f->carried = n->n_out;
    ac_graph *first = first_values(f);
    if (!first)
        return AC_FAIL;
    f->part[0] = (part){.in = f->first, .out = n->out};
    f->part[1] = (part){.in = in};
    f->part[2] = (part){.in = n->in + n->n_out, .state = body->carry, .keeper = n->out, .n_states = n->n_out};
    int rc = lower_steps(f, &f->part[0], first);
    rc |= lower_steps(f, &f->part[1], cond);
    rc |= lower_steps(f, &f->part[2], body);
    return rc == AC_OK ? AC_OK : AC_FAIL;
}

/* Steps use an element of each sequence in its place, and write collected elements to theirs. */
static int open_scan(flow *f)
{
    const ac_node *n = f->n;
    ac_scan c;
    AC_TRY(ac_scan_of(f->cx, n, &c));
    ac_graph *body = f->model->sub.item[n->attrs.scan.first - 1];
    AC_TRY(need_state(f, body));
    f->n_parts = 2;
    f->fn.form = AC_FLOW_STEPS;
    f->fn.turns = c.steps;
    f->carried = c.states;
    ac_graph *first = first_values(f);
    if (!first)
        return AC_FAIL;
    ac_tensor **out = AC_NEW_N(f->region, ac_tensor *, c.elements + 1);
    pace *in_pace = AC_NEW_N(f->region, pace, n->n_in + 1), *out_pace = AC_NEW_N(f->region, pace, c.elements + 1);
    for (int32_t i = 0; i < c.sequences; i++) {
        const int64_t pitch = ac_tensor_count(n->in[c.states + i]) / c.steps;
        in_pace[i].pace = ac_scan_pace(&c, ac_scan_goes_back(n, i), pitch, &in_pace[i].first);
    }
    for (int32_t i = 0, before = 0; i < c.elements; i++) {
        out[i] = n->out[c.states + i / c.parts];
        before = i % c.parts ? before + (int32_t)ac_tensor_count(body->output.item[i - 1]) : 0;
        const int64_t pitch = ac_tensor_count(out[i]) / c.steps;
        out_pace[i].pace = ac_scan_pace(&c, ac_scan_goes_back(n, c.sequences + i), pitch, &out_pace[i].first);
        out_pace[i].first += before;
    }
    f->part[0] = (part){.in = f->first, .out = n->out};
    f->part[1] = (part){.in = n->in + c.states,
                        .out = out,
                        .in_pace = in_pace,
                        .out_pace = out_pace,
                        .state = body->carry,
                        .keeper = n->out,
                        .n_states = c.states};
    int rc = lower_steps(f, &f->part[0], first);
    rc |= lower_steps(f, &f->part[1], body);
    return rc == AC_OK ? AC_OK : AC_FAIL;
}

static int open_branch(flow *f)
{
    const ac_node *n = f->n;
    int rc = AC_OK;
    f->n_parts = 2;
    for (int32_t k = 0; k < 2; k++) {
        f->part[k] = (part){.in = n->in + 1, .out = n->out};
        rc |= lower_steps(f, &f->part[k], f->model->sub.item[(k ? n->attrs.flow.second : n->attrs.flow.first) - 1]);
    }
    return rc == AC_OK ? AC_OK : AC_FAIL;
}

static void make_flag(flow *f)
{
    const ac_buf flag = {.name = "again", .dtype = AC_BOOL, .count = 1, .role = AC_BUF_SCRATCH, .align = 1};
    if (f->n->op == AC_OP_IF) {
        f->fn.flag = outside(f, f->n->in[0], &flag);
        return;
    }
    f->fn.flag = f->fn.buf.n;
    ac_push(f->region, &f->fn.buf, flag);
    ac_push(f->region, &f->low->arg, ((ac_arg){.kind = AC_ARG_SCRATCH, .bytes = 1}));
}

/* The loops of a step on a GPU are one thread's: those inside have no blocks. */
static ac_flow_how one_thread(flow *f, const ac_flow_how *how)
{
    ac_flow_how serial = *how;
    if (how->target->isa == AC_ISA_CUDA) {
        ac_target *t = AC_NEW(f->region, ac_target);
        *t = *how->target;
        t->gpu = 0;
        t->isa = AC_ISA_ANY;
        serial.target = t;
    }
    return serial;
}

ac_lowered *ac_flow_lower(ac_ctx *cx, ac_region *region, const ac_graph *model, const ac_node *n,
                          const ac_flow_how *how)
{
    if (!(ac_ops[n->op].flags & OF_FLOW))
        return ac_lower_hinted(cx, region, n, how->target, 0, how->exact, &how->hint);
    flow f = {.cx = cx, .region = region, .model = model, .n = n, .how = how};
    if (how->target->isa == AC_ISA_CUDA && n->op != AC_OP_SCAN) {
        ac_error(cx, n->at, E0108, "its %s depends on data, and a GPU gets all of its work at once",
                 n->op == AC_OP_WHILE ? "number of iterations" : "branch");
        return (void)ac_help(cx, "compile it for the CPU"), NULL;
    }
    ac_cells cells;
    if (how->target->isa == AC_ISA_CUDA && !how->exact &&
        ac_cells_of(cx, region, n, model->sub.item[n->attrs.scan.first - 1], &cells) &&
        ac_cells_fit(&cells, how->target->gpu))
        return ac_lower_cells(cx, region, n, &cells, how->target);
    const ac_flow_how serial = one_thread(&f, how);
    f.how = &serial;
    f.low = AC_NEW(region, ac_lowered);
    f.low->node = n;
    const int rc = n->op == AC_OP_WHILE ? open_loop(&f) : n->op == AC_OP_SCAN ? open_scan(&f) : open_branch(&f);
    if (rc != AC_OK)
        return NULL;
    if (f.fn.form != AC_FLOW_STEPS)
        make_flag(&f);
    for (int32_t k = 0; k < f.n_parts; k++)
        if (pack(&f, &f.part[k]) != AC_OK)
            return NULL;
    make_params(&f);
    make_locals(&f);
    const char *text = ac_ops[n->op].text;
    f.fn.name = ac_strf(region, "%s_%d", text, (int)n->id);
    f.fn.note = ac_strf(region, "%s '%s' -> %s", text, n->name, ac_tensor_str(cx, n->out[0]));
    for (int32_t i = 0; i < f.low->arg.n; i++)
        if (f.low->arg.item[i].kind == AC_ARG_SCRATCH)
            f.low->scratch += ac_align_up(f.low->arg.item[i].bytes, 16);
    f.low->fn = ac_loop_flow(cx, region, &f.fn);
    return f.low->fn ? f.low : NULL;
}
