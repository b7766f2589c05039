/* facts_model.c - the report of a model's plan: its steps, tensors, constants, notes. */
#include "driver/stage.h"

#include "codegen/bind.h"
#include "codegen/code_size.h"
#include "codegen/constants.h"
#include "codegen/share_pieces.h"
#include "ir/loop/access/traffic.h"
#include "ir/pass/pass.h"
#include "planner/graph/overlap.h"
#include "planner/report/cuts.h"

#include <string.h>

/* What compile will make of equal kernels. */
static void share_kernels(arenac *a, const ac_code_estimate *code)
{
    const ac_settings *s = &a->lowering->set;
    const ac_share_set set = {
        .fn = code->fn.item, .calls = code->calls.item, .n = code->fn.n, .target = s->target, .price = s->share};
    const ac_share_group *group = s->share ? ac_share_groups(a->cx.region, &set) : NULL;
    ac_bytes saved = 0;
    for (int32_t f = 0; group && f < set.n; f++) {
        saved += group[f].saved;
        a->report->n_kernels -= !group[f].n;
        ac_share_pieces(&a->cx, a->cx.region, set.fn[f], set.target, set.price, &saved);
    }
    a->report->code_bytes -= saved;
}

/* As the code holds them. */
static ac_bytes constants_of(const ac_lowered *low)
{
    ac_bytes sum = 0;
    for (int32_t k = 0; k < low->arg.n; k++)
        if (low->arg.item[k].kind == AC_ARG_CONST)
            sum += ac_dtype_size(low->arg.item[k].konst->dtype, low->arg.item[k].konst->count);
    return sum;
}

/* Bytes that its loops read and write, by their bounds. */
static int64_t traffic_of(ac_region *r, const ac_lowered *low)
{
    int64_t *bytes = AC_NEW_N(r, int64_t, low->fn->buf.n + 1), sum = 0;
    ac_loop_traffic(low->fn, bytes);
    for (int32_t k = 0; k < low->arg.n; k++)
        if (low->arg.item[k].kind != AC_ARG_CHUNK)
            sum += bytes[k];
    return sum * (low->chunks ? low->chunks : low->rows ? low->rows : 1);
}

static void steps(arenac *a)
{
    ac_report *r = a->report;
    const ac_planned *p = a->planned;
    ac_report_step *step = AC_NEW_N(a->cx.region, ac_report_step, p->n_steps + 1);
    ac_code_estimate code = {0};
    bool back = false;
    for (int32_t s = 0; s < p->n_steps; s++) {
        const ac_lowered *low = p->step[s];
        const ac_bytes code_bytes = ac_code_add(&code, a->cx.region, low->fn, a->lowering->set.target);
        step[s] = ac_facts_layer(&a->cx, low->node);
        step[s].code = code_bytes;
        step[s].weights = constants_of(low);
        step[s].requant = low->requant;
        step[s].macs = low->macs;
        step[s].scratch = low->scratch;
        step[s].traffic = traffic_of(a->cx.region, low);
        back |= low->node->gradient;
        step[s].back = back;
        step[s].again = p->found.is_again && p->found.is_again[s];
        r->macs += low->macs;
        if (low->scratch > r->scratch_bytes)
            r->scratch_bytes = low->scratch;
    }
    r->code_bytes = code.bytes + ac_code_around(&code, p->n_steps, a->lowering->set.target);
    r->n_kernels = code.fn.n;
    share_kernels(a, &code);
    ac_facts_steps(a, step, p->n_steps);
}

/* Ids of the tensors that have bytes in a memory, in order of first use, then of id; returns how many. */
static int32_t by_first_use(arenac *a, int32_t *order)
{
    const ac_planned *p = a->planned;
    const ac_liveness *v = p->live;
    const int32_t n = p->graph->tensor.n, n_steps = p->n_steps ? p->n_steps : 1;
    int32_t *next = AC_NEW_N(a->cx.region, int32_t, n_steps + 1); /* where the next tensor of a step goes */
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
static void producers(const arenac *a, ac_report_tensor *row, int32_t n, const int32_t *at, const int32_t *order)
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

static void read_row(arenac *a, read_list *read, int32_t *reader, int32_t row, int32_t step, bool by_view)
{
    if (row < 0 || reader[row] == step + 1)
        return;
    reader[row] = step + 1;
    ac_push(a->cx.region, read, ((ac_facts_read){row, step, by_view}));
}

static void tensors(arenac *a)
{
    const ac_planned *p = a->planned;
    const ac_graph *g = p->graph;
    const ac_liveness *v = p->live;
    ac_region *region = a->cx.region;
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
                                    .shape = ac_shape_str(&a->cx, t),
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
        for (; i < read.n; i++) { /* who reads a view reads what it is made of */
            const ac_report_tensor *x = &row[read.item[i].row];
            const ac_node *def = x->through ? g->tensor.item[order[read.item[i].row]]->def : NULL;
            for (int32_t o = 0; def && o < def->n_in; o++)
                read_row(a, &read, reader, def->in[o] ? at[def->in[o]->id] : -1, s, true);
        }
    }
    ac_facts_reads(a, row, n, read.item, read.n);
}

