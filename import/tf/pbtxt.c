/* pbtxt.c - the text form of a GraphDef as wire form. The tree of prototext.h has no schema; SCHEMA lists the
 * fields of each message with their numbers, so that the reader of the wire form suffices for both. Every field
 * remembers its line. */
#include "import/wire/prototext.h"
#include "import/tf/tf.h"

#include "base/ascii.h"

#include <string.h>

typedef enum kind {
    INT,  /* varint */
    UINT, /* varint of 64 bits without sign */
    BOOL, /* varint 0, 1 */
    TYPE, /* an enumeration: DT_... or its number */
    F32,
    F64,
    BYTES, /* also strings */
    MESSAGE,
    MAP,   /* of strings: entries { key value } */
    IGNORE /* of no use here */
} kind;

typedef enum message {
    GRAPH,
    VERSIONS,
    LIBRARY,
    FUNCTION,
    OP_DEF,
    ARG_DEF,
    ATTR_DEF,
    RET_ENTRY,
    NODE,
    ATTR_ENTRY,
    ATTR,
    LIST,
    FUNC,
    SHAPE,
    DIM,
    TENSOR,
    SAVED,
    META,
    INFO,
    SIGNATURE_ENTRY,
    SIGNATURE,
    INFO_ENTRY,
    TENSOR_INFO
} message;

typedef struct field {
    message of;
    const char *name;
    uint32_t number;
    kind kind;
    message sub; /* MESSAGE */
} field;

