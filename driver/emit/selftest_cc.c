/* selftest_cc.c - compile --selftest-cc: compares each step, as a compiler translated it, with the evaluator byte for
 * byte, and names the first step that differs. */
#include "driver/emit/emit.h"

#include "base/interrupt.h"
#include "codegen/backends/find.h"
#include "codegen/constants.h"
#include "driver/emit/step_inputs.h"
#include "host/compiler.h"
#include "host/firmware/user_cc.h"
#include "host/runtime_files.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ files */

static ac_sink *add(const ac_made *a, ac_board_outputs *out, const char *dir, const char *name)
{
    ac_sink *to = AC_NEW(a->cx->region, ac_sink);
    ac_sink_open(to, a->cx);
    ac_push(a->cx->region, out, ((ac_output){to, ac_strf(a->cx->region, "%s/%s", dir, name)}));
    return to;
}

static int write_files(const ac_made *a, const char *dir, const ac_step_tests *t)
{
    ac_module one_by_one = *a->module, *m = &one_by_one;
    m->slot = NULL; /* of steps that run at once a thread does some, and each is looked at when all is done */
    const ac_emit_names names = ac_build_names(a->cx, dir);
    const ac_backend *b = ac_backend_find(a->cx, "c");
    ac_board_outputs out = {0};
    if (!b || b->emit(m, "c", &names, add(a, &out, dir, "m.c")) != AC_OK ||
        b->emit(m, "h", &names, add(a, &out, dir, "m.h")) != AC_OK)
        return AC_FAIL;
    if (ac_module_weights(m) != AC_WEIGHTS_RODATA)
        AC_TRY(ac_blob_write(m, add(a, &out, dir, "m.bin")));
    ac_step_hooks_print(m, "m.c", add(a, &out, dir, "model.c"));
    ac_step_test_print(m, t, "m.h", ac_strf(a->cx->region, "%s/m.bin", dir), add(a, &out, dir, "test.c"));
    for (int i = 0; i < ac_steps_count; i++)
        ac_put_n(add(a, &out, dir, ac_steps_files[i].name), ac_steps_files[i].data, ac_steps_files[i].n);
    ac_board_files_into(a->cx, dir, &out);
    return ac_sink_commit_scratch(a->cx, out.item, out.n);
}

/* ------------------------------------------------------------------ the output of the program */

static const char *kind_in_words(uint32_t kind)
{
    static const char *const WORDS[STEP_KINDS] = {"the model's own",
                                                  "signs of its weights",
                                                  "signs against its weights",
                                                  "ends of its types",
                                                  "random",
                                                  "all values in a row",
                                                  "all least",
                                                  "all largest",
                                                  "around the middle",
                                                  "zero"};
    return WORDS[kind];
}

static int64_t value_of(const step_operand *o, uint64_t bits)
{
    const uint64_t sign = 1ull << (o->bytes * 8 - 1);
    return o->lo < 0 ? (int64_t)((bits ^ sign) - sign) : (int64_t)bits;
}

/* Elements that differ, of those the program printed; the first of them. */
static void put_difference(const ac_made *a, const step_operand *o, const uint8_t *expected, const char *said)
{
    int64_t differ = 0, shown = 0, first = -1;
    uint64_t found = 0;
    for (const char *at = said; (at = strstr(at, "steps value ")) != NULL && shown < o->count; shown++) {
        at += strlen("steps value ");
        const uint64_t x = strtoull(at, NULL, 16);
        if (x == step_get(expected + shown * o->bytes, o->bytes))
            continue;
        if (!differ++)
            first = shown, found = x;
    }
    if (first < 0)
        ac_detail(a->cx, "its first %lld elements are equal", (long long)shown);
    else if (o->lo == o->hi) /* floats: bits */
        ac_detail(a->cx, "%lld of %lld elements differ, the first at %lld: 0x%llx, expected 0x%llx", (long long)differ,
                  (long long)shown, (long long)first, (unsigned long long)found,
                  (unsigned long long)step_get(expected + first * o->bytes, o->bytes));
    else
        ac_detail(a->cx, "%lld of %lld elements differ, the first at %lld: %lld, expected %lld", (long long)differ,
                  (long long)shown, (long long)first, (long long)value_of(o, found),
                  (long long)value_of(o, step_get(expected + first * o->bytes, o->bytes)));
}

