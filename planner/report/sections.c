/* sections.c - the rows and the cells of each section; the columns are in sections.def. */
#include "planner/report/section.h"

#include "planner/report/cuts.h"

#include <string.h>

/* Cells, as sections.def makes them. */
#define NONE              ((ac_cell){.kind = AC_CELL_NONE})
#define ABSENT            ((ac_cell){.kind = AC_CELL_ABSENT})
#define TEXT(s)           ((ac_cell){.kind = AC_CELL_TEXT, .text = (s)})
#define CODE(s)           ((ac_cell){.kind = AC_CELL_CODE, .text = (s)})
#define NAME(s, row)      ((ac_cell){.kind = AC_CELL_NAME, .text = (s), .n = (row)})
#define ALIAS(how, as)    ((ac_cell){.kind = AC_CELL_ALIAS, .text = (how), .of = (as)})
#define NUMBER(v)         ((ac_cell){.kind = AC_CELL_NUMBER, .n = (v)})
#define COUNT(v)          ((ac_cell){.kind = AC_CELL_COUNT, .n = (v)})
#define IF(known, cell)   ((known) ? (cell) : NONE)
#define WITH(known, cell) ((known) ? (cell) : ABSENT)
#define KNOWN(v, word)    ((v) < 0 ? (ac_cell){.kind = AC_CELL_NONE, .text = (word)} : COUNT(v)) /* below 0: unknown */
#define SHAPE(s)          ((ac_cell){.kind = AC_CELL_SHAPE, .text = (s)})
#define PRINT(...)        TEXT(ac_strf(s->cx->region, __VA_ARGS__))

#define TYPE(x)             PRINT("%s %s", (x)->dtype, (x)->shape)
#define OF(v, whole)        PRINT("%s of %s", ac_commas(s->cx, v), ac_commas(s->cx, whole))
#define OR_DASH(known, ...) ((known) ? PRINT(__VA_ARGS__) : TEXT("-"))
#define RANGE(form) \
    ((ac_cell){.kind = AC_CELL_ADDRESS, .text = ac_strf(s->cx->region, "0x" form "-0x" form, first, last)})

/* ------------------------------------------------------------------ tensors */

const ac_report_tensor *ac_report_rows(ac_ctx *cx, const ac_report *r, int32_t *n)
{
    const ac_problem *p = r->problem;
    ac_report_tensor *row = AC_NEW_N(cx->region, ac_report_tensor, r->n_tensors + p->n);
    bool *shown = AC_NEW_N(cx->region, bool, p->n);
    for (*n = 0; *n < r->n_tensors; ++*n) {
        row[*n] = r->tensor[*n];
        if (row[*n].item >= 0)
            shown[row[*n].item] = true;
    }
    for (int32_t i = 0; i < p->n; i++) {
        const ac_item *it = &p->item[i];
        if (!shown[i])
            row[(*n)++] = (ac_report_tensor){.name = it->name,
                                             .bytes = it->size,
                                             .item = i,
                                             .first = it->life.begin,
                                             .last = it->life.end - 1,
                                             .producer = -1,
                                             .input = it->kind == AC_ITEM_INPUT,
                                             .output = it->kind == AC_ITEM_OUTPUT,
                                             .state = it->kind == AC_ITEM_STATE};
    }
    return row;
}

static const char *kind_of(const ac_report *r, const ac_report_tensor *x)
{
    if (x->item < 0)
        return "constant";
    if (!x->dtype && r->problem->item[x->item].kind == AC_ITEM_SCRATCH)
        return "scratch";
    return x->state ? "state" : x->input ? "input" : x->output ? "output" : "tensor";
}

/* In place of an address; a constant has none, and the row ends. */
#define CONSTANT ((ac_cell){.kind = AC_CELL_NONE, .text = "constant", .ends = true})

static ac_cell producer_of(const ac_report_tensor *x, const char *else_text)
{
    if (x->producer >= 0)
        return NUMBER(x->producer);
    return (ac_cell){.kind = AC_CELL_NONE, .text = x->state ? "state" : x->input ? "input" : else_text};
}

static ac_cell consumers_of(const ac_report_tensor *x)
{
    return (ac_cell){AC_CELL_LIST, .list = x->consumers, .n = x->n_consumers, .text = x->output ? "output" : NULL};
}

static ac_cell alias_of(const ac_report_tensor *x)
{
    return x->alias_of ? ALIAS(x->alias_how ? x->alias_how : "part", x->alias_of) : NONE;
}

static void tensor_cells(const ac_section *s, int32_t row, ac_cell *cell)
{
    const ac_report_tensor *x = &((const ac_report_tensor *)s->from)[row];
    const bool placed = x->item >= 0;
    const char *memory = placed ? s->r->problem->mem[s->r->plan->mem[x->item]].name : NULL;
    const ac_bytes align = placed ? s->r->problem->item[x->item].align : 0;
    const ac_bytes at = placed ? s->r->plan->offset[x->item] + x->delta : 0;
    const unsigned long long first = (unsigned long long)at,
                             last = first + (unsigned long long)(x->bytes ? x->bytes - 1 : 0);
#define TENSOR(key, title, wide, md, page, value) *cell++ = value;
#include "planner/report/sections.def"
}

