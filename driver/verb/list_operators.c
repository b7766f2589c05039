/* list_operators.c - the verb ops: the operator table with element types, limits and its name in each format,
 * as text, JSON or the Markdown of docs/operators.md. All of it comes from the rows that compile models: ir/ops/ops.def
 * and the tables of the readers; element types and ranks are found by trying (ir/lower/node/probe.h). */
#include "driver/verb/list_operators.h"
#include "driver/verb/verbs.h"

#include "codegen/targets.h"
#include "ir/lower/node/probe.h"

#include <string.h>

static const ac_place HERE = {.file = "arenac"};

typedef struct flag {
    uint32_t bit;
    const char *text;
} flag;

static const flag FLAGS[] = {{OF_VIEW, "costs nothing where the result may share the bytes"},
                             {OF_STATE, "keeps state between runs"},
                             {OF_FLOW, "runs subgraphs; stays after pass infer where data decides"},
                             {OF_CALLS, "calls a C function of yours ([custom operators](custom.md))"},
                             {OF_CHECKS, "a bad index in the data ends the run with a status"},
                             {0, NULL}};

/* ------------------------------------------------------------------ cells */

static void put_types(ac_sink *s, uint32_t types)
{
    uint32_t all = 0, integers = 0;
    for (int d = AC_NONE + 1; d < AC_DTYPE_COUNT; d++) {
        all |= (uint32_t)1 << d;
        integers |= (uint32_t)ac_dtype_is_int((ac_dtype)d) << d;
    }
    const char *between = "";
    if (types == all || types == integers) {
        ac_put(s, types == all ? "all" : "all integers");
        return;
    }
    for (int d = AC_NONE + 1; d < AC_DTYPE_COUNT; d++)
        if (types >> d & 1) {
            ac_putf(s, "%s%s", between, ac_dtype_name((ac_dtype)d));
            between = " ";
        }
}

/* Bits by number, runs joined: "0, 2..4". */
static void put_bits(ac_sink *s, const char *before, uint32_t mask)
{
    for (int i = 0; i < 32; i++) {
        int last = i;
        if (!(mask >> i & 1))
            continue;
        while (last < 31 && mask >> (last + 1) & 1)
            last++;
        ac_putf(s, last > i ? "%s%d..%d" : "%s%d", before, i, last);
        before = ", ";
        i = last;
    }
}

static void put_default(ac_sink *s, const ac_attr_row *row)
{
    ac_putf(s, "%s=", row->name);
    switch (row->type) {
    case AC_A_i32:
    case AC_A_f32:
        ac_putf(s, "%g", row->init);
        break;
    case AC_A_bool:
        ac_put(s, row->init != 0 ? "true" : "false");
        break;
    case AC_A_ints:
        ac_put(s, "[]");
        break;
    case AC_A_act:
        ac_put(s, ac_act_name[(int)row->init]);
        break;
    case AC_A_padding:
        ac_put(s, ac_padding_name[(int)row->init]);
        break;
    case AC_A_word:
        ac_put(s, ac_word_name[(int)row->init]);
        break;
    case AC_A_dtype:
        ac_put(s, ac_dtype_name((ac_dtype)(int)row->init));
        break;
    case AC_A_text:
        ac_put(s, "\"\"");
        break;
    }
}

static void put_operands(ac_sink *s, const ac_op_row *o)
{
    ac_putf(s, o->min_in == o->max_in ? "%d" : "%d..%d", o->min_in, o->max_in);
}

static void put_attrs(ac_sink *s, const ac_op_row *o)
{
    const struct ac_attr_list *attrs = &ac_attr_sets[o->attrs];
    for (int32_t k = 0; k < attrs->n; k++) {
        ac_put(s, k ? " " : "");
        put_default(s, &attrs->row[k]);
    }
}

/* "rank 1..4; operand 1 is a constant; may overwrite operand 0"; nothing: no limits. */
static void put_limits(ac_sink *s, const ac_op_row *o, const ac_op_types *t)
{
    const size_t start = s->n;
    put_bits(s, "rank ", t->ranks);
    put_bits(s, s->n > start ? "; constant: operand " : "constant: operand ", o->static_in);
    put_bits(s, s->n > start ? "; may overwrite operand " : "may overwrite operand ", o->overwrite);
    for (int i = 0; FLAGS[i].bit; i++)
        if (o->flags & FLAGS[i].bit)
            ac_putf(s, "%s%s", s->n > start ? "; " : "", FLAGS[i].text);
}

/* "yes", or the reason against a gradient */
static const char *gradient_of(const ac_op_row *o)
{
    return o->nograd == AC_NOGRAD_NONE ? "yes" : ac_nograd_text[o->nograd];
}

/* "Conv", "com.microsoft.QLinearAdd", "Upsample (7..9)" */
static void put_name(ac_sink *s, const ac_operator *o)
{
    ac_putf(s, "%s%s%s", o->domain, *o->domain ? "." : "", o->name);
    if (o->since && (o->since > 1 || o->until < 99))
        ac_putf(s, o->until < 99 ? " (%d..%d)" : " (%d..)", o->since, o->until);
}

