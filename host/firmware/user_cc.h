/* user_cc.h - compiles generated C with a compiler that the user names, and runs the program: on the host, in QEMU's
 * emulation of another processor, or on one of QEMU's boards.
 *
 *     ac_user_cc cc;
 *     AC_TRY(ac_user_cc_open(cx, dir, "arm-none-eabi-gcc -O3 -mcpu=cortex-m4", target, "--selftest-cc", &cc));
 *     AC_TRY(ac_user_cc_build(cx, dir, &cc));      dir/model.c by that compiler, dir/test.c around it
 *     ac_tool t = ac_user_cc_run(cx, dir, &cc);    t.status as of the program; its output is in t.log
 *
 * The compiler's -dumpmachine gives its machine. A program without an operating system runs on a board of boards.def:
 * that of the target, or the one with the -mcpu of the words; the target's gcc links it. A program that is not an ELF
 * file of the host runs under qemu-user.
 *
 * Errors: E0303 for tools that are missing or fail, E0502 for lack of a board. Memory: the context's region. */
#ifndef AC_HOST_FIRMWARE_USER_CC_H
#define AC_HOST_FIRMWARE_USER_CC_H
#include "host/firmware/board.h"

typedef struct ac_user_cc {
    const char *command;      /* as the user wrote it */
    const char *option;       /* the one that has it, for messages */
    const char *const *words; /* of it, ending with NULL */
    const char *machine;      /* "x86_64-linux-gnu"; "": the compiler does not say */
    const ac_board *board;    /* NULL: programs of an operating system */
    const char *runs_on;      /* "this machine", "qemu-s390x", "QEMU's mps2-an386"; after ac_user_cc_build */
    const char *const *run;   /* words that run it; after ac_user_cc_build */
} ac_user_cc;

int ac_user_cc_open(ac_ctx *cx, const char *dir, const char *command, const ac_target *target, const char *option,
                    ac_user_cc *out);
/* One file of dir to an object there; the board of the command, which links it. */
int ac_user_cc_compile(ac_ctx *cx, const char *dir, const ac_user_cc *cc, const char *from, const char *to);
const ac_board *ac_user_cc_board(ac_ctx *cx, const ac_user_cc *cc);
int ac_user_cc_build(ac_ctx *cx, const char *dir, ac_user_cc *cc);
ac_tool ac_user_cc_run(ac_ctx *cx, const char *dir, const ac_user_cc *cc);

#endif
