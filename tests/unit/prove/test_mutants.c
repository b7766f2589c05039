/* test_mutants.c - the prover against the evaluator: the loops of real models with a fault planted at random. Accesses
 * that the prover finds inside their buffers must be so at run time; results that it finds fully written must not
 * depend on previous memory contents; and if it finds that overlapping arguments are read first, results must not
 * change when they overlap as in the plan. usage: test_mutants [MUTANTS [SEED]] */
#include "driver/door/door.h"
#include "ir/loop/eval/eval.h"
#include "prove/prove.h"
#include "tests/unit/support/expect.h"
#include "tests/unit/support/seeds.h"

#include <string.h>

/* Those marked +: weights are copied to RAM first, in blocks of channels if they are many. */
static const char *const MODELS[] = {"digits_int8.tflite",
                                     "+dsnet_int8.tflite",
                                     "branch_int8.tflite",
                                     "dsnet_int8.tflite",
                                     "branch_f32.tflite",
                                     "gate.ag",
                                     "../tests/golden/ops/tree_ensemble-f32.ag",
                                     "../tests/golden/ops/softmax-threads.ag"};
static const char *const TARGETS[] = {"generic", "x86-64-v3", "cortex-m4", "cortex-m55", "cuda-sm75", "cuda-sm80"};

enum { N_TARGETS = sizeof TARGETS / sizeof *TARGETS, MUTANTS = 576, MOST_ARGS = 32 };

static int refused, accepted; /* mutants */

/* Something of the function is changed; false: nothing there can be. */
static bool plant(ac_loop_fn *fn)
{
    for (int32_t n = 0; n < 50; n++) {
        ac_ins *i = &fn->code.item[1 + below(fn->code.n - 1)];
        if (i->op == AC_L_CONST && i->dtype == AC_I32 && i->lanes == 1) {
            static const int32_t BY[] = {1, -1, 2, -2, 4, 16};
            i->k.i += BY[below(6)];
            return true;
        }
        if (i->op == AC_L_STORE && below(3) == 0) {
            *i = (ac_ins){.op = AC_L_PREFETCH, .dtype = i->dtype, .lanes = 1, .a = i->a, .aux = i->aux};
            return true;
        }
        if (i->op == AC_L_MIN || i->op == AC_L_MAX) {
            i->op = i->op == AC_L_MIN ? AC_L_MAX : AC_L_MIN;
            return true;
        }
        if (i->op == AC_L_FOR && i->k.i > 1) {
            i->k.i += below(2) ? 1 : -1;
            return true;
        }
        if (i->op == AC_L_XOR && i->dtype == AC_I32 && i->lanes == 1) {
            i->b = i->a;
            return true;
        }
        if (i->op == AC_L_LT || i->op == AC_L_LE) {
            i->op = i->op == AC_L_LT ? AC_L_LE : AC_L_LT;
            return true;
        }
    }
    return false;
}

/* Is x a number, or one of the table of a shared function? */
static bool is_number(const ac_module *m, const ac_call *c, const ac_loop_fn *fn, ac_x x, int64_t *v)
{
    const ac_ins *i = &fn->code.item[x], *at = &fn->code.item[i->a];
    if (i->op == AC_L_LOAD && at->op == AC_L_CONST && i->aux < c->n_arg && i->dtype == AC_I32 &&
        c->arg[i->aux].space == AC_SPACE_CONST) {
        const ac_const *k = m->konst[c->arg[i->aux].offset];
        const bool inside = k->dtype == AC_I32 && at->k.i >= 0 && at->k.i < k->count && k->data;
        *v = inside ? ac_dtype_get_int(AC_I32, k->data, at->k.i) : 0;
        return inside;
    }
    *v = i->k.i;
    return i->op == AC_L_CONST;
}

