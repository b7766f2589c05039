/* offline_read.c - reads the operators that TFLM will run, and an existing plan of the file. */
#include "import/tflite/offline.h"

#include "import/tflite/tflite.h"

#include <string.h>

enum { CODE_OLD, CODE_CUSTOM, CODE_VERSION, CODE_BUILTIN };
enum { SUB_TENSORS, SUB_INPUTS, SUB_OUTPUTS, SUB_OPERATORS };
enum { OP_CODE, OP_INPUTS, OP_OUTPUTS };
enum { T_SHAPE, T_TYPE, T_BUFFER, T_NAME, T_QUANT, T_VARIABLE };
enum { META_NAME, META_BUFFER };

bool ac_offline_is_tflite(const ac_file *f)
{
    return ac_span_starts((ac_span){f->data, f->n}, 4, "TFL3", 4);
}

/* Bytes of buffer `index` as the FlatBuffer holds them. */
static ac_fb_vec buffer_data(ac_fb *fb, ac_fb_vec buffers, int64_t index)
{
    ac_fb_table t = {.what = "Buffer"};
    if (index > 0 && index < buffers.n)
        t = ac_fb_elem_table(fb, buffers, (uint32_t)index, "Buffer");
    return ac_fb_vector(fb, t, 0, 1);
}

static void read_tensor(ac_fb *fb, ac_fb_vec buffers, bool *seen, ac_fb_table t, ac_offline *m, int32_t index)
{
    ac_offline_tensor *x = &m->tensor[index];
    const int64_t buffer = ac_fb_int(fb, t, T_BUFFER, AC_FB_U32, 0);
    const ac_fb_vec data = buffer_data(fb, buffers, buffer);
    ac_ctx *cx = fb->cx;
    const char *name = ac_fb_string(fb, t, T_NAME);
    ac_fb_vec shape = ac_fb_vector(fb, t, T_SHAPE, 4);
    int64_t count = 1;
    bool sized = shape.n <= 16;
    const char *text = "[";
    for (uint32_t i = 0; i < shape.n && sized; i++) {
        int64_t d = ac_fb_elem_int(fb, shape, i, AC_FB_I32);
        sized = d >= 0 && ac_mul_ok(count, d, &count) && count <= INT32_MAX;
        text = ac_strf(cx->region, "%s%s%lld", text, i ? "," : "", (long long)d);
    }
    x->name = name && *name ? name : ac_internf(cx, "t%d", index);
    x->shape = ac_strf(cx->region, "%s]", text);
    x->dtype = ac_dtype_from_tflite((int32_t)ac_fb_int(fb, t, T_TYPE, AC_FB_I8, 0));
    x->variable = ac_fb_int(fb, t, T_VARIABLE, AC_FB_U8, 0) != 0;
    x->elements = sized && x->dtype != AC_NONE ? count : 0;
    x->bytes = sized && x->dtype != AC_NONE ? ac_dtype_size(x->dtype, count) : 0;
    x->first = x->last = -1;
    x->stored = -1;
    x->planned = x->bytes > 0 && x->bytes <= INT32_MAX && !x->variable && !data.n;
    m->n_constants += data.n > 0;
    if (data.n && !seen[buffer])
        m->weight_bytes += data.n;
    if (data.n)
        seen[buffer] = true;
}

/* The tensor numbers of a list; those out of range are an error. */
static int32_t *numbers(ac_fb *fb, const ac_offline *m, ac_fb_vec v)
{
    int32_t *list = AC_NEW_N(fb->cx->region, int32_t, (size_t)v.n + 1);
    for (uint32_t i = 0; i < v.n && !fb->failed; i++) {
        int64_t k = ac_fb_elem_int(fb, v, i, AC_FB_I32);
        if (k < -1 || k >= m->n_tensors) {
            ac_error(fb->cx, ac_fb_place(fb, v.at + 4 * (uint64_t)i), E0013,
                     "tensor number %lld, but the subgraph has %d tensors", (long long)k, m->n_tensors);
            fb->failed = true;
        }
        list[i] = (int32_t)k;
    }
    return list;
}

static void read_operators(ac_fb *fb, ac_fb_table model, ac_fb_table sub, ac_offline *m)
{
    ac_fb_vec ops = ac_fb_vector(fb, sub, SUB_OPERATORS, 4), codes = ac_fb_vector(fb, model, AC_MODEL_CODES, 4);
    m->n_ops = (int32_t)(ops.n & INT32_MAX);
    m->op = AC_NEW_N(fb->cx->region, ac_offline_op, (size_t)m->n_ops + 1);
    for (int32_t i = 0; i < m->n_ops && !fb->failed; i++) {
        ac_fb_table t = ac_fb_elem_table(fb, ops, (uint32_t)i, "Operator"), c = {.what = "OperatorCode"};
        ac_fb_vec in = ac_fb_vector(fb, t, OP_INPUTS, 4), out = ac_fb_vector(fb, t, OP_OUTPUTS, 4);
        int64_t code = ac_fb_int(fb, t, OP_CODE, AC_FB_U32, 0);
        if (code < codes.n)
            c = ac_fb_elem_table(fb, codes, (uint32_t)code, "OperatorCode");
        int64_t old = ac_fb_int(fb, c, CODE_OLD, AC_FB_I8, 0), number = ac_fb_int(fb, c, CODE_BUILTIN, AC_FB_I32, 0);
        const char *custom = ac_fb_string(fb, c, CODE_CUSTOM);
        if (fb->failed)
            return;
        ac_tfl_code what = ac_tfl_code_of(fb->cx, old > number ? old : number, custom, 1);
        m->op[i] =
            (ac_offline_op){.name = what.name, .n_in = (int32_t)in.n, .n_out = (int32_t)out.n, .known = what.known};
        m->op[i].in = numbers(fb, m, in);
        m->op[i].out = numbers(fb, m, out);
    }
}

