/* tflite.c - the container of TFLite files: operator codes, buffers, subgraphs, the order of execution. */
#include "import/build/wanted_outputs.h"
#include "import/tflite/tflite.h"

#include <stdlib.h>
#include <string.h>

/* Field numbers of the tables read here. */
enum { MODEL_VERSION, MODEL_CODES, MODEL_SUBGRAPHS, MODEL_DESCRIPTION, MODEL_BUFFERS };
enum { CODE_OLD, CODE_CUSTOM, CODE_VERSION, CODE_BUILTIN };
enum { BUFFER_DATA, BUFFER_OFFSET, BUFFER_SIZE };
enum { SUB_TENSORS, SUB_INPUTS, SUB_OUTPUTS, SUB_OPERATORS, SUB_NAME };
enum { OP_CODE, OP_INPUTS, OP_OUTPUTS };

/* The memory cost of an entry in steps, so that subgraphs that share their lists cannot multiply it. */
enum { WORK_TENSOR = 32, WORK_OPERATOR = 8 };

static int read_codes(ac_tfl *r, ac_fb_table model)
{
    ac_fb_vec v = ac_fb_vector(&r->fb, model, MODEL_CODES, 4);
    r->code = AC_NEW_N(r->cx->region, ac_tfl_code, v.n);
    r->n_code = v.n;
    for (uint32_t i = 0; i < v.n && !r->fb.failed; i++) {
        ac_fb_table t = ac_fb_elem_table(&r->fb, v, i, "OperatorCode");
        /* Writers before schema 3a have only the byte; later ones set it to 127 if the number does not fit. */
        int64_t old = ac_fb_int(&r->fb, t, CODE_OLD, AC_FB_I8, 0),
                number = ac_fb_int(&r->fb, t, CODE_BUILTIN, AC_FB_I32, 0);
        const char *custom = ac_fb_string(&r->fb, t, CODE_CUSTOM);
        int64_t version = ac_fb_int(&r->fb, t, CODE_VERSION, AC_FB_I32, 1);
        if (!r->fb.failed)
            r->code[i] = ac_tfl_code_of(r->cx, old > number ? old : number, custom, version);
    }
    return r->fb.failed ? AC_FAIL : AC_OK;
}

/* Bytes are in the FlatBuffer or, in files above 2 GiB, after it at offset..offset+size. */
static int read_buffers(ac_tfl *r, ac_fb_table model)
{
    ac_fb_vec v = ac_fb_vector(&r->fb, model, MODEL_BUFFERS, 4);
    r->buffer = AC_NEW_N(r->cx->region, ac_tfl_buffer, v.n);
    r->n_buffer = v.n;
    for (uint32_t i = 0; i < v.n && !r->fb.failed; i++) {
        ac_fb_table t = ac_fb_elem_table(&r->fb, v, i, "Buffer");
        ac_fb_vec data = ac_fb_vector(&r->fb, t, BUFFER_DATA, 1);
        int64_t offset = ac_fb_int(&r->fb, t, BUFFER_OFFSET, AC_FB_U64, 0);
        int64_t size = ac_fb_int(&r->fb, t, BUFFER_SIZE, AC_FB_U64, 0);
        if (data.n)
            r->buffer[i].bytes = (ac_span){r->reading->file.data + data.at, data.n};
        else if (offset > 1 && !ac_span_sub(r->fb.bytes, (uint64_t)offset, (uint64_t)size, &r->buffer[i].bytes)) {
            ac_error(r->cx, ac_fb_place(&r->fb, t.at), E0011,
                     "buffer %u (%lld bytes at 0x%llx) reaches past the end (%llu bytes)", i, (long long)size,
                     (unsigned long long)offset, (unsigned long long)r->reading->file.n);
            return ac_help(r->cx, "the file is damaged or cut off; copy or export it again");
        }
    }
    return r->fb.failed ? AC_FAIL : AC_OK;
}

