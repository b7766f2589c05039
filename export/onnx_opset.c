/* onnx_opset.c - finds the lowest operator set that a file can declare: runtimes support old sets, and differ in their
 * support of new ones. AC_ONW_LEAST covers nearly all operators that the adapters write; later ones have a row here. */
#include "export/onnx_out.h"

#include <string.h>

enum { ANY = 0, FLOATS = 1, INTEGERS = 2, SMALL_INTEGERS = 4, BOOLS = 8, NEW_TYPES = 16, WIDE_QUANTA = 32 };

/* A node of this type (NULL: any) with this text among its attributes (NULL: none is needed) and, of its elements, one
 * of these kinds, is part of ONNX since this operator set. Source: ONNX's change log of operators. */
static const struct row {
    const char *type, *attribute;
    int elements, since;
} ROWS[] = {
    // clang-format off
    {"Add",              NULL,        SMALL_INTEGERS, 14},
    {"Sub",              NULL,        SMALL_INTEGERS, 14},
    {"Mul",              NULL,        SMALL_INTEGERS, 14},
    {"Div",              NULL,        SMALL_INTEGERS, 14},
    {"Relu",             NULL,        INTEGERS,       14},
    {"HardSwish",        NULL,        ANY,            14},
    {"Reshape",          "allowzero", ANY,            14},
    {"ScatterElements",  "reduction", ANY,            16},
    {"ScatterElements",  "max",       ANY,            18},
    {"ScatterElements",  "min",       ANY,            18},
    {"ScatterND",        "reduction", ANY,            16},
    {"ScatterND",        "max",       ANY,            18},
    {"ScatterND",        "min",       ANY,            18},
    {"BitwiseAnd",       NULL,        ANY,            18},
    {"BitwiseOr",        NULL,        ANY,            18},
    {"BitwiseXor",       NULL,        ANY,            18},
    {"ReduceL2",         NULL,        ANY,            18}, /* axes as an operand, as for those below */
    {"ReduceMax",        NULL,        ANY,            18},
    {"ReduceMax",        NULL,        BOOLS,          20},
    {"ReduceMean",       NULL,        ANY,            18},
    {"ReduceMin",        NULL,        ANY,            18},
    {"ReduceMin",        NULL,        BOOLS,          20},
    {"ReduceProd",       NULL,        ANY,            18},
    {"AveragePool",      "dilations", ANY,            19},
    {"Pad",              "wrap",      ANY,            19},
    {"Mish",             NULL,        ANY,            18},
    {"Gelu",             NULL,        ANY,            20},
    {"QuantizeLinear",   NULL,        WIDE_QUANTA,    21},
    {"DequantizeLinear", NULL,        WIDE_QUANTA,    21},
    {"DequantizeLinear", "block_size", ANY,           21},
    {NULL,               NULL,        NEW_TYPES,        21}, /* operators learned them one by one */
    // clang-format on
};
enum { N_ROWS = sizeof ROWS / sizeof *ROWS };

static int kinds_of(const ac_tensor *t)
{
    const ac_dtype d = t->dtype;
    const int64_t bits = ac_dtype_file_bits(d);
    if (d == AC_BOOL)
        return BOOLS;
    if (ac_dtype_is_float(d))
        return d == AC_F16 || d == AC_F32 || d == AC_F64 ? FLOATS : NEW_TYPES;
    return INTEGERS | (bits < 32 ? SMALL_INTEGERS : 0) | (bits == 16 ? WIDE_QUANTA : bits < 8 ? NEW_TYPES : 0);
}

static int elements_of(const ac_onw_node *n)
{
    int kinds = ANY;
    for (int32_t i = 0; i < n->n_in; i++)
        kinds |= n->in[i] ? kinds_of(n->in[i]) : ANY;
    for (int32_t i = 0; i < n->n_out; i++)
        kinds |= kinds_of(n->out[i]);
    return kinds;
}

static bool has_text(const ac_sink *s, const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i + n <= s->n; i++)
        if (!memcmp(s->text + i, text, n))
            return true;
    return false;
}

int ac_onw_since(const ac_onw_node *n)
{
    const int elements = elements_of(n);
    int since = AC_ONW_LEAST;
    for (int i = 0; i < N_ROWS; i++) {
        const struct row *r = &ROWS[i];
        if (r->since > since && (!r->type || !strcmp(r->type, n->type)) &&
            (!r->attribute || has_text(&n->attrs, r->attribute)) && (r->elements == ANY || r->elements & elements))
            since = r->since;
    }
    return since;
}

int ac_onw_ir(int opset)
{
    return opset <= 14 ? 7 : opset <= 18 ? 8 : opset <= 20 ? 9 : 10;
}