/* The last entry of that name counts, as it does for TFLM. */
static void read_stored(ac_fb *fb, ac_fb_table model, ac_fb_vec buffers, ac_offline *m)
{
    ac_fb_vec meta = ac_fb_vector(fb, model, AC_MODEL_META, 4);
    for (uint32_t i = 0; i < meta.n && !fb->failed; i++) {
        ac_fb_table t = ac_fb_elem_table(fb, meta, i, "Metadata");
        const char *name = ac_fb_string(fb, t, META_NAME);
        if (!name || strcmp(name, AC_OFFLINE_NAME))
            continue;
        ac_fb_vec data = buffer_data(fb, buffers, ac_fb_int(fb, t, META_BUFFER, AC_FB_U32, 0));
        ac_fb_vec word = {.at = data.at, .n = data.n / 4, .width = 4, .present = true};
        m->has_plan = true;
        m->n_stored = word.n > 3 ? (int32_t)((word.n - 3) & INT32_MAX) : 0;
        for (int32_t k = 0; k < m->n_tensors && !fb->failed; k++)
            m->tensor[k].stored = k < m->n_stored ? ac_fb_elem_int(fb, word, (uint32_t)k + 3, AC_FB_I32) : -1;
    }
}

int ac_offline_read(ac_ctx *cx, const ac_file *f, ac_offline *m)
{
    ac_fb fb;
    *m = (ac_offline){0};
    if (!ac_offline_is_tflite(f)) {
        ac_error(cx, (ac_place){.file = f->path}, E0502,
                 "cannot write TFLite from another format: arenac adds its plan to an existing TFLite file");
        return ac_help(cx, "convert the model to .onnx or .ag");
    }
    ac_fb_open(&fb, cx, f->path, (ac_span){f->data, f->n});
    ac_fb_table model = ac_fb_root(&fb, "Model");
    ac_fb_vec subs = ac_fb_vector(&fb, model, AC_MODEL_SUBGRAPHS, 4),
              buffers = ac_fb_vector(&fb, model, AC_MODEL_BUFFERS, 4);
    int64_t all = 0;
    if (!fb.failed && !subs.n)
        return ac_error(cx, (ac_place){.file = f->path}, E0012, "the model has no subgraph");
    for (uint32_t i = 0; i < subs.n && !fb.failed; i++)
        all += ac_fb_vector(&fb, ac_fb_elem_table(&fb, subs, i, "SubGraph"), SUB_TENSORS, 4).n;
    if (fb.failed || all > INT32_MAX / 8) /* a vector fits the file, but lists may be shared */
        return fb.failed
                   ? AC_FAIL
                   : ac_error(cx, (ac_place){.file = f->path}, E0014, "the model has %lld tensors", (long long)all);
    ac_fb_table sub = ac_fb_elem_table(&fb, subs, 0, "SubGraph");
    ac_fb_vec tensors = ac_fb_vector(&fb, sub, SUB_TENSORS, 4);
    m->n_all = (int32_t)all;
    m->n_subgraphs = (int32_t)(subs.n & INT32_MAX);
    m->n_tensors = (int32_t)tensors.n;
    m->tensor = AC_NEW_N(cx->region, ac_offline_tensor, (size_t)m->n_tensors + 1);
    bool *seen = AC_NEW_N(cx->region, bool, (size_t)buffers.n + 1);
    for (int32_t i = 0; i < m->n_tensors && !fb.failed; i++)
        read_tensor(&fb, buffers, seen, ac_fb_elem_table(&fb, tensors, (uint32_t)i, "Tensor"), m, i);
    ac_fb_vec in = ac_fb_vector(&fb, sub, SUB_INPUTS, 4), out = ac_fb_vector(&fb, sub, SUB_OUTPUTS, 4);
    const int32_t *inputs = numbers(&fb, m, in), *outputs = numbers(&fb, m, out);
    for (uint32_t i = 0; i < in.n && !fb.failed; i++)
        if (inputs[i] >= 0)
            m->tensor[inputs[i]].input = true;
    for (uint32_t i = 0; i < out.n && !fb.failed; i++)
        if (outputs[i] >= 0)
            m->tensor[outputs[i]].output = true;
    read_operators(&fb, model, sub, m);
    read_stored(&fb, model, buffers, m);
    if (!fb.failed)
        ac_offline_scratch(m);
    return fb.failed ? AC_FAIL : AC_OK;
}

void ac_offline_lives(ac_ctx *cx, ac_offline *m, const int32_t *order)
{
    bool *made = AC_NEW_N(cx->region, bool, (size_t)m->n_tensors + 1);
    for (int32_t k = 0; k < m->n_tensors; k++) {
        made[k] = m->tensor[k].input;
        m->tensor[k].first = m->tensor[k].last = made[k] ? 0 : -1;
    }
    for (int32_t i = 0; i < m->n_ops; i++) {
        const ac_offline_op *op = &m->op[order ? order[i] : i];
        for (int32_t k = 0; k < op->n_in + op->n_out; k++) {
            const int32_t id = k < op->n_in ? op->in[k] : op->out[k - op->n_in];
            if (id < 0)
                continue;
            ac_offline_tensor *t = &m->tensor[id];
            made[id] |= k >= op->n_in;
            t->first = t->first < 0 ? i : t->first;
            t->last = i;
        }
    }
    for (int32_t k = 0; k < m->n_tensors; k++) {
        ac_offline_tensor *t = &m->tensor[k];
        if (t->output)
            t->last = m->n_ops > 0 ? m->n_ops - 1 : 0;
        t->planned = t->planned && made[k]; /* a tensor without a producer has no live range in TFLM */
    }
}
