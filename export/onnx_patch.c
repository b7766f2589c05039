/* onnx_patch.c - an ONNX file with other values in its initialisers; see onnx_patch.h. */
#include "export/onnx_patch.h"

#include "export/pb_write.h"

#include <string.h>

/* Fields of the messages on the way to a tensor's data. */
enum {
    GRAPH = 7,       /* of the model */
    INITIALIZER = 5, /* of the graph */
    FLOATS = 4,      /* of a tensor, as all below */
    NAME = 8,
    RAW = 9,
    EXTERNAL = 13,
    LOCATION = 14
};
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

/* A field: all its bytes, and its contents. */
typedef struct field {
    int32_t number;
    ac_span all, in;
} field;

/* The field at *at, which moves after it; false: malformed. */
static bool next(ac_span s, uint64_t *at, field *f)
{
    const uint64_t start = *at;
    uint64_t key, n = 0;
    if (!ac_span_varint(s, at, &key) || key >> 3 > INT32_MAX)
        return false;
    const int kind = (int)(key & 7);
    if (kind == VARINT ? !ac_span_varint(s, at, &n) : kind == BYTES ? !ac_span_varint(s, at, &n) : false)
        return false;
    n = kind == VARINT ? 0 : kind == FIXED64 ? 8 : kind == FIXED32 ? 4 : n;
    if ((kind != VARINT && kind != FIXED64 && kind != BYTES && kind != FIXED32) || !ac_span_sub(s, *at, n, &f->in))
        return false;
    *at += n;
    f->number = (int32_t)(key >> 3);
    return ac_span_sub(s, start, *at - start, &f->all);
}

typedef struct work {
    ac_ctx *cx;
    const ac_onnx_value *value;
    int32_t n;
    bool *found;
} work;

static bool name_of(ac_span tensor, ac_span *name)
{
    uint64_t at = 0;
    field f;
    while (at < tensor.n) {
        if (!next(tensor, &at, &f))
            return false;
        if (f.number == NAME)
            *name = f.in;
    }
    return true;
}

/* The bytes before and after the contents stay the same if the length does. */
static void put_field(ac_sink *to, const field *f, const ac_sink *in)
{
    if (in->n == f->in.n) {
        ac_put_n(to, f->all.p, (size_t)(f->in.p - f->all.p));
        ac_put_n(to, in->text, in->n);
    } else {
        ac_pbw_message(to, f->number, in);
    }
}

static bool put_tensor(ac_span tensor, const ac_onnx_value *v, ac_sink *to)
{
    uint64_t at = 0;
    field f;
    bool done = false;
    while (at < tensor.n) {
        if (!next(tensor, &at, &f))
            return false;
        const bool data = f.number == FLOATS || f.number == RAW || f.number == EXTERNAL;
        if (!data && f.number != LOCATION)
            ac_put_n(to, f.all.p, f.all.n);
        if (data && !done) {
            const ac_sink raw = {.cx = to->cx, .text = (char *)(uintptr_t)v->data, .n = v->bytes};
            const field as_raw = {.number = RAW, .all = f.all, .in = f.in};
            if (f.number == RAW)
                put_field(to, &as_raw, &raw);
            else
                ac_pbw_bytes(to, RAW, v->data, v->bytes);
            done = true;
        }
    }
    if (!done && v->bytes)
        ac_pbw_bytes(to, RAW, v->data, v->bytes);
    return true;
}

static bool put_graph(work *w, ac_span graph, ac_sink *to)
{
    uint64_t at = 0;
    field f;
    while (at < graph.n) {
        if (!next(graph, &at, &f))
            return false;
        ac_span name = {0};
        const ac_onnx_value *v = NULL;
        if (f.number == INITIALIZER && !name_of(f.in, &name))
            return false;
        for (int32_t i = 0; i < w->n && name.p && !v; i++)
            if (strlen(w->value[i].name) == name.n && !memcmp(w->value[i].name, name.p, name.n)) {
                v = &w->value[i];
                w->found[i] = true;
            }
        if (!v) {
            ac_put_n(to, f.all.p, f.all.n);
            continue;
        }
        ac_sink tensor;
        ac_sink_open(&tensor, w->cx);
        if (!put_tensor(f.in, v, &tensor))
            return false;
        put_field(to, &f, &tensor);
    }
    return true;
}

static bool put_model(work *w, ac_span model, ac_sink *to)
{
    uint64_t at = 0;
    field f;
    while (at < model.n) {
        if (!next(model, &at, &f))
            return false;
        if (f.number != GRAPH) {
            ac_put_n(to, f.all.p, f.all.n);
            continue;
        }
        ac_sink graph;
        ac_sink_open(&graph, w->cx);
        ac_sink_room(&graph, f.in.n);
        if (!put_graph(w, f.in, &graph))
            return false;
        put_field(to, &f, &graph);
    }
    return true;
}

int ac_onnx_patch(ac_ctx *cx, const char *path, ac_span file, const ac_onnx_value *v, int32_t n, ac_sink *to)
{
    work w = {cx, v, n, AC_NEW_N(cx->region, bool, n + 1)};
    ac_sink_room(to, file.n);
    if (!put_model(&w, file, to))
        return ac_error(cx, (ac_place){.file = path}, E0012, "a field of the model breaks the protobuf format");
    for (int32_t i = 0; i < n; i++)
        if (!w.found[i])
            return ac_error(cx, (ac_place){.file = path}, E0110, "weight '%s' is not an initializer of the file",
                            v[i].name);
    return AC_OK;
}
