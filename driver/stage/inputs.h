/* inputs.h - the arrays that a user gives for a model's inputs: found by name or position, shapes taken over before
 * planning, checked after it, copied in before each run.
 *
 *     AC_TRY(ac_inputs_open(a));       after read
 *     AC_TRY(ac_compile(a));
 *     AC_TRY(ac_inputs_check(a));
 *     ac_inputs_fill(a, &session);     before each run: it may overwrite its inputs
 *     ac_inputs_close(&a->inputs);     the files
 *
 * Errors: E0301 and E0304 for files, E0501. Memory: the context's region; files stay mapped until closed. */
#ifndef AC_DRIVER_INPUTS_H
#define AC_DRIVER_INPUTS_H
#include "codegen/c/selftest.h"
#include "driver/options/options.h"
#include "host/npy.h"
#include "host/session.h"

struct arenac;

typedef struct ac_inputs {
    ac_npy *array; /* by position in the graph's inputs */
    bool *given;
    int32_t n;
    bool moved;                  /* ac_inputs_move was here */
    AC_VEC(ac_key_option) later; /* of inputs that the passes may add */
} ac_inputs;

/* Reads the files of --input; pins open dimensions to their shapes. */
int ac_inputs_open(struct arenac *a);
/* The passes made other inputs than these n of what they were: state is none any more (E0501), others came. */
int ac_inputs_move(struct arenac *a, struct ac_tensor *const *before, int32_t n);
int ac_inputs_check(struct arenac *a); /* types, shapes, nothing missing (unless --random, or bench) */
void ac_inputs_fill(const struct arenac *a, ac_session *s);
/* Sets of inputs, given or seeded. */
int ac_inputs_draw(struct arenac *a, int32_t sets, ac_vectors *v);
/* ... with the outputs that the evaluator computes of the compiled model; those of a
 * self-test: as many as --vectors says. */
int ac_inputs_record(struct arenac *a, int32_t sets, ac_vectors *v);
int32_t ac_inputs_sets(const struct arenac *a);
void ac_inputs_close(ac_inputs *in);
/* KEY of --input, --const or --compare: a position, or a tensor's name. */
int ac_io_find(ac_ctx *cx, const char *file, const char *option, const char *key, ac_tensor *const *list, int32_t n,
               int32_t *index);

#endif