// clang-format off
static const field SCHEMA[] = {
    {GRAPH, "node", 1, MESSAGE, NODE}, {GRAPH, "library", 2, MESSAGE, LIBRARY}, {GRAPH, "version", 3, INT, 0},
    {GRAPH, "versions", 4, MESSAGE, VERSIONS}, {GRAPH, "debug_info", 5, IGNORE, 0},
    {VERSIONS, "producer", 1, INT, 0}, {VERSIONS, "min_consumer", 2, INT, 0}, {VERSIONS, "bad_consumers", 3, INT, 0},
    {LIBRARY, "function", 1, MESSAGE, FUNCTION}, {LIBRARY, "gradient", 2, IGNORE, 0},
    {LIBRARY, "registered_gradients", 3, IGNORE, 0},
    {FUNCTION, "signature", 1, MESSAGE, OP_DEF}, {FUNCTION, "node_def", 3, MESSAGE, NODE},
    {FUNCTION, "ret", 4, MESSAGE, RET_ENTRY}, {FUNCTION, "attr", 5, MESSAGE, ATTR_ENTRY},
    {FUNCTION, "control_ret", 6, MESSAGE, RET_ENTRY}, {FUNCTION, "arg_attr", 7, IGNORE, 0},
    {FUNCTION, "resource_arg_unique_id", 8, IGNORE, 0},
    {OP_DEF, "name", 1, BYTES, 0}, {OP_DEF, "input_arg", 2, MESSAGE, ARG_DEF},
    {OP_DEF, "output_arg", 3, MESSAGE, ARG_DEF},
    {OP_DEF, "attr", 4, MESSAGE, ATTR_DEF}, {OP_DEF, "summary", 5, IGNORE, 0}, {OP_DEF, "description", 6, IGNORE, 0},
    {OP_DEF, "deprecation", 8, IGNORE, 0}, {OP_DEF, "is_aggregate", 16, IGNORE, 0},
    {OP_DEF, "is_stateful", 17, BOOL, 0},
    {OP_DEF, "is_commutative", 18, IGNORE, 0}, {OP_DEF, "allows_uninitialized_input", 19, IGNORE, 0},
    {OP_DEF, "control_output", 20, BYTES, 0}, {OP_DEF, "is_distributed_communication", 21, IGNORE, 0},
    {ARG_DEF, "name", 1, BYTES, 0}, {ARG_DEF, "description", 2, IGNORE, 0}, {ARG_DEF, "type", 3, TYPE, 0},
    {ARG_DEF, "type_attr", 4, BYTES, 0}, {ARG_DEF, "number_attr", 5, BYTES, 0},
    {ARG_DEF, "type_list_attr", 6, BYTES, 0},
    {ARG_DEF, "handle_data", 7, IGNORE, 0}, {ARG_DEF, "is_ref", 16, BOOL, 0},
    {ARG_DEF, "experimental_full_type", 17, IGNORE, 0},
    {ATTR_DEF, "name", 1, BYTES, 0}, {ATTR_DEF, "type", 2, BYTES, 0}, {ATTR_DEF, "default_value", 3, MESSAGE, ATTR},
    {ATTR_DEF, "description", 4, IGNORE, 0}, {ATTR_DEF, "has_minimum", 5, IGNORE, 0},
    {ATTR_DEF, "minimum", 6, IGNORE, 0},
    {ATTR_DEF, "allowed_values", 7, IGNORE, 0},
    {RET_ENTRY, "key", 1, BYTES, 0}, {RET_ENTRY, "value", 2, BYTES, 0},
    {NODE, "name", 1, BYTES, 0}, {NODE, "op", 2, BYTES, 0}, {NODE, "input", 3, BYTES, 0}, {NODE, "device", 4, BYTES, 0},
    {NODE, "attr", 5, MESSAGE, ATTR_ENTRY}, {NODE, "experimental_debug_info", 6, IGNORE, 0},
    {NODE, "experimental_type", 7, IGNORE, 0},
    {ATTR_ENTRY, "key", 1, BYTES, 0}, {ATTR_ENTRY, "value", 2, MESSAGE, ATTR},
    {ATTR, "list", 1, MESSAGE, LIST}, {ATTR, "s", 2, BYTES, 0}, {ATTR, "i", 3, INT, 0}, {ATTR, "f", 4, F32, 0},
    {ATTR, "b", 5, BOOL, 0}, {ATTR, "type", 6, TYPE, 0}, {ATTR, "shape", 7, MESSAGE, SHAPE},
    {ATTR, "tensor", 8, MESSAGE, TENSOR}, {ATTR, "placeholder", 9, BYTES, 0}, {ATTR, "func", 10, MESSAGE, FUNC},
    {LIST, "s", 2, BYTES, 0}, {LIST, "i", 3, INT, 0}, {LIST, "f", 4, F32, 0}, {LIST, "b", 5, BOOL, 0},
    {LIST, "type", 6, TYPE, 0}, {LIST, "shape", 7, MESSAGE, SHAPE}, {LIST, "tensor", 8, MESSAGE, TENSOR},
    {LIST, "func", 9, MESSAGE, FUNC},
    {FUNC, "name", 1, BYTES, 0}, {FUNC, "attr", 2, MESSAGE, ATTR_ENTRY},
    {SHAPE, "dim", 2, MESSAGE, DIM}, {SHAPE, "unknown_rank", 3, BOOL, 0},
    {DIM, "size", 1, INT, 0}, {DIM, "name", 2, BYTES, 0},
    {TENSOR, "dtype", 1, TYPE, 0}, {TENSOR, "tensor_shape", 2, MESSAGE, SHAPE}, {TENSOR, "version_number", 3, INT, 0},
    {TENSOR, "tensor_content", 4, BYTES, 0}, {TENSOR, "float_val", 5, F32, 0}, {TENSOR, "double_val", 6, F64, 0},
    {TENSOR, "int_val", 7, INT, 0}, {TENSOR, "string_val", 8, BYTES, 0}, {TENSOR, "scomplex_val", 9, F32, 0},
    {TENSOR, "int64_val", 10, INT, 0}, {TENSOR, "bool_val", 11, BOOL, 0}, {TENSOR, "dcomplex_val", 12, F64, 0},
    {TENSOR, "half_val", 13, INT, 0}, {TENSOR, "resource_handle_val", 14, IGNORE, 0},
    {TENSOR, "variant_val", 15, IGNORE, 0}, {TENSOR, "uint32_val", 16, UINT, 0}, {TENSOR, "uint64_val", 17, UINT, 0},
    {TENSOR, "float8_val", 18, BYTES, 0},
    {SAVED, "saved_model_schema_version", 1, INT, 0}, {SAVED, "meta_graphs", 2, MESSAGE, META},
    {META, "meta_info_def", 1, MESSAGE, INFO}, {META, "graph_def", 2, MESSAGE, GRAPH},
    {META, "saver_def", 3, IGNORE, 0},
    {META, "collection_def", 4, IGNORE, 0}, {META, "signature_def", 5, MESSAGE, SIGNATURE_ENTRY},
    {META, "asset_file_def", 6, IGNORE, 0}, {META, "object_graph_def", 7, IGNORE, 0},
    {INFO, "meta_graph_version", 1, BYTES, 0}, {INFO, "stripped_op_list", 2, IGNORE, 0},
    {INFO, "any_info", 3, IGNORE, 0},
    {INFO, "tags", 4, BYTES, 0}, {INFO, "tensorflow_version", 5, BYTES, 0},
    {INFO, "tensorflow_git_version", 6, BYTES, 0},
    {INFO, "stripped_default_attrs", 7, BOOL, 0}, {INFO, "function_aliases", 8, IGNORE, 0},
    {SIGNATURE_ENTRY, "key", 1, BYTES, 0}, {SIGNATURE_ENTRY, "value", 2, MESSAGE, SIGNATURE},
    {SIGNATURE, "inputs", 1, MESSAGE, INFO_ENTRY}, {SIGNATURE, "outputs", 2, MESSAGE, INFO_ENTRY},
    {SIGNATURE, "method_name", 3, BYTES, 0}, {SIGNATURE, "defaults", 4, IGNORE, 0},
    {INFO_ENTRY, "key", 1, BYTES, 0}, {INFO_ENTRY, "value", 2, MESSAGE, TENSOR_INFO},
    {TENSOR_INFO, "name", 1, BYTES, 0}, {TENSOR_INFO, "dtype", 2, TYPE, 0},
    {TENSOR_INFO, "tensor_shape", 3, MESSAGE, SHAPE},
    {TENSOR_INFO, "coo_sparse", 4, IGNORE, 0}, {TENSOR_INFO, "composite_tensor", 5, IGNORE, 0},
};
static const char *const TYPE_NAME[] = {
    "DT_INVALID", "DT_FLOAT", "DT_DOUBLE", "DT_INT32", "DT_UINT8", "DT_INT16", "DT_INT8", "DT_STRING", "DT_COMPLEX64",
    "DT_INT64", "DT_BOOL", "DT_QINT8", "DT_QUINT8", "DT_QINT32", "DT_BFLOAT16", "DT_QINT16", "DT_QUINT16", "DT_UINT16",
    "DT_COMPLEX128", "DT_HALF", "DT_RESOURCE", "DT_VARIANT", "DT_UINT32", "DT_UINT64", "DT_FLOAT8_E5M2",
    "DT_FLOAT8_E4M3FN", "DT_FLOAT8_E4M3FNUZ", "DT_FLOAT8_E4M3B11FNUZ", "DT_FLOAT8_E5M2FNUZ", "DT_INT4", "DT_UINT4",
};
// clang-format on

