/* facts_model.c - the report of a model's plan: its steps, tensors, constants. */
#include "driver/facts/facts.h"
#include "driver/facts/facts_constants.h"
#include "driver/facts/facts_gpu.h"

#include "codegen/bind.h"
#include "codegen/code_size.h"
#include "codegen/constants.h"
#include "codegen/share_pieces.h"
#include "ir/loop/access/traffic.h"

/* Equal kernels as stage compile will share them. */
static void share_kernels(const ac_made *a, const ac_code_estimate *code, ac_report *r)
{
    const ac_settings *s = &a->lowering->set;
    const ac_share_set set = {
        .fn = code->fn.item, .calls = code->calls.item, .n = code->fn.n, .target = s->target, .price = s->share};
    const ac_share_group *group = s->share ? ac_share_groups(a->cx->region, &set) : NULL;
    ac_bytes saved = 0;
    for (int32_t f = 0; group && f < set.n; f++) {
        saved += group[f].saved;
        r->n_kernels -= !group[f].n;
        ac_share_pieces(a->cx, a->cx->region, set.fn[f], set.target, set.price, &saved);
    }
    r->code_bytes -= saved;
}

/* As the code holds them. */
static ac_bytes constants_of(const ac_lowered *low)
{
    ac_bytes sum = 0;
    for (int32_t k = 0; k < low->arg.n; k++)
        if (low->arg.item[k].kind == AC_ARG_CONST)
            sum += ac_const_bytes(low->arg.item[k].konst);
    return sum;
}

/* Bytes that its loops read and write; of chunks, whose bounds are computed, what the whole does.
 * *moved: each byte of a tensor or weight once. */
static int64_t traffic_of(ac_region *r, const ac_lowered *low, int64_t *moved)
{
    const ac_lowered *whole = low->uncut ? low->uncut : low;
    int64_t *bytes = AC_NEW_N(r, int64_t, whole->fn->buf.n + 1), sum = 0;
    ac_live_traffic(whole, bytes);
    *moved = 0;
    for (int32_t k = 0; k < whole->arg.n; k++) {
        const ac_buf *b = &whole->fn->buf.item[k];
        const int64_t size = ac_dtype_size(b->dtype, b->count);
        sum += bytes[k];
        if (b->role != AC_BUF_SCRATCH)
            *moved += bytes[k] < size ? bytes[k] : size;
    }
    return sum;
}

/* Bytes that step s reads from and writes to all memories but the first. */
static int64_t slow_bytes(const ac_made *a, int32_t s)
{
    const ac_planned *p = a->planned;
    const ac_lowered *low = p->step[s];
    if (!ac_planned_has_several(p))
        return 0;
    int64_t *bytes = AC_NEW_N(a->cx->region, int64_t, low->fn->buf.n + 1), sum = 0;
    ac_live_traffic(low, bytes);
    for (int32_t k = 0; k < low->arg.n; k++) {
        const ac_arg *x = &low->arg.item[k];
        const int32_t i = x->kind == AC_ARG_SCRATCH  ? p->live->scratch_item[s][k]
                          : x->kind == AC_ARG_TENSOR ? p->live->item_of[x->tensor->id]
                                                     : -1;
        if (i >= 0 && p->plan.mem[i] && p->live->problem.mem[p->plan.mem[i]].use == AC_MEM_RAM)
            sum += bytes[k];
    }
    return sum;
}

/* Bytes of constants that all calls of the step read. */
static int64_t weights_read(ac_region *r, const ac_lowered *low)
{
    const ac_lowered *whole = low->uncut ? low->uncut : low;
    int64_t *bytes = AC_NEW_N(r, int64_t, whole->fn->buf.n + 1), sum = 0;
    ac_live_traffic(whole, bytes);
    for (int32_t k = 0; k < whole->arg.n; k++)
        sum += whole->arg.item[k].kind == AC_ARG_CONST ? bytes[k] : 0;
    return sum;
}

