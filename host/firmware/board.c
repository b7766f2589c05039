/* board.c - rows of boards.def, files, programs; see board.h. */
#include "host/firmware/board.h"

#include "base/sys/sys.h"

#include <stdlib.h>
#include <string.h>

static const ac_board BOARDS[] = {
#define BOARD(target, prefix, cpu, link, libc, system, machine, emulated, ...) \
    {target, prefix, cpu, link, libc, system, machine, emulated, __VA_ARGS__},
#include "host/firmware/boards.def"
#undef BOARD
};

const ac_board *ac_board_of(const ac_target *t)
{
    for (size_t i = 0; i < sizeof BOARDS / sizeof *BOARDS; i++)
        if (!strcmp(BOARDS[i].target, t->name))
            return &BOARDS[i];
    return NULL;
}

const ac_board *ac_board_at(int32_t i)
{
    return i < (int32_t)(sizeof BOARDS / sizeof *BOARDS) ? &BOARDS[i] : NULL;
}

const char *ac_tool_path(ac_ctx *cx, const char *name)
{
    const char *path = getenv("PATH");
    for (const char *at = path ? path : ""; *at; at += strcspn(at, AC_SYS_BETWEEN), at += *at != 0) {
        const char *file = ac_strf(cx->region, "%.*s/%s" AC_SYS_PROGRAM, (int)strcspn(at, AC_SYS_BETWEEN), at, name);
        if (ac_sys_may_run(file))
            return file;
    }
    return NULL;
}

/* ------------------------------------------------------------------ files */

const char *ac_board_read(ac_ctx *cx, const char *path)
{
    char *text = ac_sys_text(path, NULL);
    const char *own = text ? ac_strdup(cx->region, text) : "";
    free(text);
    return own;
}

/* ------------------------------------------------------------------ programs */

void ac_tools_run(ac_tool *tool, int32_t n)
{
    enum { MOST = 8 };
    ac_sys_program p[MOST];
    for (int32_t i = 0; i < n && i < MOST; i++)
        p[i] = ac_sys_start(tool[i].argv, tool[i].log);
    for (int32_t i = 0; i < n && i < MOST; i++)
        tool[i].status = p[i] == -1 ? -1 : ac_sys_wait(p[i], tool[i].seconds);
}

typedef AC_VEC(const char *) words;

static void add_words(ac_region *r, words *w, const char *text)
{
    for (const char *at = text; *at; at += strcspn(at, " "), at += strspn(at, " "))
        ac_push(r, w, ac_strf(r, "%.*s", (int)strcspn(at, " "), at));
}

const char *const *ac_tool_words(ac_ctx *cx, const char *const *first, const char *const *more)
{
    words w = {0};
    for (; *first; first++)
        ac_push(cx->region, &w, *first);
    for (; *more; more++)
        ac_push(cx->region, &w, *more);
    ac_push(cx->region, &w, NULL);
    return w.item;
}

const char *const *ac_board_gcc(ac_ctx *cx, const ac_board *b, const char *const *more)
{
    words w = {0};
    ac_push(cx->region, &w, ac_strf(cx->region, "%sgcc", b->prefix));
    add_words(cx->region, &w, b->cpu);
    add_words(cx->region, &w, b->libc);
    for (; *more; more++)
        ac_push(cx->region, &w, *more);
    ac_push(cx->region, &w, NULL);
    return w.item;
}

const char *ac_board_version(ac_ctx *cx, const ac_board *b, const char *dir)
{
    const char *argv[] = {ac_strf(cx->region, "%sgcc", b->prefix), "-dumpfullversion", NULL};
    const char *log = ac_strf(cx->region, "%s/version", dir);
    ac_tool t = {.argv = argv, .log = log};
    ac_tools_run(&t, 1);
    const char *text = ac_board_read(cx, log);
    return ac_strf(cx->region, "%.*s", (int)strcspn(text, "\n"), text);
}

/* ------------------------------------------------------------------ clang */

/* The one that tests use: Debian's newest, else the default. */
static const char *clang(ac_ctx *cx)
{
    static const char *const NAMES[] = {"clang-19", "clang"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (ac_tool_path(cx, NAMES[i]))
            return NAMES[i];
    return NULL;
}

/* Adds the folders where gcc looks for headers, apart from its own: "gcc -E -v" lists them. */
static void add_headers(ac_ctx *cx, const ac_board *b, const char *dir, words *w)
{
    static const char *const ASK[] = {"-xc", "-E", "-v", "/dev/null", NULL};
    ac_region *r = cx->region;
    ac_tool t = {.argv = ac_board_gcc(cx, b, ASK), .log = ac_strf(r, "%s/headers", dir)};
    ac_tools_run(&t, 1);
    const char *at = strstr(ac_board_read(cx, t.log), "<...> search starts here:\n");
    for (at = at ? strchr(at, '\n') + 1 : ""; *at == ' '; at += strcspn(at, "\n"), at += *at == '\n') {
        const char *folder = ac_strf(r, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
        const char *own = ac_strf(r, "%s/stdarg.h", folder), *fixed = ac_strf(r, "%s/limits.h", folder);
        if (!ac_sys_may_read(own) && !(strstr(folder, "include-fixed") && ac_sys_may_read(fixed))) {
            ac_push(r, w, "-isystem");
            ac_push(r, w, folder);
        }
    }
}

const char *const *ac_board_clang(ac_ctx *cx, const ac_board *b, const char *dir)
{
    words w = {0};
    ac_push(cx->region, &w, clang(cx));
    ac_push(cx->region, &w, !strcmp(b->system, "arm") ? "--target=arm-none-eabi" : "--target=riscv32-unknown-elf");
    add_words(cx->region, &w, b->cpu);
    add_headers(cx, b, dir, &w);
    ac_push(cx->region, &w, NULL);
    return w.item;
}

const char *ac_board_clang_version(ac_ctx *cx, const char *dir)
{
    const char *argv[] = {clang(cx), "--version", NULL};
    ac_tool t = {.argv = argv, .log = ac_strf(cx->region, "%s/version", dir)};
    if (!argv[0])
        return NULL;
    ac_tools_run(&t, 1);
    const char *text = ac_board_read(cx, t.log), *at = t.status ? NULL : strstr(text, "version ");
    return at ? ac_strf(cx->region, "%.*s", (int)strspn(at + 8, "0123456789."), at + 8) : NULL;
}