enum { TYPES = sizeof TYPE_NAME / sizeof *TYPE_NAME, REF = 100, LENGTH_BYTES = 5 };

const char *ac_tf_dtype_name(ac_ctx *cx, int64_t number)
{
    if (number >= 0 && number < TYPES)
        return TYPE_NAME[number];
    if (number > REF && number < REF + TYPES)
        return ac_strf(cx->region, "%s_REF", TYPE_NAME[number - REF]);
    return ac_strf(cx->region, "number %lld, unknown in the supported TensorFlow releases", (long long)number);
}

typedef struct writer {
    ac_pt pt;
    AC_VEC(uint8_t) out;
    AC_VEC(ac_pb_line) line;
} writer;

static void put(writer *w, uint8_t byte)
{
    ac_push(w->pt.cx->region, &w->out, byte);
}

static void put_varint(writer *w, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        put(w, (uint8_t)(v | 0x80));
    put(w, (uint8_t)v);
}

static void put_fixed(writer *w, uint64_t bits, int32_t bytes)
{
    for (int32_t k = 0; k < bytes; k++)
        put(w, (uint8_t)(bits >> (8 * k)));
}

static const field *field_of(message of, const char *name)
{
    for (size_t i = 0; i < sizeof SCHEMA / sizeof *SCHEMA; i++)
        if (SCHEMA[i].of == of && !strcmp(SCHEMA[i].name, name))
            return &SCHEMA[i];
    return NULL;
}

static int type_of(writer *w, const ac_pt_node *x, int64_t *out)
{
    const char *word;
    if (x->kind == AC_PT_NUMBER)
        return ac_pt_int(&w->pt, x, 0, 0, INT32_MAX, out);
    AC_TRY(ac_pt_word(&w->pt, x, "", &word));
    size_t n = strlen(word);
    const bool ref = ac_has_ending(word, "_REF");
    n -= ref ? 4 : 0;
    for (int32_t i = 0; i < TYPES; i++)
        if (strlen(TYPE_NAME[i]) == n && !memcmp(TYPE_NAME[i], word, n)) {
            *out = i + (ref ? REF : 0);
            return AC_OK;
        }
    return ac_error(w->pt.cx, ac_pt_place(&w->pt, x), E0012, "'%s' is not an element type", word);
}