static void steps(const ac_made *a, ac_report *r)
{
    const ac_planned *p = a->planned;
    ac_report_step *step = AC_NEW_N(a->cx->region, ac_report_step, p->n_steps + 1);
    ac_code_estimate code = {0};
    bool back = false;
    for (int32_t s = 0; s < p->n_steps; s++) {
        const ac_lowered *low = p->step[s];
        const ac_bytes code_bytes = ac_code_add(&code, a->cx->region, low->fn, a->lowering->set.target);
        step[s] = ac_facts_layer(a->cx, low->node);
        step[s].code = code_bytes;
        step[s].weights = constants_of(low);
        step[s].requant = low->requant;
        step[s].macs = low->macs;
        step[s].scratch = low->scratch;
        step[s].traffic = traffic_of(a->cx->region, low, &step[s].moved);
        step[s].slow = slow_bytes(a, s);
        step[s].read = weights_read(a->cx->region, low);
        r->weights_read += step[s].read;
        back |= low->node->gradient;
        step[s].back = back;
        step[s].again = p->found.is_again && p->found.is_again[s];
        r->macs += low->macs;
        if (low->scratch > r->scratch_bytes)
            r->scratch_bytes = low->scratch;
    }
    r->code_bytes = code.bytes + ac_code_around(&code, p->n_steps, a->lowering->set.target);
    r->n_kernels = code.fn.n;
    share_kernels(a, &code, r);
    ac_facts_steps(a->cx, r, step, p->n_steps);
}

/* Ids of the tensors that have bytes in a memory, in order of first use, then of id; returns how many. */
static int32_t by_first_use(const ac_made *a, int32_t *order)
{
    const ac_planned *p = a->planned;
    const ac_liveness *v = p->live;
    const int32_t n = p->graph->tensor.n, n_steps = p->n_steps ? p->n_steps : 1;
    int32_t *next = AC_NEW_N(a->cx->region, int32_t, n_steps + 1); /* where the next tensor of a step goes */
    for (int32_t i = 0; i < n; i++)
        if (v->item_of[i] >= 0 && v->first[i] >= 0)
            next[v->first[i] + 1]++;
    for (int32_t s = 0; s < n_steps; s++)
        next[s + 1] += next[s];
    const int32_t count = next[n_steps];
    for (int32_t i = 0; i < n; i++)
        if (v->item_of[i] >= 0 && v->first[i] >= 0)
            order[next[v->first[i]]++] = i;
    return count;
}

/* Which step makes each row, and which rows none makes: views, of nodes without a step. They come from where their
 * first operand comes from. */
static void producers(const ac_made *a, ac_report_tensor *row, int32_t n, const int32_t *at, const int32_t *order)
{
    const ac_planned *p = a->planned;
    for (int32_t s = 0; s < p->n_steps; s++) {
        const ac_node *node = p->step[s]->node;
        for (int32_t o = 0; o < node->n_out; o++) {
            const ac_tensor *t = o == 0 ? ac_node_result(node) : node->out[o];
            if (at[t->id] >= 0)
                row[at[t->id]].producer = s;
        }
    }
    for (int32_t k = 0; k < n; k++)
        row[k].through = row[k].producer < 0 && p->graph->tensor.item[order[k]]->def;
    for (int32_t k = 0; k < n; k++) {
        int32_t from = k;
        while (from >= 0 && row[from].through) {
            const ac_node *def = p->graph->tensor.item[order[from]]->def;
            from = def->n_in && def->in[0] ? at[def->in[0]->id] : -1;
        }
        if (from >= 0)
            row[k].producer = row[from].producer;
    }
}

typedef AC_VEC(ac_facts_read) read_list;

static void read_row(const ac_made *a, read_list *read, int32_t *reader, int32_t row, int32_t step, bool by_view)
{
    if (row < 0 || reader[row] == step + 1)
        return;
    reader[row] = step + 1;
    ac_push(a->cx->region, read, ((ac_facts_read){row, step, by_view}));
}

