/* facts_notes.c - the notes of a report: changes to the plan that no option requested, and the reasons against
 * others. */
#include "driver/facts/facts.h"

#include "ir/pass/pass.h"
#include "planner/graph/overlap.h"
#include "planner/report/cuts.h"

typedef AC_VEC(const char *) note_list;

static const char *plural(int32_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

static void inputs_overwritten(const ac_made *a, note_list *note)
{
    const ac_planned *p = a->planned;
    const ac_graph *g = p->graph;
    for (int32_t i = 0; i < g->input.n; i++) {
        const ac_tensor *t = g->input.item[i];
        const int32_t item = p->live->item_of[t->id];
        if (item >= 0 && p->live->problem.item[item].life.end < p->n_steps)
            ac_push(a->cx->region, note,
                    ac_strf(a->cx->region, "input '%s' may be overwritten from step %d on; --preserve input keeps it",
                            t->name, p->live->problem.item[item].life.end));
    }
}

static void inputs_streamed(const ac_made *a, note_list *note)
{
    const ac_planned *p = a->planned;
    for (int32_t s = 0; s < p->n_steps; s++)
        if (p->step[s]->streamed)
            ac_push(a->cx->region, note,
                    ac_strf(a->cx->region, "input '%s' is handed over by rows, %d of %s B each, and not in the arena",
                            p->step[s]->streamed->name, p->step[s]->rows, ac_commas(a->cx, p->step[s]->row_bytes)));
}

/* Views, results in place, results that start inside operands. */
static void bytes_shared(const ac_made *a, note_list *note)
{
    ac_region *r = a->cx->region;
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

/* " in 3 strips of columns, 1,234 B of columns that two of them need in slower memory" */
static const char *strips_text(const ac_made *a, const ac_lowered *low)
{
    ac_bytes kept = 0;
    for (int32_t k = 0; k < low->arg.n; k++)
        kept += low->arg.item[k].rest ? low->arg.item[k].bytes : 0;
    if (!low->strips)
        return "";
    const char *text = ac_strf(a->cx->region, " in %d strips of columns", low->strips);
    return kept ? ac_strf(a->cx->region, "%s, %s B of columns that two of them need in slower memory", text,
                          ac_commas(a->cx, kept))
                : text;
}

static void groups_of_steps(const ac_made *a, note_list *note)
{
    const ac_planned *p = a->planned;
    for (int32_t s = 0; s < p->n_steps; s++)
        if (p->step[s]->chain)
            ac_push(a->cx->region, note,
                    ac_strf(a->cx->region, "step %d works row by row%s, %s B between its operators: %s", s,
                            strips_text(a, p->step[s]), ac_commas(a->cx, p->step[s]->scratch), p->step[s]->chain));
}

/* ", 1,234 multiply-adds and results more (3.4 %), and no plan does with less" */
static const char *work_again(const ac_made *a, const ac_plan_found *f)
{
    ac_region *r = a->cx->region;
    const double percent = 100 / (double)(f->work ? f->work : 1);
    if (!f->again)
        return "";
    const char *more = ac_strf(r, ", %s multiply-adds and results more (%.2g %%)", ac_commas(a->cx, f->again),
                               (double)f->again * percent);
    if (f->least_again == f->again)
        return ac_strf(r, "%s: optimal, no plan in this order and as many bytes does with less", more);
    return f->least_again < 0 ? more
                              : ac_strf(r, "%s; no plan in this order and as many bytes does with less than %.2g %%",
                                        more, (double)f->least_again * percent);
}

static void recomputed(const ac_made *a, note_list *note)
{
    ac_region *r = a->cx->region;
    const ac_planned *p = a->planned;
    const ac_plan_found *f = &p->found;
    if (f->recomputed)
        ac_push(r, note,
                ac_strf(r, "recomputed: %d step%s %s, %s B less than once (%s B)%s", f->recomputed,
                        plural(f->recomputed, " runs", "s run"), f->curve ? "again" : "twice",
                        ac_commas(a->cx, f->once_bytes - p->plan.arena_bytes), ac_commas(a->cx, f->once_bytes),
                        work_again(a, f)));
    else if (a->opt->recompute && !p->groups && !a->lowering->set.reference)
        ac_push(r, note, "recomputed: nothing; no smaller arena was found");
}

static void dead_channels(const ac_made *a, ac_report *to, note_list *note)
{
    const ac_cuts *from = a->lowering->passed.cuts;
    if (!from)
        return;
    ac_report_cut *row = AC_NEW_N(a->cx->region, ac_report_cut, from->n + 1);
    ac_report_cuts *cuts = AC_NEW(a->cx->region, ac_report_cuts);
    for (int32_t k = 0; k < from->n; k++) {
        const ac_cut_row *x = &from->row[k];
        row[k] = (ac_report_cut){x->name,        x->op,   x->channels,  x->gone,  x->inputs,
                                 x->inputs_gone, x->macs, x->macs_gone, x->bytes, x->bytes_gone};
    }
    *cuts = (ac_report_cuts){row, from->n, from->same};
    to->cuts = cuts;
    if (a->opt->verbose > 0 || cuts->same || ac_report_cuts_any(cuts))
        ac_push(a->cx->region, note, ac_report_cuts_note(a->cx, cuts));
}

/* Products of dequantised bytes: how many are of bytes, and why others are not. */
static void products_of_bytes(const ac_made *a, note_list *note)
{
    const ac_products *p = a->lowering->passed.products;
    ac_region *r = a->cx->region;
    if (!p || p->integers + p->floats == 0)
        return;
    const char *rest = p->floats ? ac_strf(r, "; %d in floats: %s", p->floats, p->why) : "";
    ac_push(r, note,
            ac_strf(r, "%d product%s of dequantised bytes %s by integer kernels, within one step of exact arithmetic%s",
                    p->integers, plural(p->integers, "", "s"), plural(p->integers, "runs", "run"), rest));
}

/* Inputs and outputs that are texts: the program takes and gives their codes. */
static void texts(const ac_made *a, note_list *note)
{
    const ac_graph *g = a->lowering->graph;
    const ac_vocabulary *w = ac_graph_words(g);
    ac_region *r = a->cx->region;
    const char *list = "";
    for (int32_t i = 0; w && i < g->input.n + g->output.n; i++) {
        const ac_tensor *t = i < g->input.n ? g->input.item[i] : g->output.item[i - g->input.n];
        if (t->words)
            list = ac_strf(r, "%s%s'%s'", list, *list ? ", " : "", t->name);
    }
    if (*list)
        ac_push(r, note, ac_strf(r, "codes of %d text%s stand for the texts in %s", w->n, plural(w->n, "", "s"), list));
}

bool ac_facts_has_ahead(const ac_made *a, bool *off)
{
    const ac_ahead *p = a->lowering->passed.ahead;
    *off = p && p->off;
    return p && p->n && !a->lowering->set.target->gpu;
}

/* Products with sequences, before their loops or in them, and the option for the other. */
static void products_ahead(const ac_made *a, note_list *note)
{
    const ac_ahead *p = a->lowering->passed.ahead;
    ac_region *r = a->cx->region;
    bool off;
    if (!ac_facts_has_ahead(a, &off))
        return;
    ac_push(r, note,
            ac_strf(r,
                    off ? "products with inputs are computed in each step of a loop; --ahead on computes those of all "
                          "steps before it: %s B of results, fewer instructions"
                        : "products with the inputs of all steps are computed before their loop: %s B of results, "
                          "which --ahead off does without, with more instructions",
                    ac_commas(a->cx, p->bytes)));
}

/* The numbers of floats that are stored in 16 bits, and of all. */
static void floats_stored(const ac_made *a, note_list *note)
{
    static const char *const KIND[] = {"weights", "activations", "state"};
    const ac_storage *s = a->lowering->passed.storage;
    ac_region *r = a->cx->region;
    if (!s)
        return;
    const char *list = "";
    for (int32_t k = 0; k < 3; k++)
        if (s->all[k])
            list = ac_strf(r, "%s%s%d of %d %s (%s B)", list, *list ? ", " : "", s->tensors[k], s->all[k], KIND[k],
                           ac_commas(a->cx, s->bytes[k]));
    ac_push(r, note,
            ac_strf(r, "floats in memory are %s where they may be: %s; arithmetic is f32", ac_dtype_name(s->type),
                    *list ? list : "none"));
}

/* The parts of the state of a step of training. */
static void step_of_training(const ac_made *a, note_list *note)
{
    const ac_train_step *s = a->lowering->passed.step;
    ac_region *r = a->cx->region;
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
                    n, ac_commas(a->cx, trained), ac_commas(a->cx, running), ac_commas(a->cx, kept)));
    if (s->sums)
        ac_push(r, note,
                ac_strf(r, "the gradients of a micro-batch, %s B, %d of which are a step, are state too",
                        ac_commas(a->cx, ac_tensor_bytes(s->sums)), s->spec->micro_batches));
}

