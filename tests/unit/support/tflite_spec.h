/* tflite_spec.h - a small .tflite file in memory, by a FlatBuffer writer; `spec` holds what tests vary.
 *
 *     spec s = good();
 *     s.version = 4;
 *     build(&s);                                 out[0 .. n_out); a reference of it is at each of refs[0 .. n_refs)
 *
 * Memory: static, the file at hand only. */
#ifndef AC_TESTS_UNIT_SUPPORT_TFLITE_SPEC_H
#define AC_TESTS_UNIT_SUPPORT_TFLITE_SPEC_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The writer: objects are appended; a reference is a slot that is filled when its target is written. */

enum { CAP = 1 << 16, REF = -4 };
static uint8_t out[CAP];
static size_t n_out;
static size_t refs[2048];
static int n_refs;

static void put(uint64_t v, int width)
{
    for (int i = 0; i < width && n_out < CAP; i++)
        out[n_out++] = (uint8_t)(v >> (8 * i));
}

static void patch(size_t at, uint64_t v, int width)
{
    for (int i = 0; i < width; i++)
        out[at + (size_t)i] = (uint8_t)(v >> (8 * i));
}

static void align(size_t to)
{
    while (n_out % to)
        put(0, 1);
}

static void here(size_t slot)
{
    patch(slot, n_out - slot, 4);
}

typedef struct field {
    int width; /* 0: left out; REF: a reference */
    int64_t v;
} field;

/* vtable, then the table; slot[i] is where field i is. */
static void table(size_t from, const field *f, int n, size_t *slot)
{
    align(8);
    size_t vtable = n_out, at = vtable + (((size_t)(4 + 2 * n) + 7) & ~(size_t)7), end = at + 4;
    put((uint64_t)(4 + 2 * n), 2);
    put(0, 2);
    for (int i = 0; i < n; i++) {
        size_t width = (size_t)(f[i].width < 0 ? 4 : f[i].width);
        if (width)
            end = (end + width - 1) / width * width;
        put(width ? end - at : 0, 2);
        slot[i] = width ? end : 0;
        end += width;
    }
    patch(vtable + 2, end - at, 2);
    align(8);
    here(from);
    put(at - vtable, 4);
    for (int i = 0; i < n; i++) {
        if (!f[i].width)
            continue;
        while (n_out < slot[i])
            put(0, 1);
        put(f[i].width < 0 ? 0 : (uint64_t)f[i].v, f[i].width < 0 ? 4 : f[i].width);
        if (f[i].width < 0)
            refs[n_refs++] = slot[i];
    }
}

static void vec(size_t from, const void *data, size_t n, int width)
{
    align(4);
    if (width == 8 && n_out % 8 == 0)
        put(0, 4); /* the elements, after the count, are aligned */
    here(from);
    put(n, 4);
    for (size_t i = 0; i < n * (size_t)width; i++)
        put(((const uint8_t *)data)[i], 1);
}

/* A vector of references; slot[i] is where the i-th is. */
static void vec_refs(size_t from, size_t n, size_t *slot)
{
    align(4);
    here(from);
    put(n, 4);
    for (size_t i = 0; i < n; i++) {
        slot[i] = n_out;
        refs[n_refs++] = n_out;
        put(0, 4);
    }
}

static void text(size_t from, const char *s)
{
    vec(from, s, strlen(s), 1);
    put(0, 1);
}

/* A model of one operator: y = OP(x, w), x given, w constant in buffer 1. */
typedef struct spec {
    int version, builtin, old_builtin, code_index;
    const char *custom;
    int n_ins, ins[12], n_outs, outs[4];
    int options_type, options; /* union number; value of the options' first field (one byte), -1: no options */
    int graph_in, graph_out, subgraphs;
    int rank, dim[12], type; /* of x and y */
    int w_type, w_buffer, w_rank, w_dim, w_bytes, variable;
    int scales, zeros, q_axis; /* of w */
    float scale;
    int64_t zero;
    int unknown, far_buffer, sparse, external;
    const char *x_name, *y_name;
} spec;

static spec good(void)
{
    return (spec){.version = 3,
                  .n_ins = 2,
                  .ins = {0, 1},
                  .n_outs = 1,
                  .outs = {2},
                  .options_type = 11,
                  .options = 1,
                  .graph_in = 0,
                  .graph_out = 2,
                  .subgraphs = 1,
                  .rank = 2,
                  .dim = {1, 4},
                  .w_buffer = 1,
                  .w_rank = 1,
                  .w_dim = 4,
                  .w_bytes = 16,
                  .x_name = "x",
                  .y_name = "y"};
}

