/* timed.c - builds the code of a model and walks through it; see timed.h. */
#include "host/firmware/timed.h"

#include "base/file.h"
#include "codegen/backends/find.h"
#include "codegen/constants.h"
#include "host/compiler.h"
#include "host/firmware/board.h"
#include "host/firmware/user_cc.h"

#include <string.h>

typedef struct build {
    ac_module *m;
    const ac_board *b;
    const ac_timed_how *how;
    const char *dir;
    bool object;
} build;

static const char *in_dir(const build *x, const char *name)
{
    return ac_strf(x->m->cx->region, "%s/%s", x->dir, name);
}

static ac_sink *add(const build *x, ac_board_outputs *out, const char *name)
{
    ac_sink *to = AC_NEW(x->m->cx->region, ac_sink);
    ac_sink_open(to, x->m->cx);
    ac_push(x->m->cx->region, out, ((ac_output){to, in_dir(x, name)}));
    return to;
}

static int write_files(const build *x)
{
    ac_ctx *cx = x->m->cx;
    const ac_emit_names names = ac_build_names(cx, x->dir);
    ac_board_outputs out = {0};
    const ac_backend *b = ac_backend_find(cx, x->object ? "llvm" : "c"), *c = ac_backend_find(cx, "c");
    if (!b || !c)
        return AC_FAIL;
    AC_TRY(b->emit(x->m, x->object ? "o" : "c", &names, add(x, &out, x->object ? "m.o" : "m.c")));
    AC_TRY(c->emit(x->m, "h", &names, add(x, &out, "m.h")));
    if (ac_module_weights(x->m) != AC_WEIGHTS_RODATA)
        AC_TRY(ac_blob_write(x->m, add(x, &out, "m.bin")));
    ac_board_files_into(cx, x->dir, &out);
    return ac_sink_commit_scratch(cx, out.item, out.n);
}

/* ------------------------------------------------------------------ building */

static int by_board(const build *x)
{
    const char *const more[] = {"-O2",
                                "-w",
                                "-std=gnu11",
                                "-ffunction-sections",
                                "-fdata-sections",
                                ac_strf(x->m->cx->region, "-I%s", x->dir),
                                "-c",
                                in_dir(x, "m.c"),
                                "-o",
                                in_dir(x, "m.o"),
                                NULL};
    return ac_tool_need(x->m->cx, x->dir, ac_board_gcc(x->m->cx, x->b, more), x->b->packages);
}

/* *b: the board, with the core of the command. */
static int by_user(const build *x, const ac_board **b)
{
    ac_user_cc cc;
    AC_TRY(ac_user_cc_open(x->m->cx, x->dir, x->how->cc, x->m->target, "--time-cc", &cc));
    if (!cc.board)
        return ac_error(x->m->cx, (ac_place){0}, E0502, "--time-cc: '%s' compiles for %s, expected a microcontroller",
                        x->how->cc, *cc.machine ? cc.machine : "an unknown machine");
    AC_TRY(ac_user_cc_compile(x->m->cx, x->dir, &cc, "m.c", "m.o"));
    *b = ac_user_cc_board(x->m->cx, &cc);
    return AC_OK;
}

static const char *entry(const ac_module *m)
{
    return ac_strf(m->cx->region, "%s_run", m->name);
}

static int link_alone(const build *x, const ac_board *b)
{
    ac_region *r = x->m->cx->region;
    const char *const objects[] = {ac_strf(r, "-Wl,-e,%s", entry(x->m)), ac_strf(r, "-Wl,-u,%s", entry(x->m)),
                                   in_dir(x, "m.o"), "-lm", NULL};
    return ac_tool_need(x->m->cx, x->dir, ac_board_link(x->m->cx, b, x->dir, objects, in_dir(x, "m.elf")), b->packages);
}

static const char *described(const build *x)
{
    ac_ctx *cx = x->m->cx;
    return x->object    ? "LLVM"
           : x->how->cc ? x->how->cc
                        : ac_strf(cx->region, "%sgcc %s -O2", x->b->prefix, ac_board_version(cx, x->b, x->dir));
}

static int build_and_walk(const build *x, ac_timed *out)
{
    const ac_board *b = x->b;
    AC_TRY(write_files(x));
    if (!x->object)
        AC_TRY(x->how->cc ? by_user(x, &b) : by_board(x));
    AC_TRY(link_alone(x, b));
    out->by = described(x);
    return ac_program_time(x->m, in_dir(x, "m.elf"), x->how, &out->time);
}

/* ------------------------------------------------------------------ the walk */

