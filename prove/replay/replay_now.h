/* replay_now.h - the call that is being replayed, for replay_call.c, replay_run.c and replay_memory.c. */
#ifndef REPLAY_NOW_H
#define REPLAY_NOW_H
#include "prove/replay/replay.h"

enum { MANY = -1 };

typedef struct replaying {
    program *program;
    call *call;
    function *fn;
    int32_t step;                                                 /* number of the call */
    range *cell[2 * MAX_ARGS];                                    /* by buffer: its elements; NULL: a constant */
    int64_t limit[2 * MAX_ARGS];                                  /* ... how many */
    int32_t n_sharing[2 * MAX_ARGS], sharing[MAX_ARGS][MAX_ARGS]; /* arguments that share bytes with it */
    range *all[MAX_ARGS];      /* by argument: its elements after the tasks so far, if they run in any order */
    int32_t *reader[MAX_ARGS]; /* by element: the task that has read it, + 1, or MANY; NULL: tasks run in order */
    int32_t task;
    int32_t names; /* given so far */
    int64_t steps, most_steps;
    int32_t at_work;                                        /* an instruction */
    int32_t doubtful;                                       /* more than 0: the function may have failed by now */
    int32_t left;                                           /* loops that data may have left by now */
    bool leaving;                                           /* the innermost loop */
    enum cases { NO_CASES, UNTIL_A_CUT, TO_THE_END } cases; /* a maximum is each of its elements in turn */
} replaying;
extern replaying now;

const argument *argument_of(int32_t buf); /* NULL: an array of the function */
void load(const instruction *x);
void store(const instruction *x);
void overwrite(int32_t buf, int64_t i, bool surely); /* element i is stored: others that share its bytes lose them */
void run(int32_t from, int32_t to);                  /* instructions from .. to - 1 */

#endif
