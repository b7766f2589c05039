/* onnx.c - the container of ONNX files: model, opsets, functions, graphs. */
#include "base/shell.h"
#include "import/build/wanted_outputs.h"
#include "import/build/params.h"
#include "import/onnx/proto/texts.h"
#include "import/onnx/protos.h"
#include "import/wire/peek.h"

#include <inttypes.h>
#include <string.h>

enum { OPSET_MAX = 28 };

typedef struct model {
    int64_t ir_version;
    ac_span graph;
    ac_pb_list opsets, functions;
} model;

static const ac_pb_field MODEL[] = {AC_ONX_ROW(1, INT, model, ir_version),
                                    AC_ONX_ROW(7, BYTES, model, graph),
                                    AC_ONX_ROW(8, MANY, model, opsets),
                                    AC_ONX_ROW(25, MANY, model, functions),
                                    {0, AC_PB_INT, 0}};
const ac_pb_field ac_onx_body_fields[] = {
    AC_ONX_ROW(1, MANY, ac_onx_body, nodes),     AC_ONX_ROW(2, BYTES, ac_onx_body, name),
    AC_ONX_ROW(5, MANY, ac_onx_body, constants), AC_ONX_ROW(11, MANY, ac_onx_body, inputs),
    AC_ONX_ROW(12, MANY, ac_onx_body, outputs),  AC_ONX_ROW(13, MANY, ac_onx_body, values),
    AC_ONX_ROW(15, MANY, ac_onx_body, sparse),   {0, AC_PB_INT, 0}};
const ac_pb_field ac_onx_function_fields[] = {
    AC_ONX_ROW(1, BYTES, ac_onx_function_body, name),     AC_ONX_ROW(4, MANY, ac_onx_function_body, inputs),
    AC_ONX_ROW(5, MANY, ac_onx_function_body, outputs),   AC_ONX_ROW(7, MANY, ac_onx_function_body, nodes),
    AC_ONX_ROW(9, MANY, ac_onx_function_body, opsets),    AC_ONX_ROW(10, BYTES, ac_onx_function_body, domain),
    AC_ONX_ROW(11, MANY, ac_onx_function_body, defaults), {0, AC_PB_INT, 0}};
static const ac_pb_field OPSET[] = {
    AC_ONX_ROW(1, BYTES, ac_onx_pair, name), AC_ONX_ROW(2, INT, ac_onx_pair, version), {0, AC_PB_INT, 0}};
const ac_pb_field ac_onx_value_fields[] = {
    AC_ONX_ROW(1, BYTES, ac_onx_pair, name), AC_ONX_ROW(2, BYTES, ac_onx_pair, type), {0, AC_PB_INT, 0}};

/* Names. */

const char *ac_onx_domain_name(ac_onx *r, ac_span s)
{
    const char *d = ac_pb_name(&r->pb, s);
    return d && !strcmp(d, "ai.onnx") ? ac_intern(r->cx, "") : d;
}