/* The names in one format of operators that become `op` alone. False: none. */
static bool put_names(ac_op_list *l, int32_t format, ac_op op, const char *before)
{
    ac_operator o;
    bool any = false;
    for (int32_t i = 0; ac_import_operator(format, i, &o); i++)
        if (!o.reason && o.op == op) {
            ac_put(l->s, any ? ", " : before);
            put_name(l->s, &o);
            any = true;
        }
    return any;
}

/* ------------------------------------------------------------------ text */

static void put_row(ac_op_list *l, ac_op op)
{
    const ac_op_row *o = &ac_ops[op];
    const ac_op_types t = ac_op_probe(&l->s->cx->heap, op, l->target);
    ac_sink *s = l->s;
    ac_putf(s, "%-30s operands ", o->text);
    put_operands(s, o);
    if (ac_attr_sets[o->attrs].n)
        ac_put(s, "  ");
    put_attrs(s, o);
    if (t.plain) {
        ac_put(s, "\n    types       ");
        put_types(s, t.plain);
    }
    if (t.quantised) {
        ac_put(s, "\n    quantised   ");
        put_types(s, t.quantised);
    }
    if (t.weights) {
        ac_put(s, "\n    f32 with    ");
        put_types(s, t.weights);
        ac_put(s, " weights");
    }
    ac_sink limits;
    ac_sink_open(&limits, s->cx);
    put_limits(&limits, o, &t);
    if (limits.n)
        ac_putf(s, "\n    limits      %s", ac_sink_text(&limits));
    ac_putf(s, "\n    gradient    %s", gradient_of(o));
    for (int32_t f = 0; f < l->n_formats; f++)
        put_names(l, f, op, ac_strf(s->cx->region, "\n    %-11s ", l->format[f]));
    ac_putc(s, '\n');
}

static void put_format(ac_op_list *l, int32_t format)
{
    ac_operator o;
    ac_sink *s = l->s;
    if (!ac_import_operator(format, 0, &o))
        return;
    ac_putf(s, "\n%s\n", l->format[format]);
    put_names(l, format, AC_OP_NONE, "    made of several, or chosen by attributes: ");
    ac_putc(s, '\n');
    for (int32_t i = 0; ac_import_operator(format, i, &o); i++)
        if (o.reason)
            ac_putf(s, "    not supported: %-30s %s\n", o.name, o.reason);
}

/* ------------------------------------------------------------------ Markdown */

static void md_row(ac_op_list *l, ac_op op)
{
    const ac_op_row *o = &ac_ops[op];
    const ac_op_types t = ac_op_probe(&l->s->cx->heap, op, l->target);
    ac_sink *s = l->s;
    ac_putf(s, "| `%s` | ", o->text);
    put_operands(s, o);
    ac_put(s, " | ");
    put_attrs(s, o);
    ac_put(s, " | ");
    put_types(s, t.plain);
    ac_put(s, t.quantised ? "; quantised " : "");
    put_types(s, t.quantised);
    ac_put(s, t.weights ? "; f32 with weights " : "");
    put_types(s, t.weights);
    ac_put(s, " | ");
    put_limits(s, o, &t);
    ac_putf(s, " | %s |\n", gradient_of(o));
}

/* A line for each operator of the file, so that a change of one is a change of a line. */
static void md_format(ac_op_list *l, int32_t format)
{
    ac_operator o;
    ac_sink *s = l->s;
    if (!ac_import_operator(format, 0, &o))
        return;
    ac_putf(s, "\n## %s\n\n| in the file | becomes |\n|---|---|\n", l->format[format]);
    for (int32_t i = 0; ac_import_operator(format, i, &o); i++) {
        ac_put(s, "| ");
        put_name(s, &o);
        if (o.reason)
            ac_putf(s, " | not supported: %s |\n", o.reason);
        else if (o.op)
            ac_putf(s, " | `%s` |\n", ac_ops[o.op].text);
        else
            ac_put(s, " | several operators, or one chosen by attributes |\n");
    }
}

/* ------------------------------------------------------------------ the verb */

static void print_md(ac_op_list *l)
{
    ac_put(l->s,
           "## Table\n\n| operator | operands | attributes | element types of the first operand | limits | gradient |\n"
           "|---|---|---|---|---|---|\n");
    for (int i = 1; i < AC_OP_COUNT; i++)
        md_row(l, (ac_op)i);
    for (int32_t f = 0; f < l->n_formats; f++)
        md_format(l, f);
}

/* ", "-separated names of the operators. */
static void put_ops(ac_sink *s, const bool *op)
{
    const char *between = "";
    for (int i = 1; i < AC_OP_COUNT; i++)
        if (op[i]) {
            ac_putf(s, "%s%s", between, ac_ops[i].text);
            between = ", ";
        }
}

