/* compiled.c - compiles the C of a module with the target's gcc and with clang, at all levels, and reads the frame of
 * each function (-fstack-usage), who calls whom (the assembly), and the code. */
#include "base/ascii.h"
#include "codegen/backends/find.h"
#include "codegen/constants.h"
#include "codegen/dsp/rows.h"
#include "codegen/frames.h"
#include "codegen/stack_size.h"
#include "host/firmware/board.h"

#include "host/compiler.h"

#include <stdlib.h>
#include <string.h>

static const char *const LEVEL[] = {"-O0", "-O1", "-O2", "-O3", "-Os"};
enum { LEVELS = sizeof LEVEL / sizeof *LEVEL, FAST = 2, SMALL = 4 };

/* Deepest path by level, and names of the compiler and its version. */
typedef struct compiled {
    ac_bytes stack[LEVELS];
    const char *how;
} compiled;

/* ------------------------------------------------------------------ frames */

/* A compiler's copy of a function ("f.constprop.0") counts as the function. */
static int32_t function(ac_region *r, ac_frames *f, const char *name, size_t n)
{
    const char *text = ac_strf(r, "%.*s", (int)n, name);
    return ac_frames_add(r, f, ac_strf(r, "%.*s", (int)strcspn(text, "."), text));
}

static size_t name_of(const char *at)
{
    size_t n = 0;
    if (ac_is_letter(*at) || *at == '_')
        while (ac_is_alnum(at[n]) || at[n] == '_' || at[n] == '.')
            n++;
    return n;
}

/* "m.c:81:30:kws_conv_2d_0\t128\tstatic" */
static void take_frame(ac_region *r, ac_frames *f, const char *line)
{
    const size_t head = strcspn(line, "\t");
    size_t from = head;
    if (!line[head])
        return;
    while (from && line[from - 1] != ':')
        from--;
    const int32_t at = function(r, f, line + from, head - from);
    const ac_bytes bytes = strtol(line + head, NULL, 10) + ac_naked_stack(f->item[at].name);
    if (bytes > f->item[at].bytes)
        f->item[at].bytes = bytes;
}

/* A line of assembly, to its end: the label of a function, which becomes *from, or a call out of it. */
static void take_call(ac_region *r, ac_frames *f, const char *line, int32_t *from)
{
    static const char *const CALLS[] = {"bl", "b", "b.w", "call", "tail", "jal", "j"};
    const size_t label = name_of(line);
    if (label && line[label] == ':') {
        *from = function(r, f, line, label);
        return;
    }
    line += strspn(line, " \t");
    const size_t word = strcspn(line, " \t\n"), gap = strspn(line + word, " \t"), to = name_of(line + word + gap);
    for (size_t i = 0; to && *from >= 0 && i < sizeof CALLS / sizeof *CALLS; i++)
        if (word == strlen(CALLS[i]) && !strncmp(line, CALLS[i], word)) {
            const int32_t at = function(r, f, line + word + gap, to);
            if (at != *from)
                ac_frames_call(r, f, *from, at);
        }
}

static ac_bytes deepest(const ac_module *m, const char *frames, const char *assembly)
{
    static const char *const ROOTS[] = {"run", "run_row", "run_step", "run_backward", "run_update"};
    ac_region *r = m->cx->region;
    ac_frames f = {0};
    ac_bytes most = 0;
    int32_t from = -1;
    for (const char *at = frames; *at; at += strcspn(at, "\n"), at += *at == '\n')
        take_frame(r, &f, ac_strf(r, "%.*s", (int)strcspn(at, "\n"), at));
    for (const char *at = assembly; *at; at += strcspn(at, "\n"), at += *at == '\n')
        take_call(r, &f, at, &from);
    for (size_t k = 0; k < sizeof ROOTS / sizeof *ROOTS; k++) {
        const char *name = ac_strf(r, "%s_%s", m->name, ROOTS[k]);
        for (int32_t i = 0; i < f.n; i++)
            if (!strcmp(f.item[i].name, name) && f.item[i].bytes >= 0) {
                const ac_bytes d = ac_frames_deepest(r, &f, m->target, i);
                most = d > most ? d : most;
            }
    }
    return most;
}

/* ------------------------------------------------------------------ compilers */

/* m.c, m.h, m.bin and what a link takes, in a folder. */
static int write_files(ac_module *m, const char *dir)
{
    const ac_emit_names names = ac_build_names(m->cx, dir);
    static const char *const KINDS[] = {"c", "h", "bin"};
    ac_board_outputs out = {0};
    const ac_backend *b = ac_backend_find(m->cx, "c");
    const int n = ac_module_weights(m) == AC_WEIGHTS_RODATA ? 2 : 3;
    for (int k = 0; k < n && b; k++) {
        ac_sink *to = AC_NEW(m->cx->region, ac_sink);
        ac_sink_open(to, m->cx);
        AC_TRY(k == 2 ? ac_blob_write(m, to) : b->emit(m, KINDS[k], &names, to));
        ac_push(m->cx->region, &out, ((ac_output){to, ac_strf(m->cx->region, "%s/m.%s", dir, KINDS[k])}));
    }
    ac_board_files_into(m->cx, dir, &out);
    return b ? ac_sink_commit_scratch(m->cx, out.item, out.n) : AC_FAIL;
}