/* Is there a loop that is never run? The evaluator moves loads of numbers before loops, and would do them. */
static bool has_dead_loop(const ac_module *m, const ac_call *c, const ac_loop_fn *fn)
{
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        int64_t lo, hi;
        if (i->op == AC_L_FOR && is_number(m, c, fn, i->a, &lo) && is_number(m, c, fn, i->b, &hi) &&
            (i->k.i > 0) == (lo >= hi))
            return true;
    }
    return false;
}

static ac_loop_fn *copy_of(ac_region *r, const ac_loop_fn *fn)
{
    ac_loop_fn *copy = AC_NEW(r, ac_loop_fn);
    *copy = *fn;
    copy->code.item = ac_copy(r, fn->code.item, (size_t)fn->code.n * sizeof *fn->code.item);
    return copy;
}

/* The buffer of an argument: a function that several calls share has the largest of theirs, and takes their numbers
 * last. */
static const ac_buf *buffer_of(const ac_module *m, const ac_call *c, int32_t a)
{
    return a < c->low->arg.n ? &c->low->fn->buf.item[a] : &m->fn[c->fn]->buf.item[a];
}

/* Memory of every parameter: constants as they are, operands random, everything else full of `fill`. */
static void fill_memory(ac_ctx *cx, ac_region *r, const ac_module *m, const ac_call *c, int fill, uint64_t random,
                        void **data, void **end)
{
    seed = random;
    for (int32_t a = 0; a < c->n_arg; a++) {
        const ac_buf *b = buffer_of(m, c, a);
        const size_t n = (size_t)ac_dtype_size(b->dtype, b->count);
        uint8_t *bytes = ac_alloc(r, n + 64);
        bytes += (64 - (uintptr_t)bytes % 64) % 64;
        memset(bytes, fill, n);
        for (size_t k = 0; b->role == AC_BUF_IN && k < n; k++)
            bytes[k] = (uint8_t)below(ac_dtype_is_float(b->dtype) ? 64 : 256);
        data[a] = c->arg[a].space == AC_SPACE_CONST ? ac_const_operand(cx, NULL, m->konst[c->arg[a].offset]) : bytes;
        end[a] = (char *)data[a] + n;
    }
}

/* Moves the memory of arguments to where the plan has them, operands last. */
static void place(ac_region *r, const ac_module *m, const ac_call *c, void **data, void *const *end)
{
    uint8_t *arena = ac_alloc(r, (size_t)m->arena_bytes + 128);
    arena += (64 - (uintptr_t)arena % 64) % 64;
    for (int operands = 0; operands < 2; operands++)
        for (int32_t a = 0; a < c->n_arg; a++) {
            const ac_bound_arg *arg = &c->arg[a];
            const bool operand = buffer_of(m, c, a)->role == AC_BUF_IN;
            if (arg->space != AC_SPACE_ARENA || operand != operands)
                continue;
            uint8_t *to = arena + ac_module_at(m, arg->index, arg->offset);
            memcpy(to, data[a], (size_t)((char *)end[a] - (char *)data[a]));
            data[a] = to;
        }
}

/* Does the verdict claim that? */
static bool claims(const ac_verdict *v, int32_t step, ac_claim claim)
{
    for (int32_t i = 0; i < v->doubt.n; i++)
        if (v->doubt.item[i].step == step && v->doubt.item[i].claim == claim)
            return false;
    return true;
}

static void run(ac_ctx *cx, const ac_module *m, int32_t step, const ac_loop_fn *fn, bool written, bool ordered)
{
    const ac_call *c = &m->call[step];
    ac_region *r = ac_region_open(&cx->heap);
    void *one[MOST_ARGS], *two[MOST_ARGS], *end[MOST_ARGS];
    const uint64_t random = seed;
    int status = 0;
    const int32_t errors = cx->diags.errors;
    fill_memory(cx, r, m, c, 0, random, one, end);
    const bool fine = ac_eval(cx, fn, one, c->n_arg, &status) == AC_OK;
    CHECK(fine);
    fill_memory(cx, r, m, c, 0x55, random, two, end);
    if (ordered)
        place(r, m, c, two, end);
    if (fine && written && ac_eval(cx, fn, two, c->n_arg, &status) == AC_OK)
        for (int32_t a = 0; a < c->n_arg; a++) {
            const ac_buf *b = buffer_of(m, c, a);
            if (b->role == AC_BUF_OUT)
                CHECK(!memcmp(one[a], two[a], (size_t)ac_dtype_size(b->dtype, b->count)));
        }
    cx->diags.errors = errors;
    ac_region_close(r);
}