static void build_tensor(const spec *s, size_t from, int i)
{
    bool w = i == 1;
    int32_t dim[12], sign[12];
    int rank = w ? s->w_rank : s->rank;
    bool quant = w && s->scales;
    field f[11] = {{REF, 0},
                   {1, w ? s->w_type : s->type},
                   {4, w ? s->w_buffer : 0},
                   {REF, 0},
                   {quant ? REF : 0, 0},
                   {1, w && s->variable},
                   {w && s->sparse ? REF : 0, 0},
                   {s->unknown && !w ? REF : 0, 0},
                   {0, 0},
                   {0, 0},
                   {w && s->external ? 4 : 0, 1}};
    size_t slot[11], q[7];
    table(from, f, 11, slot);
    for (int k = 0; k < 12; k++) {
        dim[k] = w ? s->w_dim : s->dim[k];
        sign[k] = k ? dim[k] : -1;
    }
    vec(slot[0], dim, (size_t)rank, 4);
    text(slot[3], w ? "w" : i ? s->y_name : s->x_name);
    if (s->unknown && !w)
        vec(slot[7], sign, (size_t)rank, 4);
    if (w && s->sparse)
        table(slot[6], NULL, 0, NULL);
    if (quant) {
        float scale[16];
        int64_t zero[16];
        for (int k = 0; k < 16; k++) {
            scale[k] = s->scale;
            zero[k] = s->zero;
        }
        table(slot[4], (field[]){{0, 0}, {0, 0}, {REF, 0}, {s->zeros ? REF : 0, 0}, {0, 0}, {0, 0}, {4, s->q_axis}}, 7,
              q);
        vec(q[2], scale, (size_t)s->scales, 4);
        if (s->zeros)
            vec(q[3], zero, (size_t)s->zeros, 8);
    }
}

static void build_subgraph(const spec *s, size_t from)
{
    size_t sub[5], slot[4], op[5], none[1];
    int32_t list[12];
    table(from, (field[]){{REF, 0}, {REF, 0}, {REF, 0}, {REF, 0}, {REF, 0}}, 5, sub);
    vec_refs(sub[0], 3, slot);
    for (int i = 0; i < 3; i++)
        build_tensor(s, slot[i], i);
    vec(sub[1], &(int32_t){s->graph_in}, 1, 4);
    vec(sub[2], &(int32_t){s->graph_out}, 1, 4);
    text(sub[4], "g");
    vec_refs(sub[3], 1, slot);
    bool options = s->options >= 0;
    table(slot[0], (field[]){{4, s->code_index}, {REF, 0}, {REF, 0}, {1, s->options_type}, {options ? REF : 0, 0}}, 5,
          op);
    for (int i = 0; i < 12; i++)
        list[i] = s->ins[i];
    vec(op[1], list, (size_t)s->n_ins, 4);
    for (int i = 0; i < 4; i++)
        list[i] = s->outs[i];
    vec(op[2], list, (size_t)s->n_outs, 4);
    if (options)
        table(op[4], (field[]){{1, s->options}}, 1, none);
}

static void build(const spec *s)
{
    static uint8_t bytes[256];
    size_t model[5], code[4], slot[1600], buffer[3];
    n_out = 0;
    n_refs = 0;
    put(0, 4);
    refs[n_refs++] = 0;
    put(0x334c4654, 4); /* TFL3 */
    table(0, (field[]){{4, s->version}, {REF, 0}, {REF, 0}, {0, 0}, {REF, 0}}, 5, model);
    vec_refs(model[1], 1, slot);
    table(slot[0], (field[]){{1, s->old_builtin}, {s->custom ? REF : 0, 0}, {4, 1}, {4, s->builtin}}, 4, code);
    if (s->custom)
        text(code[1], s->custom);
    vec_refs(model[2], (size_t)s->subgraphs, slot);
    if (s->subgraphs)
        build_subgraph(s, slot[0]);
    for (int i = 1; i < s->subgraphs; i++) /* all the same object */
        patch(slot[i], slot[0] + out[slot[0]] + 256u * out[slot[0] + 1] - slot[i], 4);
    vec_refs(model[4], 2, slot);
    table(slot[0], NULL, 0, NULL);
    bool far = s->far_buffer != 0;
    table(slot[1], (field[]){{far ? 0 : REF, 0}, {far ? 8 : 0, s->far_buffer}, {far ? 8 : 0, s->w_bytes}}, 3, buffer);
    if (!far)
        vec(buffer[0], bytes, (size_t)s->w_bytes, 1);
}

#endif