/* ------------------------------------------------------------------ notes */

typedef AC_VEC(const char *) note_list;

static const char *plural(int32_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

static void inputs_overwritten(arenac *a, note_list *note)
{
    const ac_planned *p = a->planned;
    const ac_graph *g = p->graph;
    for (int32_t i = 0; i < g->input.n; i++) {
        const ac_tensor *t = g->input.item[i];
        const int32_t item = p->live->item_of[t->id];
        if (item >= 0 && p->live->problem.item[item].life.end < p->n_steps)
            ac_push(a->cx.region, note,
                    ac_strf(a->cx.region, "input '%s' may be overwritten from step %d on; --preserve input keeps it",
                            t->name, p->live->problem.item[item].life.end));
    }
}

static void inputs_streamed(arenac *a, note_list *note)
{
    const ac_planned *p = a->planned;
    for (int32_t s = 0; s < p->n_steps; s++)
        if (p->step[s]->streamed)
            ac_push(a->cx.region, note,
                    ac_strf(a->cx.region, "input '%s' is handed over by rows, %d of %s B each, and not in the arena",
                            p->step[s]->streamed->name, p->step[s]->rows, ac_commas(&a->cx, p->step[s]->row_bytes)));
}

/* Views, results in place, results that start inside operands. */
static void bytes_shared(arenac *a, note_list *note)
{
    ac_region *r = a->cx.region;
    const ac_liveness *v = a->planned->live;
    int32_t views = 0, inplace = 0, overlaps = 0, windows = 0;
    for (int32_t i = 0; i < a->planned->graph->tensor.n; i++)
        if (v->alias_how[i])
            *(v->alias_how[i][0] == 'v' ? &views : &inplace) += 1;
    for (int32_t k = 0; v->overlaps && k < v->overlaps->n; k++)
        if (v->problem.item[v->problem.pair[k].b].kind == AC_ITEM_SCRATCH)
            windows += v->overlaps->rule[k].shares;
        else
            overlaps += v->overlaps->rule[k].shares;
    if (views)
        ac_push(r, note, ac_strf(r, "%d tensor%s nothing (views)", views, plural(views, " costs", "s cost")));
    if (inplace)
        ac_push(r, note, ac_strf(r, "%d result%s computed in place", inplace, plural(inplace, " is", "s are")));
    if (overlaps)
        ac_push(r, note,
                ac_strf(r, "%d result%s inside an operand that dies (overlap)", overlaps,
                        plural(overlaps, " starts", "s start")));
    if (windows)
        ac_push(r, note,
                ac_strf(r, "%d window%s over what has been read of an operand that dies (overlap)", windows,
                        plural(windows, " lies", "s lie")));
}

static void groups_of_steps(arenac *a, note_list *note)
{
    const ac_planned *p = a->planned;
    for (int32_t s = 0; s < p->n_steps; s++)
        if (p->step[s]->chain)
            ac_push(a->cx.region, note,
                    ac_strf(a->cx.region, "step %d works row by row, %s B between its operators: %s", s,
                            ac_commas(&a->cx, p->step[s]->scratch), p->step[s]->chain));
}

/* ", 1,234 multiply-adds and results more (3.4 %), and no plan does with less" */
static const char *work_again(arenac *a, const ac_plan_found *f)
{
    ac_region *r = a->cx.region;
    const double percent = 100 / (double)(f->work ? f->work : 1);
    if (!f->again)
        return "";
    const char *more = ac_strf(r, ", %s multiply-adds and results more (%.2g %%)", ac_commas(&a->cx, f->again),
                               (double)f->again * percent);
    if (f->least_again == f->again)
        return ac_strf(r, "%s: optimal, no plan in this order and as many bytes does with less", more);
    return f->least_again < 0 ? more
                              : ac_strf(r, "%s; no plan in this order and as many bytes does with less than %.2g %%",
                                        more, (double)f->least_again * percent);
}

static void recomputed(arenac *a, note_list *note)
{
    ac_region *r = a->cx.region;
    const ac_planned *p = a->planned;
    const ac_plan_found *f = &p->found;
    if (f->recomputed)
        ac_push(r, note,
                ac_strf(r, "recomputed: %d step%s %s, %s B less than once (%s B)%s", f->recomputed,
                        plural(f->recomputed, " runs", "s run"), f->curve ? "again" : "twice",
                        ac_commas(&a->cx, f->once_bytes - p->plan.arena_bytes), ac_commas(&a->cx, f->once_bytes),
                        work_again(a, f)));
    else if (a->opt.recompute && !p->groups && !a->lowering->set.reference)
        ac_push(r, note, "recomputed: nothing; no smaller arena was found");
}

static const ac_report_again *again(arenac *a)
{
    const ac_plan_found *f = &a->planned->found;
    if (!f->curve)
        return NULL;
    ac_report_again *to = AC_NEW(a->cx.region, ac_report_again);
    ac_report_point *curve = AC_NEW_N(a->cx.region, ac_report_point, f->n_curve);
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

static void dead_channels(arenac *a, note_list *note)
{
    const ac_cuts *from = a->lowering->cuts;
    if (!from)
        return;
    ac_report_cut *row = AC_NEW_N(a->cx.region, ac_report_cut, from->n + 1);
    ac_report_cuts *cuts = AC_NEW(a->cx.region, ac_report_cuts);
    for (int32_t k = 0; k < from->n; k++) {
        const ac_cut_row *x = &from->row[k];
        row[k] = (ac_report_cut){x->name,        x->op,   x->channels,  x->gone,  x->inputs,
                                 x->inputs_gone, x->macs, x->macs_gone, x->bytes, x->bytes_gone};
    }
    *cuts = (ac_report_cuts){row, from->n, from->same};
    a->report->cuts = cuts;
    if (a->opt.verbose > 0 || cuts->same || ac_report_cuts_any(cuts))
        ac_push(a->cx.region, note, ac_report_cuts_note(&a->cx, cuts));
}

/* Products of dequantised bytes: how many are of bytes, and why others are not. */
static void products_of_bytes(arenac *a, note_list *note)
{
    const ac_products *p = a->products;
    ac_region *r = a->cx.region;
    if (!p || p->integers + p->floats == 0)
        return;
    const char *rest = p->floats ? ac_strf(r, "; %d in floats: %s", p->floats, p->why) : "";
    ac_push(r, note,
            ac_strf(r, "%d product%s of dequantised bytes %s by integer kernels, within one step of exact arithmetic%s",
                    p->integers, plural(p->integers, "", "s"), plural(p->integers, "runs", "run"), rest));
}

/* What of the state is what. */
static void step_of_training(arenac *a, note_list *note)
{
    const ac_train_step *s = a->step;
    ac_region *r = a->cx.region;
    int64_t trained = 0, running = 0, kept = 0;
    int32_t n = 0;
    if (!s)
        return;
    for (int32_t i = 0; i < s->weight.n; i++) {
        *(s->weight.item[i].running ? &running : &trained) += ac_tensor_bytes(s->weight.item[i].state);
        n += !s->weight.item[i].running;
    }
    for (int32_t i = 0; i < s->slot.n; i++)
        kept += ac_tensor_bytes(s->slot.item[i].state);
    ac_push(r, note,
            ac_strf(r,
                    "a step of training: state is %d weights that train, %s B, running statistics, %s B, and the "
                    "optimizer's, %s B",
                    n, ac_commas(&a->cx, trained), ac_commas(&a->cx, running), ac_commas(&a->cx, kept)));
    if (s->sums)
        ac_push(r, note,
                ac_strf(r, "the gradients of a micro-batch, %s B, %d of which are a step, are state too",
                        ac_commas(&a->cx, ac_tensor_bytes(s->sums)), s->spec->micro_batches));
}

/* Outputs that lie in the bytes of inputs; each by itself where all of it is written, or with -v. */
static void kept_outputs(arenac *a, note_list *note)
{
    ac_region *r = a->cx.region;
    int64_t bytes = 0;
    int32_t in_place = 0;
    for (int32_t i = 0; i < a->n_kept; i++) {
        bytes += ac_tensor_bytes(a->kept[i].state);
        in_place += a->kept[i].in_place;
    }
    if (a->guess)
        ac_push(r, note, a->guess);
    if (!a->n_kept)
        return;
    ac_push(r, note,
            ac_strf(r, "%d output%s kept in place of input%s, %s B: of %d only what changes is written", a->n_kept,
                    plural(a->n_kept, " is", "s are"), plural(a->n_kept, "", "s"), ac_commas(&a->cx, bytes), in_place));
    for (int32_t i = 0; i < a->n_kept; i++)
        if (a->opt.verbose > 0 || !a->kept[i].in_place)
            ac_push(
                r, note,
                ac_strf(r, "'%s' in place of '%s': %s", a->kept[i].output_name, a->kept[i].input_name, a->kept[i].how));
}

static void notes(arenac *a)
{
    note_list note = {0};
    const ac_imported *m = a->model;
    step_of_training(a, &note);
    kept_outputs(a, &note);
    inputs_overwritten(a, &note);
    inputs_streamed(a, &note);
    bytes_shared(a, &note);
    groups_of_steps(a, &note);
    if (a->how->reductions & AC_REDUCE(ORDER))
        ac_push(a->cx.region, &note, ac_facts_order_note(a, &a->planned->found, ""));
    recomputed(a, &note);
    dead_channels(a, &note);
    products_of_bytes(a, &note);
    if (m->missing.n)
        ac_push(a->cx.region, &note,
                ac_strf(a->cx.region, "%d parameters have no values yet: %s should hold them", m->missing.n,
                        m->missing_file));
    a->report->notes = note.item;
    a->report->n_notes = note.n;
}

/* ------------------------------------------------------------------ all of it */

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
            sum += ac_dtype_size(list.konst.item[i]->dtype, list.konst.item[i]->count);
    *n = list.konst.n;
    return sum;
}

static void constants(arenac *a)
{
    ac_report *r = a->report;
    const ac_planned *p = a->planned;
    r->weight_bytes = ac_constant_bytes(a->cx.region, p->step, p->n_steps, &r->n_constants);
    for (int32_t k = 0; k < a->opt.mem.n; k++)
        if (a->opt.mem.item[k].read_only) {
            r->weight_memory = a->opt.mem.item[k].name;
            r->weight_budget = a->opt.mem.item[k].bytes;
        }
}

static void passes(arenac *a)
{
    const ac_lowering *low = a->lowering;
    ac_report_pass *pass = AC_NEW_N(a->cx.region, ac_report_pass, low->n_passes + 1);
    for (int32_t i = 0; i < low->n_passes; i++)
        pass[i] = (ac_report_pass){low->pass[i].name, low->pass[i].ms, low->pass[i].changed};
    a->report->pass = pass;
    a->report->n_passes = low->n_passes;
}

void ac_facts_model(arenac *a)
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
    constants(a);
    passes(a);
    steps(a);
    tensors(a);
    ac_facts_threads(a);
    notes(a);
}

/* Tried up to here unless -v requests more: it takes no time that anybody notices. */
enum { SMALL = 8 << 20 }; /* steps times bytes of tensors */

static int what_if_stage(arenac *a, void *arg)
{
    ac_report *r = a->report;
    const ac_what_if *found;
    ac_progress_begin(&a->cx, "trying what takes less", 0);
    const bool try = a->opt.verbose > 0 || r->no_sharing <= SMALL / (a->planned->n_steps + 1);
    const int32_t n = ac_plan_what_if(&a->cx, a->how, a->planned, try, a->cx.region, &found);
    ac_report_lower *lower = AC_NEW_N(a->cx.region, ac_report_lower, n + 1);
    (void)arg;
    for (int32_t i = 0; i < n; i++)
        lower[i] = (ac_report_lower){found[i].option, found[i].what, found[i].bytes};
    r->lower = lower;
    r->n_lower = n;
    return AC_OK;
}

/* Not having the memory for it is no failure. */
void ac_facts_what_if(arenac *a)
{
    const ac_diags before = a->cx.diags;
    if (a->planned && !a->report->lower && !ac_facts_over_budget(a))
        ac_quietly(&a->cx, before, ac_guard(a, what_if_stage, NULL));
}
