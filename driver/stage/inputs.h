/* inputs.h - the arrays that a user gives for a model's inputs: found by name or position, shapes taken over before
 * planning, checked after it, copied in before each run.
 *
 *     AC_TRY(ac_inputs_open(a));       after read
 *     AC_TRY(ac_compile(a));
 *     AC_TRY(ac_inputs_check(a));
 *     ac_inputs_fill(a, &session);     before each run: it may overwrite its inputs
 *
 * Errors: E0301 and E0304 for files, E0501. Memory: the context's region; files stay mapped until ac_work_end. */
#ifndef AC_DRIVER_INPUTS_H
#define AC_DRIVER_INPUTS_H
#include "codegen/c/selftest.h"
#include "driver/request/made.h"

/* Reads the files of --input; pins open dimensions to their shapes. */
int ac_inputs_open(const ac_made *a);
/* The passes changed the graph's inputs, which were these n: an input that became state takes no array (E0501); arrays
 * of added inputs are read. */
int ac_inputs_move(const ac_made *a, struct ac_tensor *const *before, int32_t n);
/* Types and shapes of the given arrays. E0304 for an input without one, unless values are random: `any`, or
 * --random. */
int ac_inputs_check(const ac_made *a, bool any);
void ac_inputs_fill(const ac_made *a, ac_session *s);
/* Sets of inputs, given or seeded. */
int ac_inputs_draw(const ac_made *a, int32_t sets, ac_vectors *v);
/* The same, with the outputs that the evaluator computes of the compiled model. */
int ac_inputs_record(const ac_made *a, int32_t sets, ac_vectors *v);
int32_t ac_inputs_sets(const ac_made *a); /* of a self-test: --vectors */
/* Pins open dimensions of an input to the shape of an array that the user gave: before check. */
void ac_shape_input(ac_graph *g, int32_t input, int32_t rank, const int64_t *dim);
/* KEY of --input, --const or --compare: a position, or a tensor's name. */
int ac_io_find(ac_ctx *cx, const char *file, const char *option, const char *key, ac_tensor *const *list, int32_t n,
               int32_t *index);

#endif
