/* qemu.c - a program for a board, from its start-up code to the words that run it; see board.h. */
#include "host/firmware/board.h"

#include <string.h>

int ac_tool_need(ac_ctx *cx, const char *dir, const char *const *argv, const char *packages)
{
    enum { LINES = 8 };
    ac_tool t = {.argv = argv, .log = ac_strf(cx->region, "%s/log", dir)};
    ac_tools_run(&t, 1);
    if (!t.status)
        return AC_OK;
    if (t.status == -1)
        ac_error(cx, (ac_place){0}, E0303, "cannot run '%s'", argv[0]);
    else
        ac_error(cx, (ac_place){0}, E0303, "'%s' failed with status %d", argv[0], t.status);
    const char *at = ac_board_read(cx, t.log);
    const bool lacks = t.status == -1 || strstr(at, "cannot find") || strstr(at, "No such file");
    for (int i = 0; i < LINES && *at; i++, at += strcspn(at, "\n"), at += *at == '\n')
        ac_detail(cx, "%.*s", (int)strcspn(at, "\n"), at);
    return packages && lacks ? ac_help(cx, "Debian: apt install %s", packages) : AC_FAIL;
}

int ac_board_start(ac_ctx *cx, const ac_board *b, const char *dir)
{
    ac_region *r = cx->region;
    const char *words[] = {"-O2",
                           "-w",
                           ac_strf(r, "-I%s", dir),
                           ac_strf(r, "-DTICK_INSNS=%uu", b->tick_insns),
                           ac_strf(r, "-DTICK_PARTS=%uu", b->tick_parts),
                           "-c",
                           ac_strf(r, "%s/start.c", dir),
                           "-o",
                           ac_strf(r, "%s/start.o", dir),
                           NULL};
    return ac_tool_need(cx, dir, ac_board_gcc(cx, b, words), b->packages);
}

const char *const *ac_board_qemu(ac_ctx *cx, const ac_board *b, const char *elf)
{
    ac_region *r = cx->region;
    const bool riscv = strstr(b->system, "riscv") != NULL, emulated = *b->emulated;
    const char *argv[] = {ac_strf(r, "qemu-system-%s", b->system),
                          "-M",
                          b->machine,
                          "-display",
                          "none",
                          "-serial",
                          "none",
                          "-monitor",
                          "none",
                          "-semihosting-config",
                          "enable=on,target=native",
                          "-icount",
                          "shift=0,sleep=off",
                          "-kernel",
                          elf,
                          riscv      ? "-bios"
                          : emulated ? "-cpu"
                                     : NULL,
                          riscv ? "none" : b->emulated,
                          riscv && emulated ? "-cpu" : NULL,
                          b->emulated,
                          NULL};
    return ac_copy(r, argv, sizeof argv);
}