static const ac_section_column TENSORS[] = {
#define TENSOR(key, text, wide, md, page, value) {key, text, wide, md, page, 0},
#include "planner/report/sections.def"
};

#define SECTION(key, table, fn, ...) \
    ((ac_section){cx, key, table, sizeof table / sizeof *table, .cells = fn, __VA_ARGS__})

ac_section ac_section_tensors(ac_ctx *cx, const ac_report *r, const ac_name_list *names, const ac_report_tensor *row,
                              int32_t n)
{
    return SECTION("tensors", TENSORS, tensor_cells, .n = n, .names = names, .from = row, .r = r);
}

/* ------------------------------------------------------------------ items, of a problem without a model */

static void item_cells(const ac_section *s, int32_t row, ac_cell *cell)
{
    const ac_item *it = &s->r->problem->item[row];
    const char *memory = s->r->problem->mem[s->r->plan->mem[row]].name;
    const ac_bytes at = s->r->plan->offset[row];
#define ITEM(text, wide, md, value) *cell++ = value;
#include "planner/report/sections.def"
}

static const ac_section_column ITEMS[] = {
#define ITEM(text, wide, md, value) {NULL, text, wide, md, NULL, 0},
#include "planner/report/sections.def"
};

ac_section ac_section_items(ac_ctx *cx, const ac_report *r, const ac_name_list *names)
{
    return SECTION("items", ITEMS, item_cells, .n = r->problem->n, .names = names, .r = r);
}

/* ------------------------------------------------------------------ steps */

enum { ALWAYS = 0, PLANNED = 1, MEASURED = 2, IN_MS = 4, BOUND = 8, INSTRUCTIONS = 16 };

/* After the row in text: "+ RELU  | shift". */
static ac_cell more_of(const ac_section *s, const ac_report_step *x)
{
    return PRINT("%s%s%s%s%s", x->fused ? "+ " : "", x->fused ? x->fused : "", x->fused && x->requant ? "  " : "",
                 x->requant ? "| " : "", x->requant ? x->requant : "");
}

static void step_cells(const ac_section *s, int32_t row, ac_cell *cell)
{
    const ac_layers *l = s->from;
    const ac_report_step *x = &l->step[row];
    const ac_layer_bound *b = l->bound ? &l->bound[row] : NULL;
    const double cost = s->meets & MEASURED ? l->cost[row] : 0, macs = (double)x->macs;
    const bool counted = macs > 0 && cost > 0;
    const char *again = x->again ? " (again)" : "";
#define STEP(key, title, wide, page, when, value) *cell++ = (when) & ~s->meets ? NONE : value;
#include "planner/report/sections.def"
}

static const ac_section_column STEPS[] = {
#define STEP(key, title, wide, page, when, value) {key, title, wide, title, page, when},
#include "planner/report/sections.def"
};

ac_section ac_section_steps(ac_ctx *cx, const ac_layers *l)
{
    ac_section s = SECTION("steps", STEPS, step_cells, .n = l->n, .names = l->names, .fit = 24, .from = l);
    s.meets = (l->planned ? PLANNED : 0) | (l->unit != AC_LAYER_NONE ? MEASURED : 0) |
              (l->unit == AC_LAYER_MS ? IN_MS : 0) | (l->unit == AC_LAYER_MS && l->bound ? BOUND : 0) |
              (l->unit == AC_LAYER_INSTRUCTIONS ? INSTRUCTIONS : 0);
    const char **name = AC_NEW_N(cx->region, const char *, l->n + 1);
    for (int32_t i = 0; i < l->n; i++) {
        name[i] = l->step[i].name;
        s.sum += s.meets & MEASURED ? l->cost[i] : 0;
    }
    if (!s.names)
        s.names = ac_names_new(cx, name, l->n);
    return s;
}

void ac_layers_text(ac_sink *to, const ac_layers *l)
{
    const ac_section s = ac_section_steps(to->cx, l);
    ac_section_text(to, &s);
}

/* ------------------------------------------------------------------ launches */

static void launch_cells(const ac_section *s, int32_t row, ac_cell *cell)
{
    const ac_report_launch *x = &s->r->launch[row];
    const char *op = s->r->step[x->step].op;
#define LAUNCH(key, title, value) *cell++ = value;
#include "planner/report/sections.def"
}

static const ac_section_column LAUNCHES[] = {
#define LAUNCH(key, title, value) {key, title, AC_RIGHT, title, NULL, 0},
#include "planner/report/sections.def"
};

ac_section ac_section_launches(ac_ctx *cx, const ac_report *r)
{
    return SECTION("launches", LAUNCHES, launch_cells, .n = r->n_launches, .r = r);
}

/* ------------------------------------------------------------------ dead channels */