static void tensors(const ac_made *a, ac_report *r)
{
    const ac_planned *p = a->planned;
    const ac_graph *g = p->graph;
    const ac_liveness *v = p->live;
    ac_region *region = a->cx->region;
    int32_t *at = AC_NEW_N(region, int32_t, g->tensor.n + 1), *order = AC_NEW_N(region, int32_t, g->tensor.n + 1);
    const int32_t n = by_first_use(a, order);
    ac_report_tensor *row = AC_NEW_N(region, ac_report_tensor, n + 1);
    for (int32_t i = 0; i < g->tensor.n; i++)
        at[i] = -1;
    for (int32_t k = 0; k < n; k++) {
        const int32_t i = order[k];
        const ac_tensor *t = g->tensor.item[i];
        const ac_tensor *owner = v->owner[v->item_of[i]];
        at[i] = k;
        row[k] = (ac_report_tensor){.name = t->name,
                                    .dtype = ac_dtype_name(t->dtype),
                                    .shape = ac_shape_str(a->cx, t),
                                    .bytes = ac_tensor_bytes(t),
                                    .item = v->item_of[i],
                                    .delta = v->delta[i],
                                    .first = v->first[i],
                                    .last = v->last[i],
                                    .producer = -1,
                                    .alias_how = v->alias_how[i],
                                    .alias_of = v->alias_how[i] && owner ? owner->name : NULL,
                                    .input = t->input,
                                    .output = t->output,
                                    .state = t->state};
    }
    producers(a, row, n, at, order);
    int32_t most = 0; /* operands of one step */
    for (int32_t s = 0; s < p->n_steps; s++) {
        const int32_t k = ac_node_reads(p->step[s]->node, NULL, 0);
        most = k > most ? k : most;
    }
    ac_tensor **list = AC_NEW_N(region, ac_tensor *, most + 1);
    int32_t *reader = AC_NEW_N(region, int32_t, n + 1); /* of each row, the last one known, + 1 */
    read_list read = {0};
    for (int32_t s = 0; s < p->n_steps; s++) {
        const int32_t k = ac_node_reads(p->step[s]->node, list, most);
        int32_t i = read.n;
        for (int32_t o = 0; o < k; o++)
            read_row(a, &read, reader, at[list[o]->id], s, false);
        for (; i < read.n; i++) { /* the reader of a view reads its root */
            const ac_report_tensor *x = &row[read.item[i].row];
            const ac_node *def = x->through ? g->tensor.item[order[read.item[i].row]]->def : NULL;
            for (int32_t o = 0; def && o < def->n_in; o++)
                read_row(a, &read, reader, def->in[o] ? at[def->in[o]->id] : -1, s, true);
        }
    }
    ac_facts_reads(a->cx, r, row, n, read.item, read.n);
}

/* ------------------------------------------------------------------ all of it */

static const ac_report_again *again(const ac_made *a)
{
    const ac_plan_found *f = &a->planned->found;
    if (!f->curve)
        return NULL;
    ac_report_again *to = AC_NEW(a->cx->region, ac_report_again);
    ac_report_point *curve = AC_NEW_N(a->cx->region, ac_report_point, f->n_curve);
    for (int32_t i = 0; i < f->n_curve; i++)
        curve[i] = (ac_report_point){f->curve[i].peak, f->curve[i].again};
    *to = (ac_report_again){.work = f->work,
                            .again = f->again,
                            .least = f->least_again,
                            .least_bytes = f->least_bytes,
                            .curve = curve,
                            .n = f->n_curve};
    return to;
}

/* Every distinct constant of the steps once, as the generated code holds it. */
ac_bytes ac_constant_bytes(ac_region *region, ac_lowered *const *step, int32_t n_steps, int32_t *n)
{
    ac_const_list list = {0};
    ac_bytes sum = 0;
    for (int32_t s = 0; s < n_steps; s++)
        for (int32_t k = 0; k < step[s]->arg.n; k++)
            if (step[s]->arg.item[k].kind == AC_ARG_CONST)
                ac_const_index(region, &list, step[s]->arg.item[k].konst);
    const int32_t *twin = ac_const_twins(region, list.konst.item, list.konst.n, false);
    for (int32_t i = 0; i < list.konst.n; i++)
        if (twin[i] == i)
            sum += ac_const_bytes(list.konst.item[i]);
    *n = list.konst.n;
    return sum;
}

