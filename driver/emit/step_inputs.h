/* step_inputs.h - inputs for the steps of a compiled model one by one, and their results by the evaluator: the tables
 * of codegen/c/step_test.h.
 *
 *     ac_step_inputs x;
 *     AC_TRY(ac_step_inputs_make(a, &x));
 *     ac_step_inputs_again(&x, set, step, operand, &bytes);     an operand after the step
 *     ac_step_inputs_close(&x);                                  also after a failure
 *
 * A step that works on integers alone gets operands of its own in all sets but the first ones, which are runs of the
 * whole model: signs of its weights, so that sums are as large and as small as they can be; the ends of its types; all
 * values in order; random ones. Wide integers may be indices: where the evaluator stops because one is out
 * of range, they become 0.
 *
 * Memory: the context's region, and a session. Errors: of the evaluator, E0304 for inputs. */
#ifndef AC_DRIVER_STEP_INPUTS_H
#define AC_DRIVER_STEP_INPUTS_H
#include "codegen/c/step_test.h"
#include "driver/request/made.h"

/* A step whose results are clamped to lo..hi, and the extremes that they reached. */
typedef struct ac_step_ends {
    bool clamped; /* the ends are known */
    int64_t lo, hi, least, most;
} ac_step_ends;

typedef struct ac_step_inputs {
    const ac_made *a;
    ac_session *session; /* the evaluator's */
    ac_step_tests tests;
    ac_step_ends *ends; /* by call */
    bool *integer;      /* by call: it is tested by itself */
    int32_t n_integer;
} ac_step_inputs;

/* E0502, with the option's name, where steps cannot be run one by one. */
int ac_step_inputs_possible(const ac_made *a, const char *option);
int ac_step_inputs_make(const ac_made *a, ac_step_inputs *x);
/* Runs set `set` up to and with a step; *bytes: that operand as the evaluator left it, valid until the next run. */
int ac_step_inputs_again(ac_step_inputs *x, int32_t set, int32_t step, int32_t operand, const uint8_t **bytes);
void ac_step_inputs_close(ac_step_inputs *x);

#endif
