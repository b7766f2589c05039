/* measure.c - builds a self-test for a board, runs it in QEMU, and reads its counters; see measure.h. */
#include "host/firmware/measure.h"

#include "codegen/backends/find.h"
#include "codegen/c/identifiers.h"
#include "codegen/constants.h"
#include "host/firmware/board.h"
#include "host/firmware/timed.h"

#include "host/compiler.h"

#include <stdlib.h>
#include <string.h>

typedef struct bench {
    ac_module *m;
    const ac_board *b;
    const char *dir;
    bool object;
    int32_t wait;
} bench;

static const char *in_dir(const bench *x, const char *name)
{
    return ac_strf(x->m->cx->region, "%s/%s", x->dir, name);
}

/* ------------------------------------------------------------------ tools */

static int check_tools(ac_ctx *cx, const ac_target *t, const ac_board *b)
{
    if (!b)
        return ac_error(cx, (ac_place){0}, E0502, "bench has no board for %s", t->name);
    const char *tool[] = {ac_strf(cx->region, "%sgcc", b->prefix), ac_strf(cx->region, "qemu-system-%s", b->system)};
    int status = AC_OK;
    for (int i = 0; i < 2; i++)
        if (!ac_tool_path(cx, tool[i]))
            status =
                ac_error(cx, (ac_place){0}, E0303, "bench -t %s needs %s, which is not installed", t->name, tool[i]);
    return status == AC_OK ? AC_OK : ac_help(cx, "Debian: apt install %s", b->packages);
}

/* A tool that has to end well. */
static int need(const bench *x, const char *const *argv)
{
    return ac_tool_need(x->m->cx, x->dir, argv, x->b->packages);
}

static int gcc(const bench *x, const char *const *more)
{
    return need(x, ac_board_gcc(x->m->cx, x->b, more));
}

/* ------------------------------------------------------------------ files */

static ac_sink *add(const bench *x, ac_board_outputs *out, const char *name)
{
    ac_sink *to = AC_NEW(x->m->cx->region, ac_sink);
    ac_sink_open(to, x->m->cx);
    ac_push(x->m->cx->region, out, ((ac_output){to, in_dir(x, name)}));
    return to;
}

static int emit(const bench *x, ac_board_outputs *out, const char *backend, const char *kind)
{
    const ac_emit_names names = ac_build_names(x->m->cx, x->dir);
    const ac_backend *b = ac_backend_find(x->m->cx, backend);
    return b ? b->emit(x->m, kind, &names, add(x, out, ac_strf(x->m->cx->region, "m.%s", kind))) : AC_FAIL;
}

static int write_files(const bench *x, const ac_vectors *v)
{
    ac_board_outputs out = {0};
    AC_TRY(x->object ? emit(x, &out, "llvm", "o") : emit(x, &out, "c", "c"));
    AC_TRY(emit(x, &out, "c", "h"));
    ac_selftest_print(x->m, v, "m.h", "m.selftest.c", add(x, &out, "selftest.c"));
    if (ac_module_weights(x->m) != AC_WEIGHTS_RODATA)
        AC_TRY(ac_blob_write(x->m, add(x, &out, "m.bin")));
    ac_board_files_into(x->m->cx, x->dir, &out);
    return ac_sink_commit_scratch(x->m->cx, out.item, out.n);
}

/* ------------------------------------------------------------------ building */

/* The object of the model, with calls around each step or without. */
static int compile_model(const bench *x, bool steps)
{
    const char *U = ac_c_upper(x->m->cx->region, x->m->name);
    ac_region *r = x->m->cx->region;
    const char *more[] = {"-O2",
                          "-w",
                          "-std=gnu11",
                          "-ffunction-sections",
                          "-fdata-sections",
                          ac_strf(r, "-I%s", x->dir),
                          "-c",
                          in_dir(x, "m.c"),
                          "-o",
                          in_dir(x, "m.o"),
                          steps ? "-include" : NULL,
                          "board.h",
                          ac_strf(r, "-D%s_STEP_BEGIN(i)=board_step_begin(i)", U),
                          ac_strf(r, "-D%s_STEP_END(i)=board_step_end(i)", U),
                          NULL};
    return x->object ? AC_OK : gcc(x, more);
}

static int compile_around(const bench *x)
{
    ac_region *r = x->m->cx->region;
    const char *U = ac_c_upper(r, x->m->name);
    const char *test[] = {"-O1",
                          "-w",
                          ac_strf(r, "-I%s", x->dir),
                          "-include",
                          "board.h",
                          ac_strf(r, "-D%s_SELFTEST_MAIN", U),
                          ac_strf(r, "-D%s_SELFTEST_SAY(text)=board_say(text)", U),
                          ac_strf(r, "-D%s_SELFTEST_BEGIN(set)=board_begin(board_stack_pointer())", U),
                          ac_strf(r, "-D%s_SELFTEST_END(set)=board_end()", U),
                          "-c",
                          in_dir(x, "selftest.c"),
                          "-o",
                          in_dir(x, "selftest.o"),
                          NULL};
    AC_TRY(gcc(x, test));
    return ac_board_start(x->m->cx, x->b, x->dir);
}

