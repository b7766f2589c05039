/* gcc_frames.c - the target's gcc compiles the C of a module: the frame of each function and who calls whom
 * (-fcallgraph-info=su, gcc 10 and later), and the code. */
#include "codegen/backends/find.h"
#include "codegen/constants.h"
#include "codegen/dsp/rows.h"
#include "codegen/frames.h"
#include "host/firmware/board.h"

#include "host/compiler.h"

#include <stdlib.h>
#include <string.h>

/* The text after `key: "` up to the next quote; NULL: not in this line. */
static const char *field(ac_region *r, const char *line, const char *key)
{
    const char *at = strstr(line, key);
    if (!at)
        return NULL;
    at += strlen(key);
    return ac_strf(r, "%.*s", (int)strcspn(at, "\""), at);
}

/* node: { title: "m.c:kws_conv_2d_0" label: "kws_conv_2d_0\nm.c:81:30\n128 bytes (static)" } */
static void take_node(ac_region *r, ac_frames *f, const char *line)
{
    const char *name = field(r, line, "title: \""), *label = field(r, line, "label: \"");
    const char *bytes = label ? strstr(label, " bytes (") : NULL;
    if (!name || !bytes)
        return;
    while (bytes > label && bytes[-1] >= '0' && bytes[-1] <= '9')
        bytes--;
    const int32_t at = ac_frames_add(r, f, name);
    f->item[at].bytes = strtol(bytes, NULL, 10) + ac_naked_stack(name);
}

/* edge: { sourcename: "kws_run" targetname: "m.c:kws_conv_2d_0" label: "m.c:92:5" } */
static void take_edge(ac_region *r, ac_frames *f, const char *line)
{
    const char *from = field(r, line, "sourcename: \""), *to = field(r, line, "targetname: \"");
    if (from && to)
        ac_frames_call(r, f, ac_frames_add(r, f, from), ac_frames_add(r, f, to));
}

static ac_bytes deepest(const ac_module *m, const char *graph)
{
    static const char *const ROOTS[] = {"run", "run_row", "run_step", "run_backward", "run_update"};
    ac_region *r = m->cx->region;
    ac_frames f = {0};
    ac_bytes most = 0;
    for (const char *at = graph; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const char *line = ac_strf(r, "%.*s", (int)strcspn(at, "\n"), at);
        if (!strncmp(line, "node:", 5))
            take_node(r, &f, line);
        else if (!strncmp(line, "edge:", 5))
            take_edge(r, &f, line);
    }
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

enum { FLAGS = 16 }; /* other flags do not matter: debugging, the section of constants */

/* One compilation for each setting, both at the same time. */
static bool ask(ac_module *m, const ac_board *b, const char *dir, ac_bytes stack[2], ac_bytes code[2])
{
    static const char *const LEVEL[] = {"-O2", "-Os"};
    ac_region *r = m->cx->region;
    ac_bytes constants;
    ac_tool tool[2];
    for (int k = 0; k < 2; k++) {
        const char *more[] = {LEVEL[k],
                              "-w",
                              "-std=gnu11",
                              "-ffunction-sections",
                              "-fdata-sections",
                              "-fcallgraph-info=su",
                              "-c",
                              ac_strf(r, "-I%s", dir),
                              ac_strf(r, "%s/m.c", dir),
                              "-o",
                              ac_strf(r, "%s/m%d.o", dir, k),
                              NULL};
        tool[k] = (ac_tool){.argv = ac_board_gcc(m->cx, b, more), .log = ac_strf(r, "%s/log%d", dir, k)};
    }
    ac_tools_run(tool, 2);
    for (int k = 0; k < 2; k++) {
        stack[k] = tool[k].status ? 0 : deepest(m, ac_board_read(m->cx, ac_strf(r, "%s/m%d.ci", dir, k)));
        if (stack[k] <= 0 || !ac_board_weigh(m, b, dir, ac_strf(r, "%s/m%d.o", dir, k), &code[k], &constants))
            return false;
        stack[k] += FLAGS;
    }
    return true;
}

void ac_gcc_built(ac_module *m, ac_built *built)
{
    ac_ctx *cx = m->cx;
    const ac_board *b = ac_board_of(m->target);
    const char *gcc = b ? ac_tool_path(cx, ac_strf(cx->region, "%sgcc", b->prefix)) : NULL;
    const char *dir = gcc && !m->target->vec_bytes ? ac_build_folder(cx) : NULL;
    ac_bytes stack[2], code[2];
    if (dir && write_files(m, dir) == AC_OK && ask(m, b, dir, stack, code)) {
        const ac_bytes most = stack[0] > stack[1] ? stack[0] : stack[1], least = stack[0] + stack[1] - most;
        const char *how = ac_strf(cx->region, "%sgcc %s", b->prefix, ac_board_version(cx, b, dir));
        *built =
            (ac_built){.stack = most, .small_stack = most, .code = code[0], .small_code = code[1], .time = built->time};
        if (most * 100 <= (least - FLAGS) * 115 + 2400) { /* one figure is near enough to both */
            built->how = ac_strf(cx->region, "%s, -O2 and -Os", how);
        } else {
            built->stack = stack[0];
            built->small_stack = stack[1];
            built->how = ac_strf(cx->region, "%s -O2", how);
            built->small_how = ac_strf(cx->region, "%s -Os", how);
        }
    }
    ac_folder_end(dir);
}
