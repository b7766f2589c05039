/* operators_json.c - the tables of the verb ops as JSON. */
#include "driver/verb/list_operators.h"

#include "base/json_out.h"
#include "ir/lower/node/probe.h"

static void json_types(ac_json *j, const char *name, uint32_t types)
{
    ac_json_arr(j, name);
    for (int d = AC_NONE + 1; d < AC_DTYPE_COUNT; d++)
        if (types >> d & 1)
            ac_json_str(j, NULL, ac_dtype_name((ac_dtype)d));
    ac_json_end(j);
}

static void json_bits(ac_json *j, const char *name, uint32_t mask)
{
    ac_json_arr(j, name);
    for (int i = 0; i < 32; i++)
        if (mask >> i & 1)
            ac_json_int(j, NULL, i);
    ac_json_end(j);
}

static void json_row(ac_json *j, const ac_op_list *l, ac_op op)
{
    const ac_op_row *o = &ac_ops[op];
    const struct ac_attr_list *attrs = &ac_attr_sets[o->attrs];
    const ac_op_types t = ac_op_probe(&l->s->cx->heap, op, l->target);
    ac_json_obj(j, NULL);
    ac_json_str(j, "name", o->text);
    ac_json_str(j, "tflite", o->tflite);
    ac_json_int(j, "min_inputs", o->min_in);
    ac_json_int(j, "max_inputs", o->max_in);
    ac_json_bool(j, "elementwise", o->map);
    ac_json_arr(j, "attributes");
    for (int32_t k = 0; k < attrs->n; k++)
        ac_json_str(j, NULL, attrs->row[k].name);
    ac_json_end(j);
    json_types(j, "types", t.plain);
    json_types(j, "quantised_types", t.quantised);
    json_types(j, "weight_types", t.weights);
    json_bits(j, "ranks", t.ranks);
    json_bits(j, "constant_inputs", o->static_in);
    json_bits(j, "in_place_inputs", o->overwrite);
    ac_json_bool(j, "gradient", o->nograd == AC_NOGRAD_NONE);
    if (o->nograd != AC_NOGRAD_NONE)
        ac_json_str(j, "no_gradient", ac_nograd_text[o->nograd]);
    ac_json_bool(j, "view", o->flags & OF_VIEW);
    ac_json_bool(j, "state", o->flags & OF_STATE);
    ac_json_bool(j, "subgraphs", o->flags & OF_FLOW);
    ac_json_bool(j, "checks_indices", o->flags & OF_CHECKS);
    ac_json_end(j);
}

/* Of an operator of ONNX that the user named and that becomes several. */
static void json_composed(ac_json *j, const ac_op_list *l, const ac_operator *o)
{
    ac_composed c = {.types = 0};
    ac_composed_probe(l->s->cx, o, l->target, &c);
    ac_json_arr(j, "attributes");
    for (int32_t i = 0; i < c.attr.n; i++)
        ac_json_str(j, NULL, c.attr.item[i]);
    ac_json_end(j);
    json_types(j, "types", c.types);
    json_bits(j, "ranks", c.ranks);
    ac_json_arr(j, "becomes_some");
    for (int op = 1; op < AC_OP_COUNT; op++)
        if (c.op[op])
            ac_json_str(j, NULL, ac_ops[op].text);
    ac_json_end(j);
}

static void json_format(ac_json *j, const ac_op_list *l, int32_t format)
{
    ac_operator o;
    if (!ac_import_operator(format, 0, &o))
        return;
    ac_json_arr(j, l->format[format]);
    for (int32_t i = 0; ac_import_operator(format, i, &o); i++) {
        if (!ac_op_row_wanted(l, &o))
            continue;
        ac_json_obj(j, NULL);
        ac_json_str(j, "name", o.name);
        ac_json_bool(j, "supported", !o.reason);
        if (o.reason)
            ac_json_str(j, "reason", o.reason);
        if (o.op)
            ac_json_str(j, "becomes", ac_ops[o.op].text);
        if (l->n_names && !o.reason && !o.op && ac_op_tried(l, format))
            json_composed(j, l, &o);
        if (o.since || *o.domain)
            ac_json_str(j, "domain", o.domain);
        if (o.since) {
            ac_json_int(j, "since", o.since);
            if (o.until < 99)
                ac_json_int(j, "until", o.until);
        }
        ac_json_end(j);
    }
    ac_json_end(j);
}

void ac_list_operators_json(ac_op_list *l)
{
    ac_json j = ac_json_open(l->s);
    ac_json_obj(&j, NULL);
    ac_json_arr(&j, "operators");
    for (int i = 1; i < AC_OP_COUNT; i++)
        if (ac_op_wanted(l, (ac_op)i))
            json_row(&j, l, (ac_op)i);
    ac_json_end(&j);
    ac_json_obj(&j, "formats");
    for (int32_t f = 0; f < l->n_formats; f++)
        json_format(&j, l, f);
    ac_json_end(&j);
    ac_json_end(&j);
}