/* Entry i of a list of tensor numbers. NULL: out of range (reported), or -1 if that means "omitted". */
static ac_tfl_tensor *tensor_of(ac_tfl *r, ac_tfl_sub *sub, ac_place at, const char *list, ac_fb_vec v, uint32_t i,
                                bool optional)
{
    int64_t k = ac_fb_elem_int(&r->fb, v, i, AC_FB_I32);
    if (r->fb.failed || (k == -1 && optional))
        return NULL;
    if (k >= 0 && k < sub->n_tensor)
        return &sub->tensor[k];
    ac_error(r->cx, at, E0013, "%s %u is tensor number %lld, but the subgraph has %u tensors", list, i, (long long)k,
             sub->n_tensor);
    return NULL;
}

static void mark_used(ac_tfl *r, ac_tfl_sub *sub, ac_fb_vec v, int32_t maker)
{
    for (uint32_t i = 0; i < v.n && !r->fb.failed; i++) {
        int64_t k = ac_fb_elem_int(&r->fb, v, i, AC_FB_I32);
        if (k < 0 || k >= sub->n_tensor)
            continue; /* reported when the list is finally read */
        sub->tensor[k].used = true;
        if (maker >= 0 && sub->tensor[k].maker < 0)
            sub->tensor[k].maker = maker;
    }
}

/* The value that a call passes to an input, in the type and quantisation that it declares. */
static int bind(ac_tfl *r, const ac_tfl_node *n, ac_tfl_tensor *x, ac_tensor *arg)
{
    if (x->t && x->t->dtype != arg->dtype)
        return ac_error(r->cx, n->at, E0105, "'%s' is %s, but becomes '%s', which is %s", arg->name,
                        ac_dtype_name(arg->dtype), x->name, ac_dtype_name(x->t->dtype));
    if (x->t && x->t->quant && !ac_quant_equal(arg->quant, x->t->quant))
        return ac_error(r->cx, n->at, E0106, "'%s' becomes '%s', which is quantised in another way", arg->name,
                        x->name);
    x->made = true;
    x->t = arg;
    return AC_OK;
}

static int bind_inputs(ac_tfl *r, ac_tfl_sub *sub, const ac_tfl_node *n, ac_fb_vec v)
{
    const ac_place at = {.file = r->reading->file.path, .subgraph = sub->index};
    for (uint32_t i = 0; i < v.n && !r->fb.failed; i++) {
        ac_tfl_tensor *x = tensor_of(r, sub, at, "graph input", v, i, false);
        if (!x || x->broken)
            return AC_FAIL;
        if (x->refuse)
            return ac_refuse(r->reading, at, x->code, "a graph input", x->refuse, NULL);
        if (x->made && !(x->t && x->t->data && !ac_tensor_count(x->t)))
            return ac_error(r->cx, at, E0101, "'%s' is a graph input, but is listed twice, a constant or a state",
                            x->name);
        AC_TRY(bind(r, n, x, sub->arg[i]));
    }
    return r->fb.failed ? AC_FAIL : AC_OK;
}

static int read_inputs(ac_tfl *r, ac_tfl_sub *sub, ac_fb_vec v)
{
    int rc = AC_OK;
    for (uint32_t i = 0; i < v.n && !r->fb.failed; i++) {
        ac_place at = {.file = r->reading->file.path, .subgraph = sub->index};
        ac_tfl_tensor *x = tensor_of(r, sub, at, "graph input", v, i, false);
        if (!x) {
            rc = AC_FAIL;
            continue;
        }
        at.node = x->name;
        if (x->refuse)
            ac_refuse(r->reading, at, x->code, "a graph input", x->refuse, NULL);
        x->made = true;
        if (!x->t) { /* refused or broken */
            rc = AC_FAIL;
            continue;
        }
        if (x->t->data && !ac_tensor_count(x->t))
            x->t->data = NULL; /* no elements and no maker looks like a constant */
        if (x->t->input || x->t->data || x->t->state) {
            rc = ac_error(r->cx, at, E0101, "'%s' is a graph input, but %s", x->name,
                          x->t->input  ? "is listed twice"
                          : x->t->data ? "has constant data"
                                       : "is a state variable");
            continue;
        }
        x->late = true;
        if (sub->index) {
            x->t->input = true;
            ac_push(r->cx->region, &sub->g->input, x->t);
        } else {
            x->t = ac_reading_input_made(r->reading, x->t);
        }
    }
    return rc;
}