/* An operator that becomes several, or one that attributes choose. Types, ranks and attributes: of ONNX alone, as only
 * its nodes can be tried one by one. */
static void put_composed(ac_op_list *l, int32_t format, const ac_operator *o)
{
    ac_composed c = {.types = 0};
    ac_sink *s = l->s;
    const bool tried = ac_op_tried(l, format);
    if (tried)
        ac_composed_probe(s->cx, o, l->target, &c);
    put_name(s, o);
    ac_putf(s, " of %s: several operators, or one chosen by attributes", l->format[format]);
    if (o->max_in)
        ac_putf(s, o->min_in == o->max_in ? "\n    operands    %d" : "\n    operands    %d..%d", o->min_in, o->max_in);
    if (o->max_out > 1)
        ac_putf(s, "\n    results     1..%d", o->max_out);
    if (tried && c.attr.n)
        ac_put(s, "\n    attributes ");
    for (int32_t i = 0; tried && i < c.attr.n; i++)
        ac_putf(s, " %s", c.attr.item[i]);
    if (tried && c.types) {
        ac_put(s, "\n    types       ");
        put_types(s, c.types);
        put_bits(s, "\n    limits      rank ", c.ranks);
        ac_put(s, "\n    becomes     ");
        put_ops(s, c.op);
    }
    ac_putc(s, '\n');
}

/* A name that is not one operator of ours: in each format. */
static bool print_other(ac_op_list *l, const char *name)
{
    ac_operator o;
    bool any = false;
    for (int32_t f = 0; f < l->n_formats; f++)
        for (int32_t i = 0; ac_import_operator(f, i, &o); i++) {
            if (o.op || strcmp(o.name, name))
                continue;
            any = true;
            if (o.reason)
                ac_putf(l->s, "%s of %s: not supported, %s\n", name, l->format[f], o.reason);
            else
                put_composed(l, f, &o);
        }
    return any;
}

/* The operator, by our name or a format's, that was probably meant; NULL: none is near. */
static const char *closest_operator(const ac_op_list *l, const char *name)
{
    AC_VEC(const char *) names = {0};
    ac_operator o;
    for (int op = 1; op < AC_OP_COUNT; op++)
        ac_push(l->s->cx->region, &names, ac_ops[op].text);
    for (int32_t f = 0; f < l->n_formats; f++)
        for (int32_t i = 0; ac_import_operator(f, i, &o); i++)
            ac_push(l->s->cx->region, &names, o.name);
    return ac_closest(name, names.item, names.n);
}

static bool known(const ac_op_list *l, const char *name)
{
    ac_operator o;
    for (int op = 1; op < AC_OP_COUNT; op++)
        if (!strcmp(ac_ops[op].text, name))
            return true;
    for (int32_t f = 0; f < l->n_formats; f++)
        for (int32_t i = 0; ac_import_operator(f, i, &o); i++)
            if (!strcmp(o.name, name))
                return true;
    return false;
}

/* Reports the first name that is unknown here and in all formats. */
static int check_names(ac_work *w, ac_op_list *l)
{
    for (int32_t k = 0; k < l->n_names; k++) {
        const char *name = l->name[k];
        if (known(l, name))
            continue;
        const char *near = closest_operator(l, name);
        ac_error(&w->cx, HERE, E0501, "ops: no operator is called '%s' here or in any format", name);
        return near ? ac_help(&w->cx, "did you mean '%s'?", near) : AC_FAIL;
    }
    return AC_OK;
}

static void print_named(ac_op_list *l)
{
    for (int32_t k = 0; k < l->n_names; k++) {
        for (int op = 1; op < AC_OP_COUNT; op++)
            if (ac_op_means(l, (ac_op)op, l->name[k]))
                put_row(l, (ac_op)op);
        print_other(l, l->name[k]);
    }
}

static void print_text(ac_op_list *l)
{
    for (int i = 1; i < AC_OP_COUNT; i++)
        put_row(l, (ac_op)i);
    for (int32_t f = 0; f < l->n_formats; f++)
        put_format(l, f);
}

int ac_list_operators(ac_work *w, const char *const *name, int32_t n)
{
    const char *target = w->opt.target ? w->opt.target : "generic";
    ac_op_list l = {.target = ac_target_find(target)};
    const bool md = ac_is(w->opt.emit, "md");
    if (!l.target)
        return ac_error(&w->cx, HERE, E0501, "no target '%s'; arenac targets lists them", target);
    if (w->opt.emit && !md)
        return ac_error(&w->cx, HERE, E0501, "ops takes --emit md, not '%s'", w->opt.emit);
    l.s = ac_pending_add(&w->out, w->opt.output ? w->opt.output : "-");
    l.format = ac_import_formats(&l.n_formats);
    l.name = name;
    l.n_names = n;
    AC_TRY(check_names(w, &l));
    (w->opt.json ? ac_list_operators_json : md ? print_md : n ? print_named : print_text)(&l);
    return AC_OK;
}