static int step_differs(const ac_made *a, ac_step_inputs *x, const ac_user_cc *cc, const char *said)
{
    const ac_module *m = a->module;
    const uint8_t *expected;
    char *at;
    const int32_t set = (int32_t)strtoul(said + strlen("steps differ "), &at, 16);
    const int32_t step = (int32_t)strtoul(at, &at, 16), operand = (int32_t)strtoul(at, &at, 16);
    if (set < 0 || set >= x->tests.sets || step < 0 || step >= m->n_calls || operand < 0 ||
        operand >= x->tests.first[step + 1] - x->tests.first[step])
        return ac_error(a->cx, (ac_place){0}, E0601, "the --selftest-cc program reported an unknown step");
    const ac_call *c = &m->call[step];
    AC_TRY(ac_step_inputs_again(x, set, step, operand, &expected));
    ac_error(a->cx, (ac_place){.file = a->source->path}, E0601,
             "step %d %s '%s': the code of '%s' differs from the reference interpreter", step, c->op, c->name,
             cc->command);
    put_difference(a, &x->tests.operand[x->tests.first[step] + operand], expected, said);
    ac_reason(a->cx, "on %s, with inputs %d of %d: %s", cc->runs_on, set + 1, x->tests.sets,
              kind_in_words(x->tests.kind[set][step]));
    return ac_help(a->cx, "another version of the compiler or fewer optimisations (-O1) may compile function %s right",
                   m->fn[c->fn]->name);
}

/* The first numbers that every finding has. */
typedef struct finding {
    int32_t set, step;
    const char *rest;
} finding;

static bool read_finding(const ac_step_inputs *x, const char *said, const char *word, finding *f)
{
    char *at;
    said = strstr(said, word);
    if (!said)
        return false;
    f->set = (int32_t)strtoul(said + strlen(word), &at, 16);
    f->step = (int32_t)strtoul(at, &at, 16);
    f->rest = at;
    return f->set >= 0 && f->set < x->tests.sets && f->step >= 0 && f->step <= x->a->module->n_calls;
}

static const char *memory_name(const ac_module *m, uint64_t k)
{
    const uint64_t state = (uint64_t)m->n_ram;
    return k < state ? m->ram[k].name : k == state && m->state_bytes ? "state" : "weights";
}

static int step_error(const ac_made *a, const finding *f, const char *what)
{
    const ac_call *c = &a->module->call[f->step];
    return f->step == a->module->n_calls
               ? ac_error(a->cx, (ac_place){.file = a->source->path}, E0601, "after the last step: %s", what)
               : ac_error(a->cx, (ac_place){.file = a->source->path}, E0601, "step %d %s '%s': %s", f->step, c->op,
                          c->name, what);
}

/* Bytes that the step may not write, and steps out of order. AC_OK: the program found nothing of the kind. */
static int judge_memory(const ac_made *a, const ac_step_inputs *x, const ac_user_cc *cc, const char *text)
{
    ac_region *r = a->cx->region;
    finding f;
    char *at;
    if (read_finding(x, text, "steps wrote ", &f)) {
        const char *memory = memory_name(a->module, strtoul(f.rest, &at, 16));
        const unsigned long begin = strtoul(at, &at, 16), end = strtoul(at, NULL, 16);
        return step_error(
            a, &f,
            ac_strf(r, "the code of '%s' changes memory '%s' between 0x%lx and 0x%lx, which is not its result",
                    cc->command, memory, begin, end));
    }
    if (read_finding(x, text, "steps outside ", &f)) {
        const unsigned long k = strtoul(f.rest, &at, 16), after = strtoul(at, NULL, 16);
        const char *memory = memory_name(a->module, k);
        const long long bytes = k < (unsigned long)a->module->n_ram ? a->module->ram[k].bytes : a->module->state_bytes;
        return step_error(
            a, &f,
            after ? ac_strf(r, "the code of '%s' writes at offset %lld of memory '%s', which has %lld bytes",
                            cc->command, bytes + (long long)after - 1, memory, bytes)
                  : ac_strf(r, "the code of '%s' writes before the start of memory '%s'", cc->command, memory));
    }
    if (read_finding(x, text, "steps order ", &f))
        return step_error(a, &f,
                          ac_strf(r, "the code of '%s' runs it out of order, expected step %lu", cc->command,
                                  strtoul(f.rest, NULL, 16)));
    return AC_OK;
}