static void constants(const ac_made *a, ac_report *r)
{
    const ac_planned *p = a->planned;
    r->cached = a->lowering->set.cache > 0;
    r->weight_bytes = ac_constant_bytes(a->cx->region, p->step, p->n_steps, &r->n_constants);
    for (int32_t k = 0; k < a->opt->mem.n; k++)
        if (a->opt->mem.item[k].read_only) {
            r->weight_memory = a->opt->mem.item[k].name;
            r->weight_budget = a->opt->mem.item[k].bytes;
        }
}

static void passes(const ac_made *a, ac_report *r)
{
    const ac_passed *p = &a->lowering->passed;
    ac_report_pass *pass = AC_NEW_N(a->cx->region, ac_report_pass, p->n + 1);
    for (int32_t i = 0; i < p->n; i++)
        pass[i] = (ac_report_pass){p->row[i].name, p->row[i].ms, p->row[i].changed};
    r->pass = pass;
    r->n_passes = p->n;
}

ac_report *ac_facts_model(const ac_made *a)
{
    const ac_planned *p = a->planned;
    const ac_imported *m = a->model;
    ac_report *r = ac_facts_open(a, a->packed, ac_facts_title(a, p->graph), a->lowering->set.target->name);
    r->n_file_ops = (int32_t)m->file_ops;
    r->recomputed = p->found.recomputed;
    r->once_bytes = p->found.once_bytes;
    r->again = again(a);
    r->file_order_bytes = p->found.file_order_bytes;
    if (r->problem->n_mems > 1)
        r->state_bytes = p->plan.mem_bytes[1];
    constants(a, r);
    passes(a, r);
    steps(a, r);
    tensors(a, r);
    ac_facts_threads(a, r);
    if (a->lowering->set.target->gpu)
        ac_facts_launches(a->cx, a->lowering->set.target, a->planned, r);
    ac_facts_larger(a->cx, p, r);
    ac_facts_notes(a, r);
    return r;
}

static double instructions_of(const ac_loop_fn *fn)
{
    enum { DEEP = 64 };
    double times[DEEP] = {1}, sum = 0;
    int32_t depth = 0;
    for (int32_t x = 1; x < fn->code.n && depth < DEEP - 1; x++) {
        const ac_ins *i = &fn->code.item[x];
        bool known = false;
        const int64_t n = i->op == AC_L_FOR ? ac_loop_trips(fn, x, &known) : 1;
        if (i->op == AC_L_FOR || i->op == AC_L_IF) {
            times[depth + 1] = times[depth] * (double)n;
            depth++;
        } else if (i->op == AC_L_END) {
            depth--;
        } else if (i->op != AC_L_ELSE && i->op != AC_L_CONST) {
            sum += times[depth];
        }
    }
    return sum;
}

double ac_facts_instructions(const ac_planned *p)
{
    double sum = 0;
    for (int32_t i = 0; i < p->n_steps; i++)
        sum += instructions_of(p->step[i]->fn);
    return sum;
}

/* Tried up to here unless -v requests more: it takes no time that anybody notices. */
enum { SMALL = 8 << 20 }; /* steps times bytes of tensors */

bool ac_facts_try(const ac_made *a)
{
    return a->opt->verbose > 0 || a->report->no_sharing <= SMALL / (a->planned->n_steps + 1);
}

static void what_if(void *with)
{
    const ac_made *a = with;
    const ac_what_if *found;
    ac_progress_begin(a->cx, "trying what takes less", 0);
    const int32_t n = ac_plan_what_if(a->cx, a->how, a->planned, ac_facts_try(a), a->cx->region, &found);
    ac_report_lower *lower = AC_NEW_N(a->cx->region, ac_report_lower, n + 1);
    for (int32_t i = 0; i < n; i++)
        lower[i] = (ac_report_lower){found[i].option, found[i].what, found[i].bytes};
    a->report->lower = lower;
    a->report->n_lower = n;
}

/* Too little memory for it is not a failure. */
void ac_facts_what_if(const ac_made *a)
{
    ac_made at = *a;
    const ac_diags before = a->cx->diags;
    if (a->planned && !a->report->lower && !ac_facts_over_budget(a->packed) &&
        !ac_heap_guard(&a->cx->heap, what_if, &at))
        ac_quietly(a->cx, before, ac_no_memory(a->cx, a->source->path));
}