static void cut_cells(const ac_section *s, int32_t row, ac_cell *cell)
{
    const ac_report_cut *x = &((const ac_report_cut *)s->from)[row];
#define CUT(key, title, wide, md, value) *cell++ = value;
#include "planner/report/sections.def"
}

static const ac_section_column CUTS[] = {
#define CUT(key, text, wide, md, value) {key, text, wide, md, NULL, 0},
#include "planner/report/sections.def"
};

ac_section ac_section_cuts(ac_ctx *cx, const ac_report_cut *row, int32_t n)
{
    return SECTION("operators", CUTS, cut_cells, .n = n, .from = row);
}

/* ------------------------------------------------------------------ the peak */

static bool reads(const ac_report_tensor *x, ac_step step)
{
    for (int32_t k = 0; k < x->n_consumers; k++)
        if (x->consumers[k] == step)
            return true;
    return false;
}

/* The role of a tensor in the step at the peak, and the end of its life. */
static const char *role_of(const ac_section *s, const ac_report_tensor *x)
{
    ac_region *mem = s->cx->region;
    const ac_step step = s->step, last = x->last;
    if (ac_report_is_intervals(s->r))
        return ac_strf(mem, "steps %d to %d", x->first, last);
    const char *is = x->producer == step ? "output, " : reads(x, step) ? "input, " : last > step ? "waiting, " : "";
    if (x->output && last >= s->r->n_steps - 1)
        return ac_strf(mem, "%skept to the end", is);
    if (last <= step)
        return ac_strf(mem, "%sdead afterwards", is);
    if (s->meets & AC_BRIEF || last >= s->r->n_steps)
        return ac_strf(mem, "%sto step %d", is, last);
    const char *op = s->r->step[last].op;
    return ac_strf(mem, "%sread last by %d %.*s", is, last, (int)strcspn(op, " "), op);
}

/* Of an item that is not a tensor. */
static const char *life_of(const ac_section *s, const ac_item *it)
{
    const char *kind = it->kind == AC_ITEM_SCRATCH ? "scratch" : "";
    if (*kind && it->life.end == it->life.begin + 1)
        return kind; /* of this step alone */
    return ac_strf(s->cx->region, "%s%ssteps %d to %d", kind, *kind ? ", " : "", it->life.begin, it->life.end - 1);
}

static void alive_cells(const ac_section *s, int32_t row, ac_cell *cell)
{
    const ac_report_alive *a = &((const ac_report_alive *)s->from)[row];
    const ac_report_tensor *x = a->tensor >= 0 ? &s->r->tensor[a->tensor] : NULL;
    const ac_item *it = &s->r->problem->item[a->item];
    const unsigned long long first = (unsigned long long)s->r->plan->offset[a->item],
                             last = first + (unsigned long long)(it->size ? it->size - 1 : 0);
#define ALIVE(text, wide, value) *cell++ = value;
#include "planner/report/sections.def"
}

static const ac_section_column PEAK[] = {
#define ALIVE(text, wide, value) {NULL, text, wide, NULL, NULL, 0},
#include "planner/report/sections.def"
};

ac_section ac_section_peak(ac_ctx *cx, const ac_report *r, const ac_name_list *names, int32_t mem)
{
    ac_section s = SECTION("peak", PEAK, alive_cells, .names = names, .r = r, .step = ac_report_peak_of(r, mem));
    s.from = ac_report_alive_at(cx, r, mem, s.step, &s.n);
    return s;
}

/* ------------------------------------------------------------------ constants larger than in the file */

static void larger_cells(const ac_section *s, int32_t row, ac_cell *cell)
{
    const ac_report_larger *x = &s->r->larger[row];
#define LARGER(key, value) *cell++ = value;
#include "planner/report/sections.def"
}

static const ac_section_column LARGERS[] = {
#define LARGER(key, value) {key, NULL, 0, NULL, NULL, 0},
#include "planner/report/sections.def"
};

ac_section ac_section_larger(ac_ctx *cx, const ac_report *r)
{
    return SECTION("larger_constants", LARGERS, larger_cells, .n = r->n_larger, .r = r);
}

/* ------------------------------------------------------------------ options that take less */

#define LESS(x)                                                   \
    PRINT("%11s B  (%.0f %%)   %s", ac_commas(s->cx, (x)->bytes), \
          ac_report_percent((x)->bytes - s->r->plan->arena_bytes, s->r->plan->arena_bytes), (x)->what)

static void lower_cells(const ac_section *s, int32_t row, ac_cell *cell)
{
    const ac_report_lower *x = &s->r->lower[row];
#define LOWER(key, text, wide, value) *cell++ = value;
#include "planner/report/sections.def"
}

static const ac_section_column LOWERS[] = {
#define LOWER(key, text, wide, value) {key, text, wide, NULL, NULL, 0},
#include "planner/report/sections.def"
};

ac_section ac_section_lower(ac_ctx *cx, const ac_report *r)
{
    return SECTION("lower", LOWERS, lower_cells, .n = r->n_lower, .r = r);
}