static int read_outputs(ac_tfl *r, ac_tfl_sub *sub, ac_fb_vec v)
{
    int rc = AC_OK;
    ac_place at = {.file = r->reading->file.path, .subgraph = sub->index};
    if (!v.n && !sub->index && !r->fb.failed)
        return ac_error(r->cx, at, E0101, "the main subgraph has no outputs");
    for (uint32_t i = 0; i < v.n && !r->fb.failed; i++) {
        at.node = NULL;
        ac_tfl_tensor *x = tensor_of(r, sub, at, "graph output", v, i, false);
        if (!x || x->broken) {
            rc = AC_FAIL;
            continue;
        }
        at.node = x->name;
        if (x->refuse)
            ac_refuse(r->reading, at, x->code, "a graph output", x->refuse, NULL);
        if (!x->made)
            rc = ac_error(r->cx, at, E0101, "no operator produces graph output '%s'", x->name);
        if (!x->t)
            continue;
        if (sub->result) {
            sub->result[i] = x->t;
            continue;
        }
        if (sub->sized) { /* results may be constants, inputs, or one tensor */
            (void)ac_outputs_add(sub->g, x->t, x->name);
            continue;
        }
        x->t->output = true;
        ac_push(r->cx->region, &sub->g->output, x->t);
    }
    return rc;
}

/* The file's order must be an order of execution: operands have their value, results are new. */
static int read_operands(ac_tfl *r, ac_tfl_sub *sub, ac_tfl_node *n, ac_fb_vec ins, int32_t self)
{
    int rc = AC_OK;
    for (uint32_t i = 0; i < ins.n && !r->fb.failed; i++) {
        int32_t errors = r->cx->diags.errors;
        ac_tfl_tensor *x = tensor_of(r, sub, n->at, "input", ins, i, true);
        if (!x) {
            rc = r->cx->diags.errors > errors ? AC_FAIL : rc;
            continue;
        }
        if (x->broken) {
            rc = AC_FAIL;
        } else if (x->made) {
            n->in[i] = x->t;
            n->late |= x->late ? 1u << (i < 31 ? i : 31) : 0;
        } else if (x->maker == self) {
            rc = ac_error(r->cx, n->at, E0101, "reads its own result '%s'", x->name);
        } else if (x->maker >= 0) {
            rc = ac_error(r->cx, n->at, E0101, "reads '%s' before op%d produces it: a cycle, or the wrong order",
                          x->name, x->maker);
        } else if (n->code->known) { /* unknown operators may have other rules */
            rc = ac_error(r->cx, n->at, E0101, "reads '%s', which no operator produces", x->name);
        }
        n->complex |= !i && x->complex;
        n->handle = !i && x->resource ? x : n->handle;
        if (x->refuse && n->code->known && !ac_tfl_takes(n->code, x))
            ac_refuse(r->reading, n->at, x->code, n->code->name, x->refuse, NULL);
    }
    return r->fb.failed ? AC_FAIL : rc;
}