/* The blob of weights; empty if they are in the program. */
static int weights_of(const ac_module *m, ac_timing_memory *to)
{
    ac_sink blob;
    if (ac_module_weights(m) != AC_WEIGHTS_BLOB)
        return AC_OK;
    ac_sink_open(&blob, m->cx);
    AC_TRY(ac_blob_write(m, &blob));
    uint8_t *all = AC_NEW_N(m->cx->region, uint8_t, ac_sink_size(&blob) + 1);
    size_t at = 0, n;
    for (int32_t i = 0; i <= 2 * blob.lasting.n; i++, at += n) {
        const void *piece = ac_sink_piece(&blob, i, &n);
        if (n)
            memcpy(all + at, piece, n);
    }
    *to = (ac_timing_memory){.bytes = (ac_bytes)at, .align = 64, .data = all, .slow = true};
    return AC_OK;
}

static int possible(const ac_module *m)
{
    const char *why = m->streamed      ? "an input that is passed row by row"
                      : m->sizes       ? "sizes that are known at run time"
                      : m->threads > 1 ? "threads"
                      : m->host        ? "--host"
                      : m->n_parts > 1 ? "several functions"
                                       : NULL;
    return why ? ac_error(m->cx, (ac_place){.file = m->source}, E0502, "--time does not support %s", why) : AC_OK;
}

int ac_program_time(const ac_module *m, const char *path, const ac_timed_how *how, ac_timing *out)
{
    enum { MOST = 16 };
    ac_timing_memory mem[MOST] = {{.bytes = m->ram[0].bytes, .align = m->ram[0].align}};
    int32_t n = 2;
    ac_file f = {0};
    AC_TRY(possible(m));
    AC_TRY(weights_of(m, &mem[1]));
    if (m->state_bytes)
        mem[n++] = (ac_timing_memory){.bytes = m->state_bytes, .align = m->ram[0].align};
    if (m->n_ram + n > MOST)
        return ac_error(m->cx, (ac_place){.file = m->source}, E0502, "--time supports at most %d memories", MOST - 2);
    for (int32_t i = 1; i < m->n_ram; i++)
        mem[n++] = (ac_timing_memory){.bytes = m->ram[i].bytes, .align = m->ram[i].align};
    AC_TRY(ac_file_open(m->cx, path, &f));
    const ac_timing_task task = {.path = ac_path_name(path),
                                 .bytes = f.data,
                                 .n = f.n,
                                 .run = entry(m),
                                 .core = m->target->cpu,
                                 .wait = how->wait,
                                 .memory = mem,
                                 .n_memories = n};
    const int status = ac_timing_walk(m->cx, &task, out);
    ac_file_keep(m->cx, &f); /* names of findings */
    return status;
}

static int check(const build *x)
{
    ac_ctx *cx = x->m->cx;
    if (!x->b)
        return ac_error(cx, (ac_place){0}, E0502, "--time has no walk for %s, expected a microcontroller",
                        x->m->target->name);
    if (ac_tool_path(cx, ac_strf(cx->region, "%sgcc", x->b->prefix)))
        return ac_module_without_custom(x->m, "--time");
    ac_error(cx, (ac_place){0}, E0303, "--time needs %sgcc, which is not installed", x->b->prefix);
    return ac_help(cx, "Debian: apt install %s", x->b->packages);
}

int ac_board_time(ac_module *m, const ac_timed_how *how, ac_timed *out)
{
    build x = {.m = m, .b = ac_board_of(m->target), .how = how, .object = !strcmp(how->backend, "llvm")};
    *out = (ac_timed){.wait = how->wait};
    if (how->program) {
        out->by = ac_path_name(how->program);
        return ac_program_time(m, how->program, how, &out->time);
    }
    AC_TRY(possible(m));
    AC_TRY(check(&x));
    x.dir = ac_build_folder(m->cx);
    const int status = x.dir ? build_and_walk(&x, out) : AC_FAIL;
    ac_folder_end(x.dir);
    return status;
}

/* ------------------------------------------------------------------ steps */

/* name is NAME_FUNCTION, maybe with a suffix of the compiler: ".constprop.0" */
static bool is_function(const ac_module *m, const ac_loop_fn *fn, const char *name)
{
    const size_t n = strlen(m->name), k = strlen(fn->name);
    return !strncmp(name, m->name, n) && name[n] == '_' && !strncmp(name + n + 1, fn->name, k) &&
           (!name[n + 1 + k] || name[n + 1 + k] == '.');
}

static int32_t step_after(const ac_module *m, const char *name, int32_t before)
{
    for (int32_t i = before + 1; i < m->n_calls; i++)
        if (is_function(m, m->fn[m->call[i].fn], name))
            return i;
    return -1;
}

int32_t ac_timed_step(const ac_module *m, const ac_timing_finding *f)
{
    return step_after(m, f->step, -1);
}

int32_t ac_timed_call(const ac_module *m, const ac_timing_call *call, int32_t before)
{
    return step_after(m, call->function, before);
}