/* Outputs that are stored in place of inputs; one note each with -v, or if a run writes all of it. */
static void kept_outputs(const ac_made *a, note_list *note)
{
    ac_region *r = a->cx->region;
    int64_t bytes = 0;
    int32_t in_place = 0;
    for (int32_t i = 0; i < a->lowering->passed.n_kept; i++) {
        bytes += ac_tensor_bytes(a->lowering->passed.kept[i].state);
        in_place += a->lowering->passed.kept[i].in_place;
    }
    if (a->lowering->passed.guess)
        ac_push(r, note, a->lowering->passed.guess);
    if (!a->lowering->passed.n_kept)
        return;
    ac_push(r, note,
            ac_strf(r, "%d output%s kept in place of input%s, %s B: of %d only what changes is written",
                    a->lowering->passed.n_kept, plural(a->lowering->passed.n_kept, " is", "s are"),
                    plural(a->lowering->passed.n_kept, "", "s"), ac_commas(a->cx, bytes), in_place));
    for (int32_t i = 0; i < a->lowering->passed.n_kept; i++)
        if (a->opt->verbose > 0 || !a->lowering->passed.kept[i].in_place)
            ac_push(r, note,
                    ac_strf(r, "'%s' in place of '%s': %s", a->lowering->passed.kept[i].output_name,
                            a->lowering->passed.kept[i].input_name, a->lowering->passed.kept[i].how));
}

