/* timed.h - the time of one run of a compiled model: builds its code, links it alone, and walks through the program
 * (timing/timing.h).
 *
 *     const ac_timed_how how = {.backend = "c"};
 *     ac_timed t;
 *     AC_TRY(ac_board_time(module, &how, &t));
 *     t.time.insns                               t.by: "arm-none-eabi-gcc 12.2.1 -O2"
 *     ac_timed_step(module, &t.time.finding[i])   the step that the instruction belongs to; -1: unknown
 *
 * Needs the target's gcc, which links; not for a program of the user. Errors: those of the walk, E0303 for tools that
 * are missing or fail, E0502 for a target without a board and for streamed inputs. Memory: the context's region. */
#ifndef AC_HOST_FIRMWARE_TIMED_H
#define AC_HOST_FIRMWARE_TIMED_H
#include "codegen/module.h"
#include "timing/timing.h"

typedef struct ac_timed_how {
    const char *backend; /* "c", or "llvm": the object */
    const char *cc;      /* the user's compiler with its options; NULL: the target's gcc -O2 */
    const char *program; /* the user's linked program, in place of code that is compiled; NULL: none */
    int32_t wait;        /* wait states of flash */
} ac_timed_how;

typedef struct ac_timed {
    ac_timing time;
    const char *by;
    int32_t wait;
} ac_timed;

int ac_board_time(ac_module *m, const ac_timed_how *how, ac_timed *out);
/* The same for a program that is already there. */
int ac_program_time(const ac_module *m, const char *path, const ac_timed_how *how, ac_timing *out);
int32_t ac_timed_step(const ac_module *m, const ac_timing_finding *f);
/* The step of call i of run, which follows step `before` (-1: none); -1: no step, or one that is inlined. */
int32_t ac_timed_call(const ac_module *m, const ac_timing_call *call, int32_t before);
/* timed_report.c */
void ac_timed_text(const ac_module *m, const ac_timed *t, ac_sink *to);
void ac_timed_json(const ac_module *m, const ac_timed *t, ac_sink *to);

#endif