static int read_results(ac_tfl *r, ac_tfl_sub *sub, ac_tfl_node *n, ac_fb_vec outs, int32_t self)
{
    int rc = AC_OK;
    for (uint32_t i = 0; i < outs.n && !r->fb.failed; i++) {
        ac_tfl_tensor *x = tensor_of(r, sub, n->at, "output", outs, i, false);
        if (!x || x->broken) {
            rc = AC_FAIL;
            continue;
        }
        if (x->made)
            rc = ac_error(r->cx, n->at, E0101, "makes '%s', which %s", x->name,
                          x->t && x->t->data    ? "is a constant"
                          : x->t && x->t->state ? "is a state variable"
                          : x->t && x->t->input ? "is a graph input"
                          : x->maker == self    ? "is listed twice among its outputs"
                                                : ac_strf(r->cx->region, "op%d already produces", x->maker));
        x->made = true;
        if (x->refuse && n->code->known && !ac_tfl_takes(n->code, x))
            ac_refuse(r->reading, n->at, x->code, n->code->name, x->refuse, NULL);
        n->handle = !i && x->resource ? x : n->handle;
        n->out[i] = x->t;
        n->result[i] = x;
        x->late = n->late && n->code->op != AC_OP_SHAPE && n->code->op != AC_OP_RANK;
    }
    return r->fb.failed ? AC_FAIL : rc;
}

static int read_operator(ac_tfl *r, ac_tfl_sub *sub, ac_fb_table t, int32_t index)
{
    ac_place at = {.file = r->reading->file.path, .subgraph = sub->index, .op_index = index + 1};
    ac_fb_vec ins = ac_fb_vector(&r->fb, t, OP_INPUTS, 4), outs = ac_fb_vector(&r->fb, t, OP_OUTPUTS, 4);
    int64_t code = ac_fb_int(&r->fb, t, OP_CODE, AC_FB_U32, 0);
    if (r->fb.failed)
        return AC_FAIL;
    static const ac_tfl_code NO_CODE = {.name = NULL};
    ac_tfl_node n = {.g = sub->g,
                     .code = code < r->n_code ? &r->code[code] : &NO_CODE,
                     .table = t,
                     .at = at,
                     .subgraph = sub->index,
                     .sized = sub->sized,
                     .n_in = (int32_t)ins.n,
                     .n_out = (int32_t)outs.n};
    int64_t first = outs.n ? ac_fb_elem_int(&r->fb, outs, 0, AC_FB_I32) : -1;
    n.at.op = n.code->name;
    n.at.node = first >= 0 && first < sub->n_tensor ? sub->tensor[first].name : NULL;
    n.in = AC_NEW_N(r->cx->region, ac_tensor *, ins.n);
    n.out = AC_NEW_N(r->cx->region, ac_tensor *, outs.n);
    n.result = AC_NEW_N(r->cx->region, ac_tfl_tensor *, outs.n);
    int32_t refused = r->reading->refused.n;
    int rc = AC_OK;
    if (code >= r->n_code)
        rc = ac_error(r->cx, n.at, E0013, "operator code number %lld, but the model has %u codes", (long long)code,
                      r->n_code);
    if (read_operands(r, sub, &n, ins, index) != AC_OK)
        rc = AC_FAIL;
    if (!r->fb.failed && read_results(r, sub, &n, outs, index) != AC_OK)
        rc = AC_FAIL;
    if (!r->fb.failed && n.code->name && !n.code->known)
        ac_tfl_refuse_op(r, n.at, n.code);
    rc = rc != AC_OK || r->reading->refused.n > refused
             ? AC_FAIL
             : ac_tfl_node_add(r, &n, sub->result ? sub->g->next_node++ : index);
    for (uint32_t i = 0; i < outs.n && rc != AC_OK && n.sized; i++)
        if (n.result[i])
            n.result[i]->broken = true; /* its shape is unknown */
    return rc;
}