static int link_program(const bench *x, const char *elf)
{
    const char *const objects[] = {in_dir(x, "start.o"), in_dir(x, "selftest.o"), in_dir(x, "m.o"), NULL};
    return need(x, ac_board_link(x->m->cx, x->b, x->dir, objects, elf));
}

/* ------------------------------------------------------------------ figures */

static int weigh(const bench *x, ac_figures *f)
{
    return ac_board_weigh(x->m, x->b, x->dir, in_dir(x, "m.o"), &f->code, &f->constants)
               ? AC_OK
               : ac_error(x->m->cx, (ac_place){0}, E0303, "the model cannot be linked alone");
}

static int judge(const bench *x, int status, const char *said)
{
    enum { DIFFERENT = 100, FAULT = 97, LATE = -2 };
    ac_ctx *cx = x->m->cx;
    if (!status)
        return AC_OK;
    if (status == DIFFERENT)
        return ac_error(cx, (ac_place){0}, E0601, "outputs on %s differ from the evaluator's", x->m->target->name);
    if (status == LATE)
        return ac_error(cx, (ac_place){0}, E0304, "the run on %s did not end in time", x->b->machine);
    ac_error(cx, (ac_place){0}, E0304, "the run on %s stopped with status %d%s", x->b->machine, status,
             status == FAULT ? " (a fault)" : "");
    return ac_detail(cx, "%.*s", (int)strcspn(said, "\n"), said);
}

/* "board insns 1f4a", "board stack 90", "board step 3 12c" */
static void take(const bench *x, const char *said, ac_figures *f)
{
    for (const char *at = said; (at = strstr(at, "board ")) != NULL; at++) {
        char *end;
        if (!strncmp(at, "board insns ", 12) && !f->step)
            f->insns = (int64_t)strtoull(at + 12, NULL, 16);
        else if (!strncmp(at, "board stack ", 12) && !f->step)
            f->stack = (int64_t)strtoull(at + 12, NULL, 16);
        else if (!strncmp(at, "board step ", 11) && f->step) {
            const unsigned long step = strtoul(at + 11, &end, 16);
            if (step < (unsigned long)x->m->n_calls)
                f->step[step] = (int64_t)strtoull(end, NULL, 16);
        }
    }
}

static int run(const bench *x, ac_figures *f)
{
    enum { SECONDS = 1800 };
    const char *elf = in_dir(x, "run.elf");
    AC_TRY(link_program(x, elf));
    ac_tool t = {.argv = ac_board_qemu(x->m->cx, x->b, elf), .log = in_dir(x, "log"), .seconds = SECONDS};
    ac_tools_run(&t, 1);
    const char *said = ac_board_read(x->m->cx, t.log);
    take(x, said, f);
    return judge(x, t.status, said);
}

/* Models that the walk does not support have no cycles, and neither have cores without a table. */
static void take_cycles(const bench *x, ac_figures *f)
{
    ac_ctx *cx = x->m->cx;
    const ac_timed_how how = {.wait = x->wait};
    const ac_diags before = cx->diags;
    ac_timing t;
    if (!ac_timing_has_cycles(x->m->target->cpu) ||
        !ac_quietly(cx, before, ac_program_time(x->m, in_dir(x, "run.elf"), &how, &t)))
        return;
    f->cycles = t.cycles;
    f->most_cycles = t.most_cycles;
    f->estimate = !t.from_manual;
}

static int measure(const bench *x, const ac_vectors *v, ac_figures *f)
{
    AC_TRY(write_files(x, v));
    AC_TRY(compile_around(x));
    AC_TRY(compile_model(x, false));
    AC_TRY(run(x, f));
    take_cycles(x, f);
    AC_TRY(weigh(x, f));
    if (x->object)
        return AC_OK;
    f->step = AC_NEW_N(x->m->cx->region, int64_t, x->m->n_calls + 1);
    AC_TRY(compile_model(x, true));
    return run(x, f);
}

int ac_board_measure(ac_module *m, const ac_vectors *v, const char *backend, int32_t wait, ac_figures *out)
{
    ac_ctx *cx = m->cx;
    bench x = {.m = m, .b = ac_board_of(m->target), .object = !strcmp(backend, "llvm"), .wait = wait};
    *out = (ac_figures){0};
    if (!x.object && strcmp(backend, "c") != 0)
        return ac_error(cx, (ac_place){0}, E0502, "--backend %s is not available on boards, expected c or llvm",
                        backend);
    AC_TRY(check_tools(cx, m->target, x.b));
    x.dir = ac_build_folder(cx);
    if (!x.dir)
        return AC_FAIL;
    out->machine = ac_strf(cx->region, "QEMU's %s", x.b->machine);
    out->compiler =
        x.object ? "LLVM" : ac_strf(cx->region, "%sgcc %s -O2", x.b->prefix, ac_board_version(cx, x.b, x.dir));
    const int status = measure(&x, v, out);
    ac_folder_end(x.dir);
    return status;
}
