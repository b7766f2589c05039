/* html_data.c - the plan as data for the script of the page: columns by planner, item, row and step. It is private to
 * the page: docs/reports.md names what tests may rely on. */
#include "base/json_out.h"
#include "planner/report/picture.h"
#include "planner/report/section.h"
#include "planner/report/threads.h"

#include <string.h>

typedef struct data {
    ac_json j;
    const ac_picture *pic;
    const ac_report *r;
    const ac_plan **plan; /* the report's own first */
    int32_t n_plans;
} data;

#define COLUMN(key, n, put, value) AC_JSON_COLUMN(j, key, n, put, value)

/* The report's own first. */
static void list_plans(ac_ctx *cx, data *d)
{
    const ac_report *r = d->r;
    d->plan = AC_NEW_N(cx->region, const ac_plan *, r->n_others + 1);
    d->plan[d->n_plans++] = r->plan;
    for (int32_t k = 0; k < r->n_others; k++)
        if (!r->plan->strategy || strcmp(r->other[k].strategy, r->plan->strategy))
            d->plan[d->n_plans++] = &r->other[k];
}

static ac_bytes ram_bytes(const data *d, const ac_plan *plan)
{
    const ac_problem *p = d->r->problem;
    ac_bytes sum = plan->mem_bytes[0];
    for (int32_t m = 1; m < p->n_mems; m++)
        sum += p->mem[m].use == AC_MEM_RAM ? plan->mem_bytes[m] : 0;
    return sum;
}

/* By planner, by memory: the bound of its items, and its peak. Empty if `bound` and `peak` suffice. */
static void put_memories(data *d)
{
    ac_json *j = &d->j;
    const ac_problem *p = d->r->problem;
    ac_report *of = AC_NEW_N(j->to->cx->region, ac_report, d->n_plans);
    const int32_t n = d->r->n_memories ? d->n_plans : 0;
    for (int32_t k = 0; k < n; k++) {
        of[k] = (ac_report){.problem = p, .plan = d->plan[k]};
        ac_report_memories(j->to->cx, &of[k]);
    }
    ac_json_arr(j, "bounds");
    for (int32_t k = 0; k < n; k++)
        COLUMN(NULL, p->n_mems, ac_json_int, ac_report_bound_of(&of[k], i));
    ac_json_end(j);
    ac_json_arr(j, "peaks");
    for (int32_t k = 0; k < n; k++)
        COLUMN(NULL, p->n_mems, ac_json_int, ac_report_peak_of(&of[k], i));
    ac_json_end(j);
    ac_json_arr(j, "ram"); /* the memories of tensors */
    for (int32_t m = 0; m < p->n_mems; m++)
        if (p->mem[m].use == AC_MEM_RAM)
            ac_json_int(j, NULL, m);
    ac_json_end(j);
}

static void put_plans(data *d)
{
    ac_json *j = &d->j;
    const ac_problem *p = d->r->problem;
    COLUMN("planners", d->n_plans, ac_json_str, d->plan[i]->strategy ? d->plan[i]->strategy : "plan");
    COLUMN("arena", d->n_plans, ac_json_int, ram_bytes(d, d->plan[i]));
    put_memories(d);
    ac_json_arr(j, "used"); /* by planner, by memory */
    for (int32_t k = 0; k < d->n_plans; k++)
        COLUMN(NULL, p->n_mems, ac_json_int, d->plan[k]->mem_bytes[i]);
    ac_json_end(j);
    ac_json_arr(j, "offsets"); /* by planner, by item */
    for (int32_t k = 0; k < d->n_plans; k++)
        COLUMN(NULL, p->n, ac_json_int, d->plan[k]->offset[i]);
    ac_json_end(j);
    ac_json_arr(j, "mem"); /* by planner, by item; nothing: all in the first */
    for (int32_t k = 0; k < d->n_plans && d->pic->n_panels > 1; k++)
        COLUMN(NULL, p->n, ac_json_int, d->plan[k]->mem[i]);
    ac_json_end(j);
}

static bool any_traffic(const ac_problem *p)
{
    for (int32_t i = 0; i < p->n; i++)
        if (p->item[i].traffic)
            return true;
    return false;
}

static void put_items(data *d)
{
    ac_json *j = &d->j;
    const ac_problem *p = d->r->problem;
    COLUMN("memories", p->n_mems, ac_json_str, p->mem[i].name);
    COLUMN("top", d->pic->n_panels, ac_json_int, d->pic->panel[i].top);
    COLUMN("size", p->n, ac_json_int, p->item[i].size);
    COLUMN("align", p->n, ac_json_int, p->item[i].align);
    COLUMN("begin", p->n, ac_json_int, p->item[i].life.begin);
    COLUMN("end", p->n, ac_json_int, p->item[i].life.end);
    COLUMN("root", p->n, ac_json_int, d->pic->root[i]);
    COLUMN("label_end", p->n, ac_json_int, d->pic->label_end[i]);
    COLUMN("traffic", any_traffic(p) ? p->n : 0, ac_json_int, p->item[i].traffic);
    ac_json_obj(j, "gaps"); /* by item: [from step, to step, low byte, high byte] */
    for (int32_t i = 0; i < p->n; i++) {
        if (!p->item[i].n_gaps)
            continue;
        ac_json_arr(j, ac_strf(j->to->cx->region, "%d", i));
        for (int32_t g = 0; g < p->item[i].n_gaps; g++) {
            const ac_gap *x = &p->item[i].gaps[g];
            ac_json_arr(j, NULL);
            ac_json_int(j, NULL, x->life.begin);
            ac_json_int(j, NULL, x->life.end);
            ac_json_int(j, NULL, x->lo);
            ac_json_int(j, NULL, x->hi);
            ac_json_end(j);
        }
        ac_json_end(j);
    }
    ac_json_end(j);
}

