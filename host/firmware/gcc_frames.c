/* gcc_frames.c - the target's gcc compiles the C of a module and says the frame of each function and who calls whom
 * (-fcallgraph-info=su, gcc 10 and later). */
#include "codegen/backends/find.h"
#include "codegen/frames.h"
#include "host/firmware/board.h"

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
    f->item[at].bytes = strtol(bytes, NULL, 10);
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
    static const char *const ROOTS[] = {"run", "run_row"};
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

/* m.c and m.h in a folder. */
static int write_c(ac_module *m, const char *dir)
{
    static const ac_emit_names NAMES = {"m.h", "m.bin"};
    static const char *const KINDS[] = {"c", "h"};
    ac_output out[2];
    for (int k = 0; k < 2; k++) {
        const ac_backend *b = ac_backend_find(m->cx, "c");
        ac_sink *to = AC_NEW(m->cx->region, ac_sink);
        ac_sink_open(to, m->cx);
        if (!b || b->emit(m, KINDS[k], &NAMES, to) != AC_OK)
            return AC_FAIL;
        out[k] = (ac_output){to, ac_strf(m->cx->region, "%s/m.%s", dir, KINDS[k])};
    }
    return ac_sink_commit_all(m->cx, out, 2);
}

enum { FLAGS = 16 }; /* what other flags change: -fdata-sections, debugging, where constants are */

/* One compilation for each setting, both at the same time. */
static bool ask(ac_module *m, const ac_board *b, const char *dir, ac_bytes bytes[2])
{
    static const char *const LEVEL[] = {"-O2", "-Os"};
    ac_region *r = m->cx->region;
    ac_tool tool[2];
    for (int k = 0; k < 2; k++) {
        const char *more[] = {LEVEL[k],
                              "-w",
                              "-std=gnu11",
                              "-ffunction-sections",
                              "-fdata-sections",
                              "-fcallgraph-info=su",
                              "-S",
                              ac_strf(r, "-I%s", dir),
                              ac_strf(r, "%s/m.c", dir),
                              "-o",
                              ac_strf(r, "%s/s%d.s", dir, k),
                              NULL};
        tool[k] = (ac_tool){.argv = ac_board_gcc(m->cx, b, more), .log = ac_strf(r, "%s/log%d", dir, k)};
    }
    ac_tools_run(tool, 2);
    for (int k = 0; k < 2; k++) {
        bytes[k] = tool[k].status ? 0 : deepest(m, ac_board_read(m->cx, ac_strf(r, "%s/s%d.ci", dir, k)));
        if (bytes[k] <= 0)
            return false;
        bytes[k] += FLAGS;
    }
    return true;
}

void ac_gcc_stack(ac_module *m, ac_stack *stack)
{
    ac_ctx *cx = m->cx;
    const ac_board *b = ac_board_of(m->target);
    const char *gcc = b ? ac_tool_path(cx, ac_strf(cx->region, "%sgcc", b->prefix)) : NULL;
    const char *dir = gcc && !m->target->vec_bytes ? ac_board_folder(cx) : NULL;
    ac_bytes bytes[2];
    if (dir && write_c(m, dir) == AC_OK && ask(m, b, dir, bytes)) {
        const ac_bytes most = bytes[0] > bytes[1] ? bytes[0] : bytes[1], least = bytes[0] + bytes[1] - most;
        const char *how = ac_strf(cx->region, "frames of %sgcc %s", b->prefix, ac_board_version(cx, b, dir));
        if (most * 100 <= (least - FLAGS) * 115 + 2400) /* one figure is near enough to both */
            *stack = (ac_stack){.bytes = most, .how = ac_strf(cx->region, "%s, -O2 and -Os", how)};
        else
            *stack = (ac_stack){.bytes = bytes[0],
                                .small = bytes[1],
                                .how = ac_strf(cx->region, "%s -O2", how),
                                .small_how = ac_strf(cx->region, "%s -Os", how)};
    }
    ac_board_remove(cx, dir);
}
