/* custom.h - operators that a function of the user computes: files of --custom, and the rows in them.
 *
 *     library libacme.so                     opened by run; relative to this file
 *     operator acme.scale_rows               the name in messages and in the text form
 *       onnx com.acme ScaleRows              where it occurs: domain and name
 *       tflite AcmeScaleRows                 ... or the name of a custom operator
 *       tensorflow AcmeScaleRows             ... or of an operator of a graph
 *       mxnet acme_scale_rows                ... or of an operator of a symbol, or the op_type of a Custom
 *       caffe ScaleRows                      ... or the type of a layer, whose blobs are operands after its bottoms
 *       call acme_scale_rows                 the C function
 *       in x f32|f16 [n,..,c]                an operand: name, types, shape
 *       in factor? f32 [c]                   may be left out; `xs*`: any number, the last row
 *       attr gain f32 1                      an attribute: name, type, default; without one it must be there, unless
 *                                            its name ends with `?`
 *       out y x [n,..,2*c]                   a result: name, type or the operand with its type, shape
 *       scratch 4*c                          bytes
 *       inplace x                            y may be in the memory of x
 *       pure                                 no effects besides the results: removed if they are unused
 *
 * A shape binds its names to the sizes of operands; `..` is any number of dimensions, of the same sizes everywhere; `_`
 * is any size; the word any instead of brackets is any shape.
 * Shapes of results and scratch are expressions of these names, and of integer attributes (base/text/expression.h).
 *
 * Nodes are AC_OP_CUSTOM; their attribute `call` is the name of the row, `with` the attributes as words NAME=VALUE.
 *
 * Memory: the context's region. Errors: E0020 with the line; E0301 for a file that cannot be read. */
#ifndef AC_IR_OPS_CUSTOM_H
#define AC_IR_OPS_CUSTOM_H
#include "base/ctx.h"
#include "base/text/words.h"
#include "base/vec.h"
#include "ir/dtype/dtype.h"
#include "ir/ops/op.h"

enum { AC_CUSTOM_RANK = 8, AC_CUSTOM_MOST = 60 }; /* dimensions; operands, results or attributes of a row */

/* Formats, by the words of the file. */
// clang-format off
#define AC_CUSTOM_FORMATS(X) X(ONNX, "onnx") X(TFLITE, "tflite") X(TENSORFLOW, "tensorflow") \
    X(MXNET, "mxnet") X(CAFFE, "caffe") X(PT2, "pt2")
#define AC_CUSTOM_TYPES(X) X(I32, "i32") X(F32, "f32") X(INTS, "ints") X(FLOATS, "floats") X(TEXT, "text")
// clang-format on
#define AC_CUSTOM_ID(id, text) AC_CUSTOM_##id,
typedef enum ac_custom_format { AC_CUSTOM_FORMATS(AC_CUSTOM_ID) AC_CUSTOM_N_FORMATS } ac_custom_format;
typedef enum ac_custom_type { AC_CUSTOM_TYPES(AC_CUSTOM_ID) AC_CUSTOM_N_TYPES } ac_custom_type;
#undef AC_CUSTOM_ID
extern const char *const ac_custom_type_name[AC_CUSTOM_N_TYPES];

/* An operator of a format that the row computes. */
typedef struct ac_custom_name {
    ac_custom_format format;
    const char *domain, *name; /* interned; domain: of ONNX, else "" */
} ac_custom_name;

/* An operand or a result. */
typedef struct ac_custom_tensor {
    const char *name;
    uint32_t types; /* bit ac_dtype: it may have that type; of a result: one, or 0 with `like` */
    int32_t like;   /* result: the operand with its type and quantisation; -1: none */
    bool optional, repeated;
    const char *shape;               /* as the file has it, for messages */
    const char *dim[AC_CUSTOM_RANK]; /* expressions; NULL: `..` */
    int32_t rank;                    /* of dim, with `..`; -1: any shape */
} ac_custom_tensor;

typedef struct ac_custom_attr {
    const char *name;
    ac_custom_type type;
    const char *init; /* the default, as the file has it; NULL: none */
    bool optional;    /* without a default it may be left out; others must be there */
} ac_custom_attr;

typedef struct ac_custom {
    const char *name; /* interned */
    const char *function;
    ac_place at;
    AC_VEC(ac_custom_name) names;
    AC_VEC(ac_custom_tensor) in, out;
    AC_VEC(ac_custom_attr) attr;
    const char *scratch; /* bytes, an expression; NULL: none */
    uint32_t inplace;    /* bit i: result 0 may be in the memory of operand i */
    bool pure;
    bool options;        /* gets the options of TFLite's operator as bytes */
    const char *library; /* path; NULL: none */
} ac_custom;

typedef struct ac_customs {
    AC_VEC(ac_custom *) row;
} ac_customs;

/* The value of an attribute: a list (one number: of length 1), or text. */
typedef struct ac_custom_value {
    int32_t n; /* numbers of i or f; 0: none */
    const int32_t *i;
    const float *f;
    const char *text;
} ac_custom_value;

/* custom_file.c: the rows of a file, appended to cx->customs; `file` names it in messages. */
int ac_custom_read(ac_ctx *cx, const char *file, const char *text, size_t n);

/* custom.c. NULL: not found. */
const ac_custom *ac_custom_find(const ac_ctx *cx, const char *name);
const ac_custom *ac_custom_of(const ac_ctx *cx, ac_custom_format format, const char *domain, const char *name);
/* The values of the attributes that `with` (NULL: none) gives, or the defaults; E0103. value: one for each row of
 * c->attr. *options: of TFLite, n_options bytes. */
int ac_custom_values(ac_ctx *cx, const ac_custom *c, ac_place at, const char *with, ac_custom_value *value,
                     const uint8_t **options, int32_t *n_options);
/* True if `text` is a value of that type; then *v has it. */
bool ac_custom_value_read(ac_ctx *cx, ac_custom_type type, const char *text, ac_custom_value *v);
/* For importers: operands that are surely there, and the most. */
int32_t ac_custom_least(const ac_custom *c);
int32_t ac_custom_most(const ac_custom *c);
/* How `with` is written: words NAME=VALUE. */
void ac_custom_put_ints(ac_sink *to, const char *name, const int64_t *v, int64_t n);
void ac_custom_put_floats(ac_sink *to, const char *name, const float *v, int64_t n);
void ac_custom_put_text(ac_sink *to, const char *name, const char *text);
void ac_custom_put_options(ac_sink *to, const uint8_t *bytes, int64_t n);
/* The attributes of a node that row c computes. */
void ac_custom_attrs(const ac_custom *c, ac_sink *with, ac_attrs *out);

#endif
