/* import.h - one file in, one graph out, in two steps.
 *
 *     ac_file f = {0};
 *     ac_imported m;
 *     AC_TRY(ac_file_open(cx, "m.tflite", &f));
 *     AC_TRY(ac_import(cx, &f, NULL, &m));       the format is guessed from the content, never from the file's name
 *     ... m.graph->input: the caller may set unknown dimensions, give values or make constants of inputs ...
 *     AC_TRY(ac_import_nodes(cx, &m, pin, n));   every dimension of the inputs is a number, and all nodes are there
 *
 * The graph is as the file has it: operators are canonical (ir/ops/ops.def), names and constants are the file's,
 * declared shapes are in the tensors, shape inference has not run. A dimension the caller may choose has a dim_name;
 * its dim is the size the file plans with, or -1 if it gives none. Where operators mean different things for different
 * sizes, the graph has no nodes before ac_import_nodes.
 *
 * Input is hostile: whatever the bytes are, the answer is a graph or a diagnostic, in time and memory bounded by a
 * multiple of the file's size. Constants point into the file's bytes, which must outlive the graph. Errors: E0001 no
 * model, E0010..E0019 malformed or incomplete, E0101..E0108 and E0205 what the graph or its operators break or need
 * too much of, E0203, E0204 sizes that stay unknown, E0501 unknown `from`, output or pin, or a second file for a format
 * that has none. */
#ifndef AC_IMPORT_IMPORT_H
#define AC_IMPORT_IMPORT_H
#include "import/build/imported.h"
#include "import/build/row.h"

int ac_import(ac_ctx *cx, const ac_file *f, const ac_import_options *opt /* NULL: none */, ac_imported *out);
bool ac_import_recognises(const ac_file *f); /* the content is that of a model in some format */
/* Once, after ac_import and before the passes. */
int ac_import_nodes(ac_ctx *cx, ac_imported *m, const ac_pin *pin, int32_t n_pins);

/* The first of two files is the graph and the second its weights; false: it is the other way round. */
bool ac_import_in_order(const ac_file *first, const ac_file *second);

/* Row i of the table of format `of`, in the table's order; false: there is none. */
bool ac_import_operator(int32_t of, int32_t i, ac_operator *out);

/* Names that --from takes, in the order of formats.def; *n of them. */
const char *const *ac_import_formats(int32_t *n);

#endif