/* Constants that take more read-only memory than in the file: a few, and with -v all. */
static void larger_constants(const ac_made *a, const ac_report *to, note_list *note)
{
    enum { A_FEW = 4 };
    ac_region *r = a->cx->region;
    const int32_t n = a->opt->verbose > 0 || to->n_larger <= A_FEW ? to->n_larger : A_FEW;
    ac_bytes more = 0;
    for (int32_t i = 0; i < to->n_larger; i++) {
        const ac_report_larger *x = &to->larger[i];
        if (i < n)
            ac_push(r, note,
                    ac_strf(r, "'%s': %s B in ROM, %s B in the file: stored as %s, because %s", x->name,
                            ac_commas(a->cx, x->bytes), ac_commas(a->cx, x->in_file), x->dtype, x->why));
        else
            more += x->bytes - x->in_file;
    }
    if (n < to->n_larger)
        ac_push(r, note,
                ac_strf(r, "%d more constant%s %s B more in ROM than in the file (-v names them)", to->n_larger - n,
                        plural(to->n_larger - n, " takes", "s take"), ac_commas(a->cx, more)));
}

void ac_facts_notes(const ac_made *a, ac_report *r)
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
        ac_push(a->cx->region, &note, ac_facts_order_note(a->cx, &a->planned->found, &a->planned->plan, ""));
    recomputed(a, &note);
    dead_channels(a, r, &note);
    products_of_bytes(a, &note);
    texts(a, &note);
    products_ahead(a, &note);
    floats_stored(a, &note);
    larger_constants(a, r, &note);
    if (m->missing.n)
        ac_push(a->cx->region, &note,
                ac_strf(a->cx->region, "%d parameters have no values yet: %s should hold them", m->missing.n,
                        m->missing_file));
    r->notes = note.item;
    r->n_notes = note.n;
}