/* One compilation for each level to dir/NAME<level>.s, all at the same time; false: one failed, or has no frames. */
static bool ask(const ac_module *m, const ac_board *b, const char *dir, const char *name, compiled *to)
{
    enum { FLAGS = 16 }; /* other flags do not matter: debugging, the section of constants */
    static const char *const NOTHING[] = {NULL};
    ac_region *r = m->cx->region;
    const char *const *cc = !strcmp(name, "gcc") ? ac_board_gcc(m->cx, b, NOTHING) : ac_board_clang(m->cx, b, dir);
    ac_tool tool[LEVELS];
    for (int k = 0; k < LEVELS; k++) {
        const char *more[] = {LEVEL[k],
                              "-w",
                              "-std=gnu11",
                              "-ffunction-sections",
                              "-fdata-sections",
                              "-fstack-usage",
                              "-S",
                              ac_strf(r, "-I%s", dir),
                              ac_strf(r, "%s/m.c", dir),
                              "-o",
                              ac_strf(r, "%s/%s%d.s", dir, name, k),
                              NULL};
        tool[k] = (ac_tool){.argv = ac_tool_words(m->cx, cc, more), .log = ac_strf(r, "%s/log%d", dir, k)};
    }
    ac_tools_run(tool, LEVELS);
    for (int k = 0; k < LEVELS; k++) {
        to->stack[k] = tool[k].status ? 0
                                      : deepest(m, ac_board_read(m->cx, ac_strf(r, "%s/%s%d.su", dir, name, k)),
                                                ac_board_read(m->cx, ac_strf(r, "%s/%s%d.s", dir, name, k)));
        if (to->stack[k] <= 0)
            return false;
        to->stack[k] += FLAGS;
    }
    return true;
}

/* Code of gcc's at a level */
static bool weigh(const ac_module *m, const ac_board *b, const char *dir, int level, ac_bytes *code)
{
    ac_region *r = m->cx->region;
    const char *object = ac_strf(r, "%s/m.o", dir);
    const char *more[] = {"-c", ac_strf(r, "-I%s", dir), ac_strf(r, "%s/gcc%d.s", dir, level), "-o", object, NULL};
    ac_tool t = {.argv = ac_board_gcc(m->cx, b, more), .log = ac_strf(r, "%s/log", dir)};
    ac_bytes constants;
    ac_tools_run(&t, 1);
    return !t.status && ac_board_weigh(m, b, dir, object, code, &constants);
}

/* The most of all levels that optimise */
static ac_bytes optimised(const compiled *c)
{
    ac_bytes most = 0;
    for (int k = 1; k < LEVELS; k++)
        most = c->stack[k] > most ? c->stack[k] : most;
    return most;
}

static ac_bytes larger(ac_bytes a, ac_bytes b)
{
    return a > b ? a : b;
}

void ac_compiled(ac_module *m, ac_built *built)
{
    ac_ctx *cx = m->cx;
    const ac_board *b = ac_board_of(m->target);
    const char *gcc = b ? ac_tool_path(cx, ac_strf(cx->region, "%sgcc", b->prefix)) : NULL;
    const char *dir = gcc && !m->target->vec_bytes ? ac_build_folder(cx) : NULL;
    compiled by[2] = {0};
    ac_bytes code[2];
    if (dir && write_files(m, dir) == AC_OK && ask(m, b, dir, "gcc", &by[0]) && weigh(m, b, dir, FAST, &code[0]) &&
        weigh(m, b, dir, SMALL, &code[1])) {
        const char *how = ac_strf(cx->region, "%sgcc %s", b->prefix, ac_board_version(cx, b, dir));
        const char *version = ac_board_clang_version(cx, dir);
        ac_built to = {.code = code[0], .small_code = code[1], .time = built->time};
        if (version && ask(m, b, dir, "clang", &by[1])) {
            how = ac_strf(cx->region, "%s and clang %s", how, version);
            by[1].how = version;
        }
        to.stack = larger(optimised(&by[0]), optimised(&by[1]));
        to.plain_stack = larger(by[0].stack[0], by[1].stack[0]);
        if (!by[1].how) {
            to.plain_stack = larger(to.plain_stack, ac_stack_estimate(m, false));
            to.clang_stack = larger(to.stack, ac_stack_estimate(m, true));
        }
        to.how = how;
        *built = to;
    }
    ac_folder_end(dir);
}
