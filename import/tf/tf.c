/* tf.c - the container of TensorFlow files: GraphDef and SavedModel, their inputs and outputs. */
#include "import/tf/nodedefs.h"
#include "import/tf/regions.h"
#include "import/build/wanted_outputs.h"
#include "import/tf/variables.h"
#include "import/wire/peek.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_NAMES = 4096 };

typedef struct graph_def {
    ac_pb_list nodes;
    ac_span library;
} graph_def;

typedef struct saved_model {
    int64_t version;
    ac_pb_list graphs;
} saved_model;

typedef struct meta_graph {
    ac_span graph, saver, objects;
    ac_pb_list signatures;
} meta_graph;

typedef struct saver {
    ac_span restore;
} saver;

typedef struct signature {
    ac_pb_list inputs, outputs;
} signature;

typedef struct entry {
    ac_span key, value;
} entry;

typedef struct tensor_info {
    ac_span name;
} tensor_info;

static const ac_pb_field GRAPH[] = {
    {1, AC_PB_MANY, offsetof(graph_def, nodes)}, {2, AC_PB_BYTES, offsetof(graph_def, library)}, {0, AC_PB_INT, 0}};
static const ac_pb_field SAVED[] = {
    {1, AC_PB_INT, offsetof(saved_model, version)}, {2, AC_PB_MANY, offsetof(saved_model, graphs)}, {0, AC_PB_INT, 0}};
static const ac_pb_field META[] = {{2, AC_PB_BYTES, offsetof(meta_graph, graph)},
                                   {3, AC_PB_BYTES, offsetof(meta_graph, saver)},
                                   {7, AC_PB_BYTES, offsetof(meta_graph, objects)},
                                   {5, AC_PB_MANY, offsetof(meta_graph, signatures)},
                                   {0, AC_PB_INT, 0}};
static const ac_pb_field SAVER[] = {{3, AC_PB_BYTES, offsetof(saver, restore)}, {0, AC_PB_INT, 0}};
static const ac_pb_field SIGNATURE[] = {
    {1, AC_PB_MANY, offsetof(signature, inputs)}, {2, AC_PB_MANY, offsetof(signature, outputs)}, {0, AC_PB_INT, 0}};
static const ac_pb_field ENTRY[] = {
    {1, AC_PB_BYTES, offsetof(entry, key)}, {2, AC_PB_BYTES, offsetof(entry, value)}, {0, AC_PB_INT, 0}};
static const ac_pb_field INFO[] = {{1, AC_PB_BYTES, offsetof(tensor_info, name)}, {0, AC_PB_INT, 0}};

/* Inputs and outputs, found before any node is made. */
typedef struct found {
    ac_name_list input; /* by signature; none: placeholders in the order of the file */
    ac_name_list output;
    ac_name_list input_key, output_key; /* their names in the signature */
    const char *restore;                /* the operator that restores variables; NULL: none is named */
} found;

/* ------------------------------------------------------------------ signatures of a SavedModel */

typedef struct named {
    const char *key, *tensor;
} named;

