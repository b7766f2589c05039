/* import.h - one file in, one graph out.
 *
 *     ac_file f = {0};
 *     ac_graph *g;
 *     AC_TRY(ac_file_open(cx, "m.tflite", &f));
 *     AC_TRY(ac_import(cx, &f, NULL, &g));       the format is guessed from the content, never from the file's name
 *
 * The graph is as the file has it: operators are canonical (ir/ops/ops.def), names and constants are the file's,
 * declared shapes stand in the tensors, shape inference has not run. A dimension the caller may choose has a dim_name;
 * its dim is the size the file plans with, or -1 if it gives none.
 *
 * Input is hostile: whatever the bytes are, the answer is a graph or a diagnostic, in time and memory bounded by a
 * multiple of the file's size. Constants point into the file's bytes, which must outlive the graph. Errors: E0001 no
 * model, E0010..E0018 malformed or not built in, E0101..E0108 and E0205 what the graph or its operators break or ask
 * too much, E0501 unknown `from` or output, or a second file for a format that has none. */
#ifndef AC_IMPORT_IMPORT_H
#define AC_IMPORT_IMPORT_H
#include "base/file.h"
#include "ir/graph/graph.h"

typedef struct ac_import_options {
    const char *from;      /* --from; NULL: guess */
    const char *outputs;   /* --outputs NAME,NAME: of formats that do not say what their outputs are; NULL: all ends */
    const ac_file *second; /* the file with the weights, for formats that have one; outlives the graph. NULL: none */
    bool random;           /* parameters that no file gives get random values, made from `seed` */
    uint64_t seed;
} ac_import_options;

int ac_import(ac_ctx *cx, const ac_file *f, const ac_import_options *opt /* NULL: none */, ac_graph **out);

/* For readers: makes the tensors that --outputs names the outputs of g; NULL changes nothing. E0501. */
int ac_import_outputs(ac_graph *g, const char *outputs);

/* The first of two files is the graph and the second its weights; false: they stand the other way round. */
bool ac_import_in_order(const ac_file *first, const ac_file *second);

/* A row of a format's table of operators. Rows with a reason are known, but not supported. */
typedef struct ac_operator {
    const char *name, *domain, *reason; /* domain: of ONNX operators, "" is ai.onnx; reason NULL: supported */
    int32_t since, until;               /* ONNX: versions of the domain; until 99: the newest; 0: no versions */
    ac_op op;                           /* what it becomes; AC_OP_NONE: several operators, or by its attributes */
} ac_operator;
/* Row i of the table of format `of`, in the table's order; false: there is none. */
bool ac_import_operator(int32_t of, int32_t i, ac_operator *out);

/* Names that --from takes, in the order of formats.def; *n of them. */
const char *const *ac_import_formats(int32_t *n);

#endif