const char *ac_page_type(ac_ctx *cx, const ac_report_tensor *x)
{
    return x->dtype && *x->dtype ? ac_strf(cx->region, "%s %s", x->dtype, x->shape) : "";
}

static bool trains(const ac_report *r)
{
    return r->n_steps && r->step[r->n_steps - 1].back;
}

static void put_rows(data *d)
{
    ac_json *j = &d->j;
    const ac_report_tensor *x = d->pic->row;
    int32_t n = d->pic->n_rows;
    COLUMN("name", n, ac_json_str, x[i].name);
    COLUMN("type", n, ac_json_str, ac_page_type(j->to->cx, &x[i]));
    COLUMN("kind", n, ac_json_str, ac_picture_kind(d->pic, i));
    COLUMN("role", trains(d->r) ? n : 0, ac_json_str, x[i].item < 0 ? "" : ac_picture_role(d->pic, i));
    COLUMN("bytes", n, ac_json_int, x[i].bytes);
    COLUMN("item", n, ac_json_int, x[i].item);
    COLUMN("delta", n, ac_json_int, x[i].delta);
    COLUMN("first", n, ac_json_int, x[i].first);
    COLUMN("last", n, ac_json_int, x[i].last);
    COLUMN("producer", n, ac_json_int, x[i].producer);
    COLUMN("labelled", n, ac_json_int, ac_picture_labelled(d->pic, i));
    COLUMN("short", n, ac_json_str, ac_name_short(d->pic->names, x[i].name));
    COLUMN("alias", n, ac_json_str, x[i].alias_of);
    COLUMN("how", n, ac_json_str, x[i].alias_how);
    ac_json_arr(j, "readers");
    for (int32_t t = 0; t < n; t++)
        COLUMN(NULL, x[t].n_consumers, ac_json_int, x[t].consumers[i]);
    ac_json_end(j);
}

static int64_t known(int64_t v)
{
    return v < 0 ? 0 : v;
}

static void put_steps(data *d)
{
    ac_json *j = &d->j;
    const ac_report_step *x = d->r->step;
    const int32_t n = d->r->n_steps;
    COLUMN("step_op", n, ac_json_str, x[i].op);
    COLUMN("step_name", n, ac_json_str, x[i].name);
    COLUMN("step_short", n, ac_json_str, ac_name_short(d->pic->names, x[i].name));
    COLUMN("step_macs", n, ac_json_int, known(x[i].macs));
    COLUMN("step_weights", n, ac_json_int, known(x[i].weights));
    COLUMN("step_traffic", n, ac_json_int, x[i].traffic);
}

/* For threads.js: the thread of each step, its time, and the step after its phase. */
static void put_threads(data *d)
{
    ac_json *j = &d->j;
    const ac_report_threads *t = d->r->threads;
    const int32_t n = d->r->n_steps;
    if (!t || !n)
        return;
    ac_json_obj(j, "threads");
    ac_json_int(j, "threads", t->threads);
    ac_json_num(j, "gain", t->gain);
    ac_json_num(j, "fork", t->fork);
    COLUMN("on", n, ac_json_int, ac_report_thread_of(t, i));
    COLUMN("end", n, ac_json_int, ac_report_phase_end(t, i));
    COLUMN("time", n, ac_json_num, t->time[i]);
    ac_json_end(j);
}

/* The figures in the head of the page, and the options that would take less. */
static void put_model(data *d)
{
    ac_json *j = &d->j;
    const ac_report *r = d->r;
    ac_json_str(j, "file", r->file);
    ac_json_str(j, "format", r->format);
    ac_json_str(j, "target", r->target);
    ac_json_str(j, "options", r->options);
    ac_json_int(j, "no_sharing", r->no_sharing);
    ac_json_int(j, "weights", r->weight_bytes);
    ac_json_int(j, "code", r->code_bytes);
    ac_json_int(j, "macs", r->macs);
    const ac_section lower = ac_section_lower(j->to->cx, r);
    ac_section_json(j, &lower);
    COLUMN("notes", r->n_notes, ac_json_str, r->notes[i]);
}

void ac_page_data(ac_sink *to, const ac_picture *pic)
{
    ac_sink text;
    ac_sink_open(&text, to->cx);
    data d = {.j = ac_json_open(&text), .pic = pic, .r = pic->r};
    list_plans(to->cx, &d);
    ac_json_obj(&d.j, NULL);
    ac_json_int(&d.j, "steps", pic->steps);
    ac_json_int(&d.j, "peak", pic->r->peak);
    ac_json_int(&d.j, "bound", ac_report_lower_bound(pic->r));
    ac_json_int(&d.j, "budget", pic->r->budget);
    put_model(&d);
    put_plans(&d);
    put_items(&d);
    put_rows(&d);
    put_steps(&d);
    put_threads(&d);
    ac_json_end(&d.j);
    ac_put(to, "<script type=\"application/json\" id=\"plan-data\">");
    for (size_t i = 0; i < text.n; i++) /* '<' is only inside strings; escaped, it cannot open or end an element */
        if (text.text[i] == '<')
            ac_put(to, "\\u003c");
        else
            ac_putc(to, text.text[i]);
    ac_put(to, "</script>\n");
}