/* caller: the node that runs it; NULL: it is read for itself */
static int read_subgraph(ac_tfl *r, ac_fb_table t, ac_tfl_sub *sub, const ac_tfl_node *caller)
{
    ac_fb *fb = &r->fb;
    ac_fb_vec tensors = ac_fb_vector(fb, t, SUB_TENSORS, 4), ops = ac_fb_vector(fb, t, SUB_OPERATORS, 4);
    ac_fb_vec ins = ac_fb_vector(fb, t, SUB_INPUTS, 4), outs = ac_fb_vector(fb, t, SUB_OUTPUTS, 4);
    if (!ac_fb_spend(fb, WORK_TENSOR * (int64_t)tensors.n + WORK_OPERATOR * (int64_t)ops.n))
        return AC_FAIL;
    sub->n_tensor = tensors.n;
    sub->tensor = AC_NEW_N(r->cx->region, ac_tfl_tensor, tensors.n);
    for (uint32_t i = 0; i < tensors.n; i++)
        sub->tensor[i].maker = -1;
    mark_used(r, sub, ins, -1);
    for (uint32_t i = 0; i < tensors.n; i++)
        sub->tensor[i].input = sub->tensor[i].used; /* nothing else is marked yet */
    mark_used(r, sub, outs, -1);
    for (uint32_t i = 0; i < ops.n && !fb->failed; i++) {
        ac_fb_table op = ac_fb_elem_table(fb, ops, i, "Operator");
        mark_used(r, sub, ac_fb_vector(fb, op, OP_INPUTS, 4), -1);
        mark_used(r, sub, ac_fb_vector(fb, op, OP_OUTPUTS, 4), (int32_t)(i & INT32_MAX));
    }
    if (fb->failed)
        return AC_FAIL;
    int rc = ac_tfl_tensors(r, sub, tensors);
    if (fb->failed)
        return AC_FAIL;
    if (!caller)
        sub->g->next_node = (int32_t)(ops.n & INT32_MAX);
    if ((caller ? bind_inputs(r, sub, caller, ins) : read_inputs(r, sub, ins)) != AC_OK)
        rc = AC_FAIL;
    for (uint32_t i = 0; i < ops.n && !fb->failed; i++)
        if (read_operator(r, sub, ac_fb_elem_table(fb, ops, i, "Operator"), (int32_t)(i & INT32_MAX)) != AC_OK)
            rc = AC_FAIL;
    if (read_outputs(r, sub, outs) != AC_OK)
        rc = AC_FAIL;
    if (!sub->index)
        r->reading->out.file_ops = ops.n;
    return fb->failed ? AC_FAIL : rc;
}

int ac_tfl_subgraph(ac_tfl *r, ac_tfl_sub *sub, const ac_tfl_node *n, int32_t n_arg, int32_t n_result)
{
    const ac_fb_table t = ac_fb_elem_table(&r->fb, r->sub, (uint32_t)sub->index, "SubGraph");
    const ac_fb_vec ins = ac_fb_vector(&r->fb, t, SUB_INPUTS, 4), outs = ac_fb_vector(&r->fb, t, SUB_OUTPUTS, 4);
    const char *name = ac_fb_string(&r->fb, t, SUB_NAME);
    if (r->fb.failed)
        return AC_FAIL;
    if ((int64_t)ins.n != n_arg || (int64_t)outs.n != n_result)
        return ac_error(r->cx, n->at, E0102, "subgraph %d ('%s') takes %u values and returns %u, expected %d and %d",
                        sub->index, name ? name : "", ins.n, outs.n, n_arg, n_result);
    for (int32_t i = 0; i < n_result; i++)
        sub->result[i] = NULL;
    AC_TRY(read_subgraph(r, t, sub, n));
    for (int32_t i = 0; i < n_result; i++)
        if (!sub->result[i])
            return AC_FAIL;
    return AC_OK;
}