static int judge(const ac_made *a, ac_step_inputs *x, const ac_user_cc *cc, const ac_tool *t)
{
    enum { LATE = -2 };
    const char *text = ac_board_read(a->cx, t->log), *said = strstr(text, "steps differ ");
    const ac_place at = {.file = a->source->path};
    if (!t->status)
        return AC_OK;
    if (said)
        return step_differs(a, x, cc, said);
    AC_TRY(judge_memory(a, x, cc, text));
    if ((said = strstr(text, "steps aligned ")) != NULL)
        return ac_error(a->cx, at, E0601, "the code of '%s' accepts memory '%s' at an address that is not aligned",
                        cc->command, memory_name(a->module, strtoul(said + strlen("steps aligned "), NULL, 16)));
    if (t->status == LATE)
        return ac_error(a->cx, at, E0601, "the code of '%s' does not end", cc->command);
    said = strstr(text, "steps stopped ");
    if (said)
        ac_error(a->cx, at, E0601, "the code of '%s' stops, but the reference interpreter does not", cc->command);
    else
        ac_error(a->cx, at, E0601, "the code of '%s' ends with a fault (%d)", cc->command, t->status);
    return ac_detail(a->cx, "on %s: %.*s", cc->runs_on, (int)strcspn(said ? said : text, "\n"), said ? said : text);
}

/* ------------------------------------------------------------------ the report */

static const char *report(const ac_made *a, const ac_step_inputs *x, const ac_user_cc *cc)
{
    int32_t clamped = 0, reached = 0;
    for (int32_t s = 0; s < a->module->n_calls; s++) {
        const ac_step_ends *e = &x->ends[s];
        clamped += x->integer[s] && e->clamped;
        reached += x->integer[s] && e->clamped && e->least == e->lo && e->most == e->hi;
    }
    const char *alone = x->n_integer ? ac_strf(a->cx->region,
                                               "; %d of integers, each with %d sets of inputs of its own, whose "
                                               "results reach both ends of %d of %d clamps",
                                               x->n_integer, x->tests.sets - x->tests.whole.n, reached, clamped)
                                     : "";
    return ac_strf(a->cx->region, "Self-test of '%s' on %s: %d steps equal the reference interpreter%s.", cc->command,
                   cc->runs_on, a->module->n_calls, alone);
}

/* ------------------------------------------------------------------ the stage */

static int test(const ac_made *a, ac_step_inputs *x, const char *dir, const char **line)
{
    ac_user_cc cc;
    AC_TRY(ac_user_cc_open(a->cx, dir, a->opt->selftest_cc, a->module->target, "--selftest-cc", &cc));
    ac_progress_begin(a->cx, "inputs of steps", 0);
    AC_TRY(ac_step_inputs_make(a, x));
    ac_progress_begin(a->cx, "the compiler under test", 0);
    AC_TRY(ac_build_runtime(a->cx, dir));
    AC_TRY(write_files(a, dir, &x->tests));
    AC_TRY(ac_user_cc_build(a->cx, dir, &cc));
    const ac_tool t = ac_user_cc_run(a->cx, dir, &cc);
    AC_TRY(judge(a, x, &cc, &t));
    *line = report(a, x, &cc);
    return AC_OK;
}

int ac_selftest_cc(const ac_made *a, const char **line)
{
    ac_step_inputs x = {0};
    AC_TRY(ac_step_inputs_possible(a, "--selftest-cc"));
    AC_TRY(ac_module_without_custom(a->module, "--selftest-cc"));
    const char *dir = ac_build_folder(a->cx);
    if (!dir)
        return AC_FAIL;
    const int status = test(a, &x, dir, line);
    ac_step_inputs_close(&x);
    ac_folder_end(dir);
    return status;
}
