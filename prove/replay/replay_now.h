/* replay_now.h - the call that is being replayed, for replay_run.c and replay_memory.c. */
#ifndef REPLAY_NOW_H
#define REPLAY_NOW_H
#include "prove/replay/replay.h"

typedef struct replaying {
    program *program;
    call *call;
    function *fn;
    int32_t step;                /* number of the call */
    range *cell[2 * MAX_ARGS];   /* by buffer: its elements; NULL: a constant */
    int64_t limit[2 * MAX_ARGS]; /* ... how many */
    bool overlaps[2 * MAX_ARGS]; /* arguments that share bytes with another one */
    int32_t names;               /* given so far */
    int64_t steps;
} replaying;
extern replaying now;

const argument *argument_of(int32_t buf); /* NULL: an array of the function */
void load(const instruction *x);
void store(const instruction *x);

#endif