int ac_tfl_changed(ac_tfl *r, const ac_tfl_node *n, bool *changes)
{
    const int32_t subgraph = n->attrs.flow.second;
    if (subgraph < 1 || (uint32_t)subgraph >= r->sub.n)
        return ac_tfl_call(r, n, subgraph, n->in, n->n_in, NULL, n->n_out); /* declares it */
    const ac_fb_table t = ac_fb_elem_table(&r->fb, r->sub, (uint32_t)subgraph, "SubGraph");
    const ac_fb_vec ins = ac_fb_vector(&r->fb, t, SUB_INPUTS, 4), outs = ac_fb_vector(&r->fb, t, SUB_OUTPUTS, 4);
    for (int32_t i = 0; i < n->n_in && !r->fb.failed; i++)
        changes[i] =
            ac_fb_elem_int(&r->fb, ins, (uint32_t)i, AC_FB_I32) != ac_fb_elem_int(&r->fb, outs, (uint32_t)i, AC_FB_I32);
    return r->fb.failed ? AC_FAIL : AC_OK;
}

/* In a sized reading, the main one and those that initialise variables. */
static int read_subgraphs(ac_tfl *r, ac_fb_table model)
{
    r->sub = ac_fb_vector(&r->fb, model, MODEL_SUBGRAPHS, 4);
    int rc = AC_OK;
    if (!r->fb.failed && !r->sub.n)
        return ac_error(r->cx, (ac_place){.file = r->reading->file.path}, E0012, "the model has no subgraph");
    r->constant = AC_NEW_N(r->cx->region, ac_tfl_constants, r->sub.n + 1);
    for (uint32_t i = 0; i < r->sub.n && !r->fb.failed; i++) {
        ac_fb_table t = ac_fb_elem_table(&r->fb, r->sub, i, "SubGraph");
        const char *name = ac_fb_string(&r->fb, t, SUB_NAME);
        if (r->fb.failed)
            break;
        ac_tfl_sub sub = {.index = (int32_t)(i & INT32_MAX), .sized = r->sized && !i};
        if (r->sized && i && !ac_tfl_runs_once(r, sub.index))
            continue;
        if (!i) {
            sub.g = r->g = ac_reading_graph(r->reading, name && *name ? name : "main", "TFLite v3");
        } else {
            sub.g = ac_graph_new(r->cx, name && *name ? name : ac_internf(r->cx, "subgraph%u", i));
            sub.g->file = r->reading->file.path;
            ac_push(r->cx->region, &r->reading->g->sub, sub.g);
        }
        if (read_subgraph(r, t, &sub, NULL) != AC_OK)
            rc = AC_FAIL;
    }
    return r->fb.failed ? AC_FAIL : rc;
}

/* Also nodes: their meaning does not depend on sizes, unless those are data-dependent (sized.c). */
static int read(ac_reading *reading)
{
    ac_tfl r = {.reading = reading, .cx = reading->cx, .sized = reading->again};
    const ac_file *f = &reading->file;
    const ac_span bytes = {f->data, f->n};
    if (f->n >= 8 && !ac_span_starts(bytes, 4, "TFL3", 4))
        return ac_error(r.cx, (ac_place){.file = f->path, .byte = 5}, E0012,
                        "not a TFLite file: bytes 4 to 7 must be 'TFL3'");
    ac_fb_open(&r.fb, r.cx, f->path, bytes);
    ac_fb_table model = ac_fb_root(&r.fb, "Model");
    int64_t version = ac_fb_int(&r.fb, model, MODEL_VERSION, AC_FB_U32, 0);
    if (r.fb.failed)
        return AC_FAIL;
    if (version != 3)
        return ac_error(r.cx, (ac_place){.file = f->path}, E0017, "TFLite schema version %lld; arenac reads version 3",
                        (long long)version);
    AC_TRY(read_codes(&r, model));
    AC_TRY(read_buffers(&r, model));
    return read_subgraphs(&r, model);
}

static bool looks(ac_span s)
{
    if (s.n >= 6 && s.n < 8) /* cut off inside the mark */
        return ac_span_starts(s, 4, "TFL3", s.n - 4);
    return ac_span_starts(s, 4, "TFL3", 4);
}

const ac_format ac_tflite_format = {
    .title = "TensorFlow Lite", .looks = looks, .read = read, .open_batch = true, .operators = &ac_tfl_operators};