/* True if a position may be a number that the function has stored in its own memory. Reading that before it is written
 * is already one doubt; positions do not count as further ones. */
static bool keeps_numbers(const ac_loop_fn *fn)
{
    bool any = false;
    for (int32_t b = 0; b < fn->buf.n; b++) {
        const ac_buf *buf = &fn->buf.item[b];
        any |= (buf->role == AC_BUF_LOCAL || buf->role == AC_BUF_SCRATCH) && buf->dtype == AC_I32;
    }
    return any;
}

static void mutant(arenac *a, int32_t n)
{
    const ac_module *m = a->work.made.module;
    const int32_t step = below(m->n_calls);
    const ac_call *c = &m->call[step];
    ac_module changed = *m;
    ac_loop_fn *fn = copy_of(a->work.cx.region, m->fn[c->fn]);
    if (c->n_arg > MOST_ARGS || (n && !plant(fn)) || has_dead_loop(m, c, fn) || ac_loop_gpu_fault(fn))
        return;
    const ac_loop_fn **fns = ac_copy(a->work.cx.region, m->fn, (size_t)m->n_fn * sizeof *m->fn);
    fns[c->fn] = fn;
    changed.fn = fns;
    ac_verdict v;
    CHECK(ac_prove(&a->work.cx, &changed, NULL, &v) == AC_OK);
    const bool written = claims(&v, step, AC_CLAIM_WRITTEN);
    const bool inside = claims(&v, step, AC_CLAIM_ACCESS) && claims(&v, step, AC_CLAIM_INTEGER) &&
                        claims(&v, step, AC_CLAIM_SHIFT) && claims(&v, step, AC_CLAIM_LOOP) &&
                        (written || !keeps_numbers(fn));
    *(inside ? &accepted : &refused) += 1;
    if (inside)
        run(&a->work.cx, m, step, fn, written, claims(&v, step, AC_CLAIM_ORDER));
}

int main(int argc, char **argv)
{
    const int32_t mutants = argc > 1 ? atoi(argv[1]) : MUTANTS;
    const uint64_t start = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const int32_t pairs = (int32_t)(sizeof MODELS / sizeof *MODELS * N_TARGETS);
    for (int32_t i = 0; i < pairs; i++) {
        const bool cached = *MODELS[i / N_TARGETS] == '+';
        const char *model = MODELS[i / N_TARGETS] + cached, *target = TARGETS[i % N_TARGETS];
        char path[400], what[500];
        snprintf(path, sizeof path, "%s/models/%s", SOURCE_DIR, model);
        const char *paths[] = {path};
        arenac *a = arenac_open();
        MUST(!arenac_set(a, "target", target) && (!cached || !arenac_set(a, "cache-weights", "1K")) &&
             !arenac_read(a, paths, 1) && !arenac_compile(a));
        for (int32_t k = 0; k < mutants / pairs; k++) {
            seed = start * 1000003 + (uint64_t)(i * 100000 + k) * 7919 + 1;
            snprintf(what, sizeof what, "%s -t %s, mutant %d", model, target, k);
            now = what;
            mutant(a, k);
        }
        arenac_close(a);
    }
    now = "";
    CHECK(refused >= accepted / 4 && accepted > mutants / 20);
    printf("%d mutants refused, %d accepted and run\n", refused, accepted);
    return check_done();
}
