/* board.h - cross compilers and QEMU: the boards that run code of a firmware target, and the tools they need.
 *
 *     const ac_board *b = ac_board_of(target);                NULL: not a firmware target, or one without a board
 *     if (!ac_tool_path(cx, ac_strf(r, "%sgcc", b->prefix)))  ... install b->packages
 *     const char *dir = ac_build_folder(cx);                  host/compiler.h
 *     ac_tool t = {.argv = argv, .log = "dir/log"};
 *     ac_tools_run(&t, 1);                                    t.status: its exit status, or -1: not started
 *     ac_folder_end(dir);                                     with all files in it
 *
 * The table is boards.def. Memory: the context's region. */
#ifndef AC_HOST_FIRMWARE_BOARD_H
#define AC_HOST_FIRMWARE_BOARD_H
#include "codegen/module.h"

typedef struct ac_board {
    const char *target, *prefix;
    const char *cpu, *link, *libc;           /* options, separated by blanks; link: one that linking adds, or "" */
    const char *system, *machine, *emulated; /* of QEMU; emulated: its core, "": the machine's own */
    uint32_t boot, boot_bytes, flash, flash_bytes, ram, ram_bytes;
    uint32_t tick_insns, tick_parts; /* instructions of a SysTick tick, as a fraction */
    const char *packages;            /* Debian's */
} ac_board;

const ac_board *ac_board_of(const ac_target *t);
const ac_board *ac_board_at(int32_t i);                 /* row i; NULL after the last */
const char *ac_tool_path(ac_ctx *cx, const char *name); /* where $PATH has it; NULL: nowhere */

/* A program: its words, ending with NULL; the file for its output; its exit status. */
typedef struct ac_tool {
    const char *const *argv;
    const char *log;
    int seconds; /* it is ended after so many; 0: never */
    int status;  /* -1: it could not be started; -2: it took too long */
} ac_tool;

void ac_tools_run(ac_tool *tool, int32_t n); /* all at the same time */
/* Two lists that end with NULL, as one. */
const char *const *ac_tool_words(ac_ctx *cx, const char *const *first, const char *const *more);
/* prefix-gcc with the options of the core, those given (they end with NULL), as words for argv. */
const char *const *ac_board_gcc(ac_ctx *cx, const ac_board *b, const char *const *more);
/* The first words for clang, with the headers of gcc's C library, by a call of gcc. Its version, NULL: without clang.
 * Files in dir. */
const char *const *ac_board_clang(ac_ctx *cx, const ac_board *b, const char *dir);
const char *ac_board_clang_version(ac_ctx *cx, const char *dir);
const char *ac_board_version(ac_ctx *cx, const ac_board *b, const char *dir); /* of gcc: "12.2.1" */
const char *ac_board_read(ac_ctx *cx, const char *path); /* a whole text file; "" when it is not there */

/* qemu.c: runs a tool that has to succeed (E0303 with its first lines; packages: to install if it lacks something, or
 * NULL); makes dir/start.o; the words that run a program on the board, with its instructions counted. */
int ac_tool_need(ac_ctx *cx, const char *dir, const char *const *argv, const char *packages);
int ac_board_start(ac_ctx *cx, const ac_board *b, const char *dir);
const char *const *ac_board_qemu(ac_ctx *cx, const ac_board *b, const char *elf);

/* weigh.c: the words that link objects (they end with NULL) by dir/link.ld; code with libgcc, and constants, of an
 * object linked alone: false when that fails; the files of runtime/board, to be written. */
const char *const *ac_board_link(ac_ctx *cx, const ac_board *b, const char *dir, const char *const *objects,
                                 const char *elf);
bool ac_board_weigh(const ac_module *m, const ac_board *b, const char *dir, const char *object, ac_bytes *code,
                    ac_bytes *constants);
typedef AC_VEC(ac_output) ac_board_outputs;
void ac_board_files_into(ac_ctx *cx, const char *dir, ac_board_outputs *out);

/* compiled.c: measures the stack of the module with the target's gcc and, if there is one, clang, at all levels, and
 * its code with gcc at -O2 and -Os. Changes nothing without gcc, or if it fails. */
void ac_compiled(ac_module *m, ac_built *built);

#endif
