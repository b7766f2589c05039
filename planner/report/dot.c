/* dot.c - the graph for Graphviz: steps are boxes in execution order, tensors are edges with their bytes and offset. A
 * problem without steps has no edges to show: its items become boxes, joined when one takes over bytes of another. */
#include "planner/report/names.h"

static void quote(ac_sink *to, const char *s)
{
    ac_putc(to, '"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            ac_putc(to, '\\');
        if (*s == '\n') /* a line of a label */
            ac_put(to, "\\n");
        else
            ac_putc(to, *s == '\r' ? ' ' : *s);
    }
    ac_putc(to, '"');
}

enum { WIDTH = 24 }; /* characters of a name; the tooltip has all of it */

/* An input or an output. */
static void put_end(ac_sink *to, const ac_name_list *names, const char *node, const char *name)
{
    ac_putf(to, "  %s [shape=ellipse, label=", node);
    quote(to, ac_name_fit(names, name, WIDTH));
    ac_put(to, ", tooltip=");
    quote(to, name);
    ac_put(to, "];\n");
}

static void put_edge(ac_sink *to, const char *from, const char *end, const char *label, const char *name)
{
    ac_putf(to, "  %s -> %s [label=", from, end);
    quote(to, label);
    ac_put(to, ", tooltip=");
    quote(to, name);
    ac_put(to, "];\n");
}

static void put_edges(ac_sink *to, const ac_report *r, const ac_name_list *names, int32_t t)
{
    const ac_report_tensor *x = &r->tensor[t];
    const char *label = ac_strf(to->cx->region, "%s\n%s %s\n%s B at %s%s", ac_name_fit(names, x->name, WIDTH), x->dtype,
                                x->shape, ac_commas(to->cx, x->bytes),
                                ac_commas(to->cx, r->plan->offset[x->item] + x->delta), x->alias_of ? ", shared" : "");
    char *from = x->producer >= 0 ? ac_strf(to->cx->region, "s%d", x->producer) : ac_strf(to->cx->region, "t%d", t);
    if (x->producer < 0)
        put_end(to, names, from, x->name);
    for (int32_t k = 0; k < x->n_consumers && !x->through; k++) /* edges of a view are those of its parts */
        put_edge(to, from, ac_strf(to->cx->region, "s%d", x->consumers[k]), label, x->name);
    if (!x->output)
        return;
    const char *end = ac_strf(to->cx->region, "o%d", t);
    put_end(to, names, end, x->name);
    put_edge(to, from, end, label, x->name);
}

static void put_steps(ac_sink *to, const ac_report *r)
{
    for (int32_t s = 0; s < r->n_steps; s++) {
        const ac_report_step *x = &r->step[s];
        ac_putf(to, "  s%d [label=", s);
        quote(to, ac_strf(to->cx->region, "%d %s%s%s, %s B live", s, x->op, x->fused ? " + " : "",
                          x->fused ? x->fused : "", ac_commas(to->cx, x->live)));
        ac_put(to, ", tooltip=");
        quote(to, x->name);
        ac_put(to, s == r->peak ? ", style=filled, fillcolor=\"#ffd0d0\"];\n" : "];\n");
    }
}

/* The next item to use any of the bytes: enough to follow who inherits what; O(n^2), so only for small problems. */
static void put_heirs(ac_sink *to, const ac_report *r)
{
    const ac_problem *p = r->problem;
    for (int32_t i = 0; i < p->n; i++) {
        int32_t heir = -1;
        for (int32_t k = 0; k < p->n; k++) {
            bool after = p->item[k].life.begin >= p->item[i].life.end && r->plan->mem[k] == r->plan->mem[i];
            bool overlap = r->plan->offset[k] < r->plan->offset[i] + p->item[i].size &&
                           r->plan->offset[i] < r->plan->offset[k] + p->item[k].size;
            if (after && overlap && (heir < 0 || p->item[k].life.begin < p->item[heir].life.begin))
                heir = k;
        }
        if (heir >= 0)
            ac_putf(to, "  i%d -> i%d;\n", i, heir);
    }
}

static void put_items(ac_sink *to, const ac_report *r)
{
    enum { SMALL = 2000 };
    const ac_problem *p = r->problem;
    for (int32_t i = 0; i < p->n; i++) {
        ac_putf(to, "  i%d [label=", i);
        quote(to, ac_strf(to->cx->region, "%s, %s B at %s, steps %d to %d", p->item[i].name,
                          ac_commas(to->cx, p->item[i].size), ac_commas(to->cx, r->plan->offset[i]),
                          p->item[i].life.begin, p->item[i].life.end - 1));
        ac_put(to, "];\n");
    }
    if (p->n <= SMALL)
        put_heirs(to, r);
}

void ac_report_dot(ac_sink *to, const ac_report *r)
{
    ac_put(to, "digraph ");
    quote(to, r->file ? r->file : "model");
    ac_put(to, " {\n  node [shape=box, fontname=\"sans-serif\"];\n");
    if (r->n_steps) {
        const ac_name_list *names = ac_names_of(to->cx, r);
        put_steps(to, r);
        for (int32_t t = 0; t < r->n_tensors; t++)
            if (r->tensor[t].item >= 0)
                put_edges(to, r, names, t);
    } else {
        put_items(to, r);
    }
    ac_put(to, "}\n");
}