static int scalar(writer *w, const field *f, const ac_pt_node *x)
{
    static const uint32_t WIRE[] = {[INT] = 0, [UINT] = 0, [BOOL] = 0, [TYPE] = 0, [F32] = 5, [F64] = 1, [BYTES] = 2};
    int64_t i = 0;
    uint64_t u = 0;
    double d = 0;
    bool b = false;
    ac_span s = {0};
    put_varint(w, (uint64_t)f->number << 3 | WIRE[f->kind]);
    switch (f->kind) {
    case INT:
        AC_TRY(ac_pt_int(&w->pt, x, 0, INT64_MIN, INT64_MAX, &i));
        put_varint(w, (uint64_t)i);
        return AC_OK;
    case UINT:
        AC_TRY(ac_pt_u64(&w->pt, x, 0, &u));
        put_varint(w, u);
        return AC_OK;
    case BOOL:
        AC_TRY(ac_pt_bool(&w->pt, x, false, &b));
        put_varint(w, b);
        return AC_OK;
    case TYPE:
        AC_TRY(type_of(w, x, &i));
        put_varint(w, (uint64_t)i);
        return AC_OK;
    case F32: {
        AC_TRY(ac_pt_double(&w->pt, x, 0, &d));
        const float v = (float)d;
        uint32_t bits;
        memcpy(&bits, &v, sizeof bits);
        put_fixed(w, bits, 4);
        return AC_OK;
    }
    case F64:
        AC_TRY(ac_pt_double(&w->pt, x, 0, &d));
        memcpy(&u, &d, sizeof u);
        put_fixed(w, u, 8);
        return AC_OK;
    case BYTES:
        AC_TRY(ac_pt_bytes(&w->pt, x, &s));
        put_varint(w, s.n);
        for (size_t k = 0; k < s.n; k++)
            put(w, s.p[k]);
        return AC_OK;
    case MESSAGE:
    case MAP:
    case IGNORE:
        break;
    }
    return AC_OK;
}

/* The fields of a message; nesting is at most AC_PT_DEPTH. Lengths are filled in afterwards: a varint may be longer
 * than it needs to be. */
static int write_message(writer *w, message of, const ac_pt_node *m)
{
    for (const ac_pt_node *x = m->first; x; x = x->next) {
        const field *f = field_of(of, x->name);
        if (!f)
            return ac_error(w->pt.cx, ac_pt_place(&w->pt, x), E0012, "unknown field '%s'", x->name);
        if (f->kind == IGNORE)
            continue;
        const ac_pb_line at = {w->out.n, x->line, x->col};
        ac_push(w->pt.cx->region, &w->line, at);
        if ((f->kind == MESSAGE) != (x->kind == AC_PT_MESSAGE))
            return ac_error(w->pt.cx, ac_pt_place(&w->pt, x), E0012, "field '%s' %s", x->name,
                            f->kind == MESSAGE ? "is a message: { ... }" : "is a value, not a message");
        if (f->kind != MESSAGE) {
            AC_TRY(scalar(w, f, x));
            continue;
        }
        put_varint(w, (uint64_t)f->number << 3 | 2);
        const int32_t length_at = w->out.n;
        put_fixed(w, 0, LENGTH_BYTES);
        AC_TRY(write_message(w, f->sub, x));
        uint64_t n = (uint64_t)(w->out.n - length_at - LENGTH_BYTES);
        for (int32_t k = 0; k < LENGTH_BYTES; k++, n >>= 7)
            w->out.item[length_at + k] = (uint8_t)((n & 0x7f) | (k + 1 < LENGTH_BYTES ? 0x80 : 0));
    }
    return AC_OK;
}

int ac_tf_text(ac_ctx *cx, const char *file, ac_span text, ac_tf_message what, ac_span *wire, const ac_pb_lines **lines)
{
    writer w = {.line = {0}};
    if (text.n > INT32_MAX / 2)
        return ac_error(cx, (ac_place){.file = file}, E0015, "a graph in text form of more than 1 GiB");
    AC_TRY(ac_pt_parse(&w.pt, cx, file, text));
    AC_TRY(write_message(&w, what == AC_TF_SAVED_MODEL ? SAVED : GRAPH, w.pt.root));
    put(&w, 0); /* never NULL */
    *wire = (ac_span){w.out.item, (size_t)w.out.n - 1};
    ac_pb_lines *map = AC_NEW(cx->region, ac_pb_lines);
    *map = (ac_pb_lines){w.line.item, w.line.n};
    *lines = map;
    return AC_OK;
}