int ac_onx_read_opsets(ac_onx *r, ac_onx_scope *s, ac_pb_list list, const char *what)
{
    ac_span message;
    if (!ac_pb_spend(&r->pb, list.n))
        return AC_FAIL;
    s->opset = AC_NEW_N(r->cx->region, ac_onx_opset, list.n + 1);
    while (ac_pb_next(&r->pb, &list, &message)) {
        ac_onx_pair p = {.version = 0};
        const char *domain = ac_pb_read(&r->pb, message, OPSET, &p) ? ac_onx_domain_name(r, p.name) : NULL;
        if (!domain)
            return AC_FAIL;
        ac_place at = ac_pb_place(&r->pb, message.p);
        if (p.version < 1)
            return ac_error(r->cx, at, E0012, "%s imports version %" PRId64 " of operator set '%s'", what, p.version,
                            domain);
        if (!*domain && p.version > OPSET_MAX)
            return ac_error(r->cx, at, E0017, "%s uses operator set %" PRId64 "; arenac reads 1 to %d", what, p.version,
                            OPSET_MAX);
        s->opset[s->n_opset++] = (ac_onx_opset){domain, p.version};
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

/* Constants and declared types. */

static int refused_value(ac_onx *r, ac_onx_value *v, ac_place at, const char *reason)
{
    v->made = v->broken = true;
    at.node = *v->name ? v->name : NULL;
    const char *omit =
        v->optional ? ac_strf(r->cx->region, "--const %s omits it", ac_shell_set(r->cx, v->name, "none")) : NULL;
    return ac_refuse(r->reading, at, E0108, "the model", reason, omit);
}

static int read_constant(ac_onx *r, ac_onx_scope *s, ac_span message, bool sparse)
{
    ac_onx_const c;
    const char *refused;
    const int ok = sparse ? ac_onx_sparse_tensor(r, message, &c, &refused) : ac_onx_tensor(r, message, &c, &refused);
    if (r->pb.failed)
        return AC_FAIL;
    const ac_place at = ac_pb_place(&r->pb, message.p);
    if (!c.name || !*c.name)
        return ok == AC_OK ? ac_error(r->cx, at, E0012, "an initializer has no name") : AC_FAIL;
    ac_onx_value *v = ac_onx_value_get(r, s, c.name);
    if (v->made && r->reading->opt.strict)
        return ac_error(r->cx, at, E0022, "two initializers are named '%s'", c.name);
    if (v->made)
        ac_warn(r->cx, at, W0001, "two initializers are named '%s': the last one is used", c.name);
    v->made = true;
    if (refused)
        refused_value(r, v, at, refused);
    v->broken = ok != AC_OK;
    if (v->broken)
        return AC_FAIL;
    v->t = ac_onx_constant(r, c.name, &c);
    v->t->weight = r->reading->opt.train && s == &r->scope && ac_dtype_is_float(c.dtype);
    return AC_OK;
}

int ac_onx_read_constants(ac_onx *r, ac_onx_scope *s, const ac_onx_body *b)
{
    int rc = AC_OK;
    for (int sparse = 0; sparse < 2; sparse++) {
        ac_pb_list list = sparse ? b->sparse : b->constants;
        ac_span message;
        while (ac_pb_next(&r->pb, &list, &message))
            if (read_constant(r, s, message, sparse) != AC_OK)
                rc = AC_FAIL;
    }
    return r->pb.failed ? AC_FAIL : rc;
}

/* A ValueInfoProto; NULL: malformed (reported) or without a name. */
static ac_onx_value *read_value(ac_onx *r, ac_onx_scope *s, ac_span message, const char **refused, int *rc)
{
    ac_onx_pair p = {.version = 0};
    const char *name = ac_pb_read(&r->pb, message, ac_onx_value_fields, &p) ? ac_pb_name(&r->pb, p.name) : NULL;
    *refused = NULL;
    if (!name)
        return NULL;
    if (!*name) {
        *rc = ac_error(r->cx, ac_pb_place(&r->pb, message.p), E0012, "a value of the graph has no name");
        return NULL;
    }
    ac_onx_value *v = ac_onx_value_get(r, s, name);
    if (p.type.p && !v->declared && ac_onx_type(r, p.type, v, refused) != AC_OK && !*refused)
        *rc = AC_FAIL;
    return v;
}

/* Compares the declared type and shape of a value with the computed ones: another type is an error; another shape does
 * not change results, so it is a warning, of an inner value a note (--strict: an error). Dimensions unknown in one of
 * them are not compared. */
static int check_declared(ac_onx *r, ac_place at, const ac_onx_value *v, const char *what, bool remark)
{
    const ac_tensor *t = v->t;
    if (!v->declared || !t)
        return AC_OK;
    if (v->dtype != t->dtype || v->text != (t->words != NULL))
        return ac_error(r->cx, at, E0105, "%s '%s' is declared as %s, but is %s", what, v->name,
                        v->text ? "text" : ac_dtype_name(v->dtype), t->words ? "text" : ac_dtype_name(t->dtype));
    if (r->g->batch)
        return AC_OK;
    bool differs = v->rank >= 0 && v->rank != t->rank;
    for (int32_t d = 0; d < v->rank && !differs; d++)
        differs = v->dim[d] >= 0 && t->dim[d] >= 0 && v->dim[d] != t->dim[d];
    if (!differs)
        return AC_OK;
    const char *declared = ac_dims_str(r->cx, v->rank, v->dim), *is = ac_shape_str(r->cx, t);
    if (r->reading->opt.strict)
        return ac_error(r->cx, at, E0104, "%s '%s' is declared as %s, but is %s", what, v->name, declared, is);
    (remark ? ac_note : ac_warn)(r->cx, at, W0001, "%s '%s' is declared as %s, but is %s", what, v->name, declared, is);
    return AC_OK;
}

/* Inner values of the graph, once they are made. */
static int check_values(ac_onx *r, ac_onx_scope *s, ac_pb_list list)
{
    ac_span message;
    const char *refused;
    int rc = AC_OK;
    while (ac_pb_next(&r->pb, &list, &message)) {
        const ac_onx_value *v = read_value(r, s, message, &refused, &rc);
        if (v && !v->input && !v->broken &&
            check_declared(r, ac_pb_place(&r->pb, message.p), v, "value", true) != AC_OK)
            rc = AC_FAIL;
    }
    return r->pb.failed ? AC_FAIL : rc;
}

/* An input whose default value, an initializer, is not used. */
static void default_to_input(ac_onx *r, ac_onx_value *v)
{
    v->t->data = v->t->raw = NULL;
    v->t->weight = false;
    if (v->t->words)
        ac_onx_text(r, v->t, true);
    v->t = ac_reading_input_made(r->reading, v->t);
}

static int read_inputs(ac_onx *r, ac_onx_scope *s, ac_pb_list list)
{
    ac_span message;
    const char *refused;
    int rc = AC_OK;
    while (ac_pb_next(&r->pb, &list, &message)) {
        ac_place at = ac_pb_place(&r->pb, message.p);
        ac_onx_value *v = read_value(r, s, message, &refused, &rc);
        if (!v)
            continue;
        at.node = v->name;
        if (v->input && r->reading->opt.strict) {
            rc = ac_error(r->cx, at, E0022, "two inputs are named '%s'", v->name);
            continue;
        }
        if (v->input) {
            ac_warn(r->cx, at, W0001, "two inputs are named '%s': the first one is used", v->name);
            continue;
        }
        v->input = true;
        if (v->made) { /* an initializer: older files list those among the inputs; elsewhere it is a default */
            if (!v->broken && check_declared(r, at, v, "constant", false) != AC_OK)
                rc = AC_FAIL;
            else if (!v->broken && ac_reading_wants(r->reading, v->name))
                default_to_input(r, v);
            continue;
        }
        v->made = true;
        if (v->optional && ac_reading_omits(r->reading, v->name))
            continue;
        if (v->optional && !refused && !ac_reading_wants(r->reading, v->name) && !r->reading->again)
            ac_note(r->cx, at, W0001, "input '%s' is optional: it is given; --const %s omits it", v->name,
                    ac_shell_set(r->cx, v->name, "none"));
        v->broken = true;
        if (refused) {
            rc = refused_value(r, v, at, refused);
        } else if (!v->declared) {
            rc = ac_error(r->cx, at, E0105, "input '%s' has no element type", v->name);
        } else if (v->rank < 0) {
            rc = ac_refuse(r->reading, at, E0203, "an input without a shape",
                           "its number of dimensions is not declared", "export the model with this shape");
        } else {
            v->broken = false;
            v->t = ac_reading_input(r->reading, v->name, v->dtype, v->rank, v->dim, v->dim_name);
            if (v->text)
                ac_onx_text(r, v->t, true);
        }
    }
    return r->pb.failed ? AC_FAIL : rc;
}

/* Every dimension of the inputs must be a number before the nodes can be understood. */
static int read_declared(ac_onx *r, ac_onx_scope *s, ac_pb_list list, bool outputs)
{
    ac_span message;
    const char *refused;
    int rc = AC_OK;
    while (ac_pb_next(&r->pb, &list, &message)) {
        ac_onx_value *v = read_value(r, s, message, &refused, &rc);
        if (v && refused && !v->made) /* reported by the node that makes or reads it */
            v->declared = false;
        if (!v || !outputs)
            continue;
        ac_tensor *t = ac_reading_promise(r->reading, v->name, v->declared ? v->dtype : AC_NONE,
                                          v->declared ? v->rank : -1, v->dim, v->dim_name);
        if (v->declared && v->text)
            ac_onx_text(r, t, true);
    }
    return r->pb.failed ? AC_FAIL : rc;
}

/* Results of the graph. */

static int read_outputs(ac_onx *r, ac_onx_scope *s, ac_pb_list list)
{
    ac_span message;
    const char *refused;
    int rc = AC_OK;
    if (!list.n)
        return ac_error(r->cx, (ac_place){.file = r->reading->file.path}, E0101, "the graph has no outputs");
    while (ac_pb_next(&r->pb, &list, &message)) {
        ac_place at = ac_pb_place(&r->pb, message.p);
        ac_onx_value *v = read_value(r, s, message, &refused, &rc);
        if (!v)
            continue;
        at.node = v->name;
        if (!v->made)
            rc = ac_error(r->cx, at, E0101, "no node produces graph output '%s'", v->name);
        if (v->made && !v->broken && !v->t)
            rc = ac_refuse(r->reading, at, E0108, "a graph output", "it is an Optional without a value", NULL);
        if (!v->made || v->broken || !v->t) {
            rc = AC_FAIL;
            continue;
        }
        if (ac_onx_sequence_of(r, v->t)) {
            rc = ac_refuse(r->reading, at, E0108, "a graph output", "it is a sequence of tensors",
                           "--outputs TENSOR ends the model before it");
            continue;
        }
        if (check_declared(r, at, v, "graph output", false) != AC_OK) {
            rc = AC_FAIL;
            continue;
        }
        if (v->t->words && v->t->words->other)
            ac_note(r->cx, at, W0001, "a text of '%s' that the model does not contain is code %d, not the text",
                    v->name, v->t->words->n);
        ac_outputs_add(r->g, v->t, v->name)->name = v->name;
    }
    return r->pb.failed ? AC_FAIL : rc;
}

static int read_functions(ac_onx *r, ac_pb_list list)
{
    ac_span message;
    while (ac_pb_next(&r->pb, &list, &message)) {
        ac_onx_function_body x = {.name = {0}};
        if (!ac_pb_read(&r->pb, message, ac_onx_function_fields, &x))
            return AC_FAIL;
        ac_onx_function f = {ac_pb_name(&r->pb, x.name), ac_onx_domain_name(r, x.domain), message};
        if (!f.name || !f.domain)
            return AC_FAIL;
        ac_push(r->cx->region, &r->function, f);
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

/* Reads constants, inputs and declared types, which precede the nodes. Goes on after a broken one. */
static int read_graph(ac_onx *r, ac_span message)
{
    ac_onx_body *b = r->body = AC_NEW(r->cx->region, ac_onx_body);
    if (!ac_pb_read(&r->pb, message, ac_onx_body_fields, b))
        return AC_FAIL;
    const char *name = ac_pb_name(&r->pb, b->name);
    if (!name)
        return AC_FAIL;
    r->g = r->main = ac_reading_graph(r->reading, *name ? name : "main", "ONNX");
    r->reading->out.channels_first = true;
    r->reading->out.file_ops = b->nodes.n;
    (void)ac_onx_read_constants(r, &r->scope, b);
    if (!r->pb.failed)
        (void)read_inputs(r, &r->scope, b->inputs);
    if (!r->pb.failed)
        (void)read_declared(r, &r->scope, b->values, false);
    if (!r->pb.failed)
        (void)read_declared(r, &r->scope, b->outputs, true);
    return r->pb.failed ? AC_FAIL : AC_OK;
}

static int read(ac_reading *reading)
{
    model m = {.ir_version = 0};
    ac_onx *r = reading->own = AC_NEW(reading->cx->region, ac_onx);
    *r = (ac_onx){.reading = reading, .cx = reading->cx};
    const ac_file *f = &reading->file;
    ac_onx_texts_begin(r);
    ac_pb_open(&r->pb, r->cx, f->path, (ac_span){f->data, f->n});
    if (!ac_pb_read(&r->pb, (ac_span){f->data, f->n}, MODEL, &m))
        return AC_FAIL;
    if (!m.graph.p)
        return ac_error(r->cx, (ac_place){.file = f->path}, E0012, "the model has no graph");
    AC_TRY(ac_onx_read_opsets(r, &r->scope, m.opsets, "the model"));
    AC_TRY(read_functions(r, m.functions));
    if (!r->scope.n_opset) /* before IR version 3 there was one operator set */
        r->scope.opset[r->scope.n_opset++] = (ac_onx_opset){ac_intern(r->cx, ""), 1};
    return read_graph(r, m.graph);
}

static int nodes(ac_reading *reading)
{
    ac_onx *r = reading->own;
    const ac_onx_body *b = r->body;
    int rc = ac_onx_read_nodes(r, &r->scope, b->nodes);
    if (!r->pb.failed && check_values(r, &r->scope, b->values) != AC_OK)
        rc = AC_FAIL;
    if (!r->pb.failed && read_outputs(r, &r->scope, b->outputs) != AC_OK)
        rc = AC_FAIL;
    reading->out.file_ops = r->nodes;
    ac_onx_texts_end(r);
    return r->pb.failed ? AC_FAIL : rc;
}

/* ModelProto: ir_version 1, names 2..4, model_version 5, doc 6, graph 7, opset_import 8. GraphProto: node 1, name 2,
 * initializer 5, input 11, output 12. */
static bool looks(ac_span s)
{
    const ac_outline o = ac_peek_outline(s), g = ac_peek_outline(o.seventh);
    const uint64_t strings =
        AC_FIELD(2) | AC_FIELD(3) | AC_FIELD(4) | AC_FIELD(6) | AC_FIELD(7) | AC_FIELD(8) | AC_FIELD(14) | AC_FIELD(20);
    const uint64_t of_graph = AC_FIELD(1) | AC_FIELD(2) | AC_FIELD(5) | AC_FIELD(11) | AC_FIELD(12);
    return !ac_peek_text(s) && !o.broken && (o.messages & AC_FIELD(7)) &&
           ((o.numbers & AC_FIELD(1)) || (o.messages & AC_FIELD(8))) && !(o.numbers & strings) &&
           !(o.messages & (AC_FIELD(1) | AC_FIELD(5))) && !g.broken && !(g.numbers & of_graph) &&
           (!o.seventh.n || (g.messages & of_graph));
}

const ac_format ac_onnx_format = {.title = "ONNX",
                                  .looks = looks,
                                  .read = read,
                                  .nodes = nodes,
                                  .open_batch = true,
                                  .keep_nan = AC_NAN_ALL,
                                  .operators = &ac_onx_operators};