/* Entries by key: maps have no order of their own. */
static int read_entries(ac_tf *r, ac_pb_list map, ac_name_list *keys, ac_name_list *tensors)
{
    AC_VEC(named) list = {0};
    ac_span message;
    while (ac_pb_next(&r->pb, &map, &message)) {
        entry e = {{0}, {0}};
        tensor_info t = {{0}};
        if (!ac_pb_read(&r->pb, message, ENTRY, &e) || !ac_pb_read(&r->pb, e.value, INFO, &t))
            return AC_FAIL;
        const named x = {ac_pb_name(&r->pb, e.key), ac_pb_name(&r->pb, t.name)};
        if (!x.key || !x.tensor)
            return AC_FAIL;
        if (list.n >= MAX_NAMES)
            return ac_error(r->cx, ac_pb_place(&r->pb, message.p), E0012, "a signature has more than %d entries",
                            MAX_NAMES);
        int32_t at = list.n;
        ac_push(r->cx->region, &list, x);
        for (; at > 0 && strcmp(list.item[at - 1].key, x.key) > 0; at--)
            list.item[at] = list.item[at - 1];
        list.item[at] = x;
    }
    keys->n = tensors->n = 0;
    for (int32_t i = 0; i < list.n; i++) {
        ac_push(r->cx->region, keys, list.item[i].key);
        ac_push(r->cx->region, tensors, list.item[i].tensor);
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

/* The signature that serves, or else the first one that has outputs. */
static int read_signatures(ac_tf *r, ac_pb_list list, found *f)
{
    ac_span message;
    bool done = false;
    while (!done && ac_pb_next(&r->pb, &list, &message)) {
        entry e = {{0}, {0}};
        signature s = {.inputs = {.n = 0}};
        if (!ac_pb_read(&r->pb, message, ENTRY, &e) || !ac_pb_read(&r->pb, e.value, SIGNATURE, &s))
            return AC_FAIL;
        const char *key = ac_pb_name(&r->pb, e.key);
        if (!key)
            return AC_FAIL;
        done = !strcmp(key, "serving_default");
        if (!s.outputs.n || (f->output.n && !done) || !strncmp(key, "__", 2))
            continue;
        AC_TRY(read_entries(r, s.inputs, &f->input_key, &f->input));
        AC_TRY(read_entries(r, s.outputs, &f->output_key, &f->output));
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

static int read_saved_model(ac_tf *r, ac_span all, ac_span *graph, found *f)
{
    saved_model m = {.version = 0};
    meta_graph g = {.graph = {0}};
    saver s = {{0}};
    ac_span message;
    if (!ac_pb_read(&r->pb, all, SAVED, &m))
        return AC_FAIL;
    if (!ac_pb_next(&r->pb, &m.graphs, &message) || !ac_pb_read(&r->pb, message, META, &g))
        return r->pb.failed
                   ? AC_FAIL
                   : ac_error(r->cx, (ac_place){.file = r->reading->file.path}, E0012, "the SavedModel has no graph");
    AC_TRY(read_signatures(r, g.signatures, f));
    if (!ac_pb_read(&r->pb, g.saver, SAVER, &s) || (s.restore.n && !(f->restore = ac_pb_name(&r->pb, s.restore))))
        return AC_FAIL;
    r->object_graph = g.objects;
    *graph = g.graph;
    return AC_OK;
}

/* ------------------------------------------------------------------ outputs */

/* A node by its name, or a part of it. NULL: reported. */
static const char *some_node(ac_tf *r, const char *name)
{
    ac_name_list known = {0};
    for (int32_t i = 0; i < r->main.node.n; i++)
        ac_push(r->cx->region, &known, r->main.node.item[i].name);
    return ac_outputs_named(r->reading, "graph has no node", name, known);
}

/* Nodes whose results are unused, in the order of the file. Those without results are for training or checks, and
 * unused assignments of TensorFlow 1 give variables their first values, or restore them. */
static int find_ends(ac_tf *r)
{
    ac_tf_body *body = &r->main;
    bool *read = AC_NEW_N(r->cx->region, bool, body->node.n + 1);
    for (int32_t i = 0; i < body->node.n; i++) {
        ac_tf_node *n = &body->node.item[i];
        AC_TRY(ac_tf_link(r, body, n));
        for (int32_t k = 0; k < n->n_in + n->n_control; k++)
            read[n->in[k].node] = true;
    }
    body->ret = AC_NEW_N(r->cx->region, ac_tf_ref, body->node.n + 1);
    for (int32_t i = 0; i < body->node.n; i++) {
        const ac_tf_node *n = &body->node.item[i];
        const bool value = !n->row || n->row->run != AC_ADAPTER(ac_tf_do_nothing);
        if (!read[i] && value && !n->argument && strcmp(n->op, "Const") != 0 && !ac_tf_assigns(n))
            body->ret[body->n_rets++] = (ac_tf_ref){i, 0};
    }
    if (body->n_rets)
        return AC_OK;
    ac_error(r->cx, (ac_place){.file = r->reading->file.path}, E0101, "every node of the graph is read by another one");
    return ac_help(r->cx, "name its outputs: --outputs NAME,NAME");
}

static int find_outputs(ac_tf *r, found *f)
{
    ac_tf_body *body = &r->main;
    ac_name_list asked;
    AC_TRY(ac_outputs_asked(r->reading, &asked));
    if (asked.n) {
        f->output = asked;
        f->output_key.n = 0;
    }
    if (!f->output.n)
        AC_TRY(find_ends(r));
    else
        body->ret = AC_NEW_N(r->cx->region, ac_tf_ref, f->output.n);
    for (int32_t i = 0; i < f->output.n; i++) {
        const char *name = f->output.item[i], *colon = strchr(name, ':');
        const char *node = colon ? ac_intern_n(r->cx, name, (size_t)(colon - name)) : name;
        if (ac_name_get(&body->names, node) < 0) {
            if (!(node = some_node(r, node)))
                return AC_FAIL;
            f->output.item[i] = name = ac_internf(r->cx, "%s%s", node, colon ? colon : "");
        }
        ac_tf_ref *ref = &body->ret[body->n_rets++];
        AC_TRY(ac_tf_ref_of(r, body, name, (ac_place){.file = r->reading->file.path}, ref));
        if (ref->out == AC_TF_CONTROL)
            return ac_error(r->cx, (ac_place){.file = r->reading->file.path}, E0501, "--outputs: '%s' is not a tensor",
                            name);
    }
    for (int32_t i = 0; i < body->n_rets; i++) {
        ac_tf_node *n = &body->node.item[body->ret[i].node];
        n->n_out = n->n_out > body->ret[i].out ? n->n_out : body->ret[i].out + 1;
    }
    return ac_tf_body_order(r, body);
}

/* As the signature names it, or else as TensorFlow names tensors. */
static const char *result_name(ac_tf *r, int32_t i)
{
    const ac_tf_ref ref = r->main.ret[i];
    const char *node = r->main.node.item[ref.node].name;
    return i < r->output_key.n ? r->output_key.item[i] : ref.out ? ac_internf(r->cx, "%s:%d", node, ref.out) : node;
}

/* Results of the graph are named as the signature names them, or else as TensorFlow names tensors. */
static int bind_outputs(ac_tf *r, const ac_tf_value *ret)
{
    int rc = AC_OK;
    for (int32_t i = 0; i < r->main.n_rets; i++) {
        const ac_tf_ref ref = r->main.ret[i];
        const ac_tf_node *n = &r->main.node.item[ref.node];
        if (ret[i].kind == AC_TF_TENSOR && ret[i].t) {
            const char *name = result_name(r, i);
            ac_outputs_add(r->g, ret[i].t, name)->name = name;
            continue;
        }
        rc = AC_FAIL;
        if (ret[i].kind != AC_TF_BROKEN)
            rc = ac_error(r->cx, n->at, E0101, "graph output '%s' is %s", n->name,
                          ret[i].kind == AC_TF_DEAD ? "in a branch that is never taken" : "not a tensor");
    }
    return rc;
}

/* ------------------------------------------------------------------ inputs */

static void mark_inputs(ac_tf *r)
{
    for (int32_t i = 0; i < r->main.node.n; i++) {
        ac_tf_node *n = &r->main.node.item[i];
        if (strcmp(n->op, "Placeholder") != 0 && strcmp(n->op, "PlaceholderV2") != 0)
            continue;
        n->argument = true;
        n->n_out = n->n_out > 1 ? n->n_out : 1;
    }
}

static int make_input(ac_tf *r, ac_tf_node *n, const char *name)
{
    int64_t type = 0, dim[AC_MAX_RANK];
    int32_t rank = -1;
    const char *refused = NULL;
    AC_TRY(ac_tf_attrs(r, n));
    for (int32_t i = 0; i < n->n_attr; i++) {
        const ac_tf_attr *a = &n->attr[i];
        if (!strcmp(a->name, "dtype"))
            type = a->type;
        if (!strcmp(a->name, "shape") && a->shape.p && ac_tf_shape(&r->pb, a->shape, &rank, dim, &refused) != AC_OK &&
            !refused)
            return AC_FAIL;
    }
    const ac_dtype d = ac_tf_dtype(type);
    if (d == AC_NONE && !refused)
        refused = ac_strf(r->cx->region, "it has elements of type %s", ac_tf_dtype_name(r->cx, type));
    if (refused)
        return ac_refuse(r->reading, n->at, E0108, "an input", refused, NULL);
    (void)ac_reading_input(r->reading, name, d, rank, dim, NULL);
    return AC_OK;
}

/* Placeholders that the outputs need, in the order of the signature or of the file. A frozen graph may have others,
 * which are unused. */
static int find_inputs(ac_tf *r, const found *f)
{
    ac_tf_body *body = &r->main;
    bool *wanted = AC_NEW_N(r->cx->region, bool, body->node.n + 1);
    int rc = AC_OK;
    const ac_tf_frame *all = &body->frame.item[0];
    for (int32_t i = 0; i < all->node.n; i++)
        wanted[all->node.item[i]] = true;
    for (int32_t i = 0; i < f->input.n + body->node.n; i++) {
        int32_t at = i - f->input.n;
        if (i < f->input.n) {
            const char *name = f->input.item[i], *colon = strchr(name, ':');
            at = ac_name_get(&body->names, colon ? ac_intern_n(r->cx, name, (size_t)(colon - name)) : name);
        }
        if (at < 0 || !body->node.item[at].argument || !wanted[at])
            continue;
        bool twice = false;
        for (int32_t k = 0; k < body->arg.n && f->input.n; k++)
            twice |= body->arg.item[k] == at;
        if (twice)
            continue;
        ac_push(r->cx->region, &body->arg, at);
        if (make_input(r, &body->node.item[at], i < f->input.n ? f->input_key.item[i] : body->node.item[at].name) !=
            AC_OK)
            rc = AC_FAIL;
    }
    return r->pb.failed ? AC_FAIL : rc;
}

/* ------------------------------------------------------------------ the whole file */

/* A SavedModel begins with its version, in both forms; a GraphDef with its first node or its library. */
static bool is_saved_model(ac_span s, bool text)
{
    static const char MARK[] = "saved_model_schema_version";
    return text ? ac_span_starts(s, 0, MARK, sizeof MARK - 1) || ac_span_starts(s, 0, "meta_graphs", 11)
                : ac_span_starts(s, 0, "\x08", 1);
}

static int nodes(ac_reading *reading)
{
    ac_tf *r = reading->own;
    const int32_t n = r->main.arg.n;
    ac_tf_value *arg = AC_NEW_N(r->cx->region, ac_tf_value, n + 1);
    ac_tf_value *ret = AC_NEW_N(r->cx->region, ac_tf_value, r->main.n_rets + 1);
    for (int32_t i = 0; i < n; i++)
        arg[i] = (ac_tf_value){.kind = AC_TF_TENSOR, .t = r->reading->input.item[i]};
    int rc = ac_tf_run(r, &r->main, NULL, arg, ret);
    if (r->pb.failed)
        return AC_FAIL;
    if (ac_tf_variables_end(r) != AC_OK)
        rc = AC_FAIL;
    if (reading->repeat)
        return AC_FAIL;
    if (bind_outputs(r, ret) != AC_OK)
        return AC_FAIL;
    return ac_tf_regions_end(r) == AC_OK ? rc : AC_FAIL;
}

static int read(ac_reading *reading)
{
    ac_tf *r = reading->own = AC_NEW(reading->cx->region, ac_tf);
    *r = (ac_tf){.reading = reading, .cx = reading->cx};
    const char *path = reading->file.path;
    ac_span all = {reading->file.data, reading->file.n}, graph;
    const ac_pb_lines *lines = NULL;
    graph_def g = {.library = {0}};
    found f = {.input = {0}};
    const bool text = ac_peek_text(all), saved = is_saved_model(all, text);
    if (text)
        AC_TRY(ac_tf_text(r->cx, path, all, saved ? AC_TF_SAVED_MODEL : AC_TF_GRAPH_DEF, &all, &lines));
    ac_pb_open(&r->pb, r->cx, path, all);
    r->pb.lines = lines;
    graph = all;
    if (saved)
        AC_TRY(read_saved_model(r, all, &graph, &f));
    if (!ac_pb_read(&r->pb, graph, GRAPH, &g))
        return AC_FAIL;
    AC_TRY(ac_tf_functions(r, g.library));
    AC_TRY(ac_tf_body_read(r, &r->main, g.nodes));
    if (!r->main.node.n)
        return ac_error(r->cx, (ac_place){.file = path}, E0012, "the graph has no nodes");
    r->g = ac_reading_graph(reading, "main", saved ? "TensorFlow SavedModel" : "TensorFlow GraphDef");
    reading->out.file_ops = r->main.node.n;
    mark_inputs(r);
    if (f.restore && (r->restores = true))
        AC_TRY(ac_tf_restore_find(r, f.restore));
    AC_TRY(find_outputs(r, &f));
    r->output_key = f.output_key;
    for (int32_t i = 0; i < r->main.n_rets; i++)
        ac_reading_promise(reading, result_name(r, i), AC_NONE, -1, NULL, NULL);
    return find_inputs(r, &f);
}

/* GraphDef: node 1, library 2, version 3, versions 4. A node starts with its name, and its operator follows. */
static bool looks(ac_span s)
{
    ac_outline o = ac_peek_outline(s);
    uint64_t at = 1, n;
    if (ac_peek_text(s)) {
        static const char *const WORD[] = {"node", "library", "versions", "saved_model_schema_version", "meta_graphs"};
        ac_span w = ac_peek_word(s);
        for (size_t i = 0; i < sizeof WORD / sizeof *WORD; i++)
            if (ac_peek_starts(w, WORD[i]) && w.n > strlen(WORD[i]) && strchr(" \t\r\n:{<#", w.p[strlen(WORD[i])]))
                return ac_peek_contains(s, "{") || ac_peek_contains(s, "<");
        return false;
    }
    if (o.broken)
        return false;
    if ((o.numbers & AC_FIELD(1)) && (o.messages & AC_FIELD(2))) /* SavedModel: version 1, graphs 2; not ONNX */
        return !o.high && !(o.numbers & AC_FIELD(2)) && !(o.messages & (AC_FIELD(1) | AC_FIELD(7)));
    return !(o.messages & AC_FIELD(3)) && !(o.numbers & (AC_FIELD(1) | AC_FIELD(2) | AC_FIELD(4))) &&
           ac_peek_starts(o.first, "\x0a") && ac_span_varint(o.first, &at, &n) &&
           ac_span_starts(o.first, at + n, "\x12", 1);
}

const ac_format ac_tf_format = {.title = "TensorFlow GraphDef",
                                .looks = looks,
                                .read = read,
                                .nodes = nodes,
                                .open_batch = true,
                                .keep_nan = AC_NAN_EXTREMES | AC_NAN_SIGN,
                                .finds_outputs = true,
                                .operators = &ac_tf_operators};
