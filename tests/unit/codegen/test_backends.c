/* test_backends.c - one scheduled program gives the same bits on every printer: the evaluator, C through the host
 * compiler, LLVM; and for GPUs the evaluator, before and after loops became kernels, and the emulation.
 *
 *   cases      every instruction in every type and lanes, through LLVM (C: test_emit)
 *   programs   generated: operators of random types and shapes with the loop schedules of the levels this machine runs,
 *              and random loops; 100 to a file
 *   plants     programs that were changed for LLVM only must be found
 *
 *     test_backends [programs [first seed [thin]]]     thin: every n-th case; scripts/differential.sh runs 2000 and all
 *
 * NaN equals NaN. Missing printers (no LLVM in the build, no C compiler) are skipped and reported. */
#include "codegen/targets.h"
#include "tests/unit/codegen/cluster_programs.h"
#include "tests/unit/codegen/printed_programs.h"
#include "tests/unit/codegen/shared_memory.h"
#include "ir/loop/eval/eval.h"
#include "ir/lower/gpu/grid.h"
#include "ir/lower/node/node.h"
#include "tests/unit/support/loop_cases.h"
#include "tests/unit/support/node_cases.h"

enum { PER_FILE = 100 };

/* ---- comparing ---- */

static bool same(const program *p, int32_t n_arg, const uint8_t *x, const uint8_t *y, const char *who, bool say)
{
    for (int32_t k = 0; k < n_arg; k++) {
        const ac_buf *buffer = &p->fn->buf.item[k];
        int32_t width = ac_dtype_bits(buffer->dtype) / 8;
        if (p->arg[k].space == AC_SPACE_CONST || buffer->role == AC_BUF_SCRATCH)
            continue;
        for (int64_t i = 0; i < buffer->count; i++) {
            const uint8_t *a = x + p->arg[k].offset + i * width, *c = y + p->arg[k].offset + i * width;
            if (!memcmp(a, c, (size_t)width) || both_nan(buffer->dtype, a, c))
                continue;
            if (say)
                fprintf(stderr, "%s\n%s: buffer %s element %lld: evaluator %.9g %lld, %s %.9g %lld\n", p->what,
                        module->target->name, buffer->name, (long long)i, ac_dtype_get_num(buffer->dtype, a, 0),
                        (long long)ac_dtype_get_int(buffer->dtype, a, 0), who, ac_dtype_get_num(buffer->dtype, c, 0),
                        (long long)ac_dtype_get_int(buffer->dtype, c, 0));
            return false;
        }
    }
    return true;
}

static void compare_all(const uint8_t *want, const uint8_t *got, const char *who)
{
    for (int32_t p = 0; p < n_programs; p++)
        if (!same(&programs[p], module->call[p].n_arg, want, got, who, true)) {
            ac_sink s;
            ac_sink_open(&s, &cx);
            ac_loop_dump(&s, programs[p].fn);
            fprintf(stderr, "%.6000s\n", ac_sink_text(&s));
            exit(1);
        }
}

/* The module on every printer. dir NULL: not through C. */
static void check_module(const char *dir)
{
    void *base[3];
    uint8_t *want = new_arena(&base[0]), *by_llvm = new_arena(&base[1]), *by_c = new_arena(&base[2]);
    ac_module_whole(module);
    ac_module_dedupe(module);
    fill_arena(want);
    memcpy(by_llvm, want, (size_t)arena_bytes);
    memcpy(by_c, want, (size_t)arena_bytes);
    int status = 0;
    for (int32_t p = 0; p < n_programs; p++)
        status |= evaluate(p, programs[p].plain, want);
    now = "the module";
    if (is_gpu()) {
        int kernels = 0;
        for (int32_t p = 0; p < n_programs; p++)
            kernels |= evaluate(p, programs[p].fn, by_llvm);
        MUST(kernels == status);
        compare_all(want, by_llvm, "kernels in the evaluator");
        if (gpu_dir) {
            MUST(run_emulation(gpu_dir, by_c) == status);
            compare_all(want, by_c, "the emulation");
        }
    } else if (llvm) {
        MUST(run_llvm(by_llvm) == status);
        compare_all(want, by_llvm, "LLVM");
    }
    if (dir && !is_gpu()) {
        MUST(run_c(dir, by_c) == status);
        compare_all(want, by_c, "C");
    }
    for (int k = 0; k < 3; k++)
        free(base[k]);
}

/* ---- every instruction ---- */

/* Objects have tiles for the cores whose instructions they are. */
static bool is_tile(const char *what)
{
    return !strncmp(what, "tile ", 5) || !strncmp(what, "requant ", 8);
}

/* thin: every n-th case; the random programs all. */
static void test_cases(const ac_target *t, int32_t thin)
{
    target = t;
    build(t->vec_bytes > 0);
    open_module(t);
    for (int32_t i = 0; i < n_cases; i++)
        if (!cases[i].fn->fails && !is_tile(cases[i].what) &&
            (i % thin == 0 || !strcmp(cases[i].what, "random program")))
            add_program(cases[i].what, cases[i].fn, NULL, cases[i].fill);
    for (int32_t i = 0; i < 20 && is_gpu(); i++) {
        const ac_loop_fn *fn = random_cluster();
        MUST(ac_loop_verify(&cx, fn) == AC_OK);
        add_program("cluster", fn, NULL, NULL);
    }
    check_module(NULL);
    int32_t alone = 0;
    int32_t together = n_programs;
    for (int32_t i = 0; i < n_cases; i++)
        if (cases[i].fn->fails && (!is_gpu() || alone < 2)) { /* it may end the run */
            open_module(t);
            add_program(cases[i].what, cases[i].fn, NULL, cases[i].fill);
            check_module(NULL);
            alone++;
        }
    printf("  %s: %d programs\n", t->name, together + alone);
    MUST(alone > 0);
    fflush(stdout);
}

/* ---- generated programs ---- */

enum { MOST_LEVELS = 16 };
static const ac_target *levels[MOST_LEVELS];
static int32_t n_levels;
static int32_t done_winograd, done_tiles, done_tensor, done_narrowed;

static bool has_blocks(const ac_loop_fn *fn)
{
    for (ac_x x = 1; x < fn->code.n; x++)
        if (fn->code.item[x].op == AC_L_FOR && fn->code.item[x].aux == AC_MARK_BLOCK)
            return true;
    return false;
}

/* Stores t in 16 bits. */
static void narrow(ac_tensor *t, ac_dtype d)
{
    if (!t || t->dtype != AC_F32 || (ac_tensor_is_const(t) && (!t->data || t->splat)))
        return;
    if (t->data) {
        const int64_t count = ac_tensor_count(t);
        const float *from = t->data;
        uint16_t *to = AC_NEW_N(cx.region, uint16_t, count + 1);
        for (int64_t i = 0; i < count; i++)
            to[i] = d == AC_F16 ? ac_f32_to_f16(from[i]) : ac_f32_to_bf16(from[i]);
        t->data = to;
    }
    t->dtype = d;
    t->narrowed = true;
}

/* Some of the floats of n (--float-storage); returns whether there are any. */
static bool narrow_some(const ac_node *n)
{
    const ac_dtype d = rnd() % 2 ? AC_F16 : AC_BF16;
    const uint32_t which = rnd();
    bool any = false;
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && which >> i % 16 & 1)
            narrow(n->in[i], d);
    for (int32_t i = 0; i < n->n_out && !(ac_ops[n->op].flags & OF_REREADS); i++)
        if (which >> (16 + i % 16) & 1)
            narrow(n->out[i], d);
    for (int32_t i = 0; i < n->n_in; i++)
        any |= n->in[i] && n->in[i]->narrowed;
    for (int32_t i = 0; i < n->n_out; i++)
        any |= n->out[i]->narrowed;
    return any;
}

static bool add_node(void)
{
    const char *text;
    const ac_node *n = node_case(&text);
    const bool narrowed = n && rnd() % 3 == 0 && narrow_some(n);
    /* a third gets its tile by a hint (which may not fit), two thirds of the 3x3 convolutions that can be are done by
     * Winograd's way */
    const bool tile = rnd() % 3 == 0;
    const ac_schedule hint = {.winograd = (int32_t)(rnd() % 3) * 2,
                              .tensor = (int32_t)(rnd() % (AC_TENSOR_F16 + 1)),
                              .rows = tile ? 1 + (int32_t)(rnd() % 14) : 0,
                              .vecs = tile ? 1 + (int32_t)(rnd() % 4) : 0};
    ac_lowered *low = n ? ac_lower_hinted(&cx, cx.region, n, module->target, 0, rnd() % 4 == 0, &hint) : NULL;
    done_tiles += low && low->fn->code.n > 0 && has_blocks(low->fn);
    done_winograd += low && low->schedule.winograd;
    done_tensor += low && low->schedule.tensor;
    const ac_loop_fn *plain = low ? low->fn : NULL;
    if (low && is_gpu())
        MUST(ac_lower_grid(&cx, cx.region, low) == AC_OK);
    MUST(low || !narrowed || !cx.diags.last || cx.diags.last->code != E0901); /* OF_REREADS is missing in its row */
    if (!low || low->fn->fails) {
        cx.diags = (ac_diags){.limit = cx.diags.limit}; /* a draw that is not supported */
        return false;
    }
    add_program(text, low->fn, low, NULL);
    programs[n_programs - 1].plain = plain;
    done_narrowed += narrowed;
    return true;
}

static void test_programs(const char *dir, int32_t count, uint64_t first, const ac_target *const *level,
                          int32_t n_level)
{
    int32_t refused = 0, nodes = 0;
    for (int32_t done = 0; done < count;) {
        begin();
        rnd_state = (first + (uint64_t)done) * 0x9e3779b97f4a7c15u;
        open_module(level[rnd() % (uint32_t)n_level]);
        target = module->target;
        n_cases = 0;
        for (int32_t k = 0; k < PER_FILE && done < count; done++, k++) {
            if (k % 4 == 3) {
                do
                    random_program();
                while (cases[n_cases - 1].fn->fails);
                add_program("random loops", cases[n_cases - 1].fn, NULL, cases[n_cases - 1].fill);
                continue;
            }
            for (nodes++; !add_node();)
                refused++;
        }
        check_module(dir);
    }
    printf("  %d generated programs, %d of them operators (%d draws refused), ", count, nodes, refused);
    if (is_gpu())
        printf("as kernels, %d in blocks, %d by tensor cores", done_tiles, done_tensor);
    else
        printf("%d by winograd's way", done_winograd);
    printf(", %d with floats of 16 bits in memory\n", done_narrowed);
    MUST(count < 50 || done_narrowed > 0);
    MUST(!is_gpu() || count < 50 || (done_tiles > 0 && done_tensor > 0));
    MUST(refused < nodes / 2);
}

/* ---- planted bugs ---- */

typedef enum plant { SWAPPED_LANES, WRONG_SIGN, OTHER_EXTREME, SHORT_LOOP, NO_CLAMP, OFF_BY_ONE, PLANTS } plant;
static const char *const PLANT_NAMES[] = {"two lanes swapped", "add became sub",        "min became max",
                                          "a loop too short",  "a cast not saturating", "< became <="};

static bool change(ac_loop_fn *fn, ac_ins *in, plant what)
{
    switch (what) {
    case SWAPPED_LANES: {
        if (in->op != AC_L_SHUFFLE || in->lanes < 2)
            return false;
        int64_t *lane = fn->pool.item + in->aux, first = lane[0];
        lane[0] = lane[1];
        lane[1] = first;
        return true;
    }
    case WRONG_SIGN:
        if (in->op != AC_L_ADD || !ac_dtype_is_float((ac_dtype)in->dtype))
            return false;
        in->op = AC_L_SUB;
        return true;
    case OTHER_EXTREME:
        if (in->op != AC_L_MIN && in->op != AC_L_MAX)
            return false;
        in->op = in->op == AC_L_MIN ? AC_L_MAX : AC_L_MIN;
        return true;
    case SHORT_LOOP:
        if (in->op != AC_L_FOR || in->k.i < 1 || fn->code.item[in->b].op != AC_L_CONST)
            return false;
        in->b = in->a;
        return true;
    case NO_CLAMP:
        if (in->op != AC_L_SATCAST || ac_dtype_is_float((ac_dtype)fn->code.item[in->a].dtype))
            return false;
        in->op = AC_L_CAST;
        return true;
    case OFF_BY_ONE:
        if (in->op != AC_L_LT || fn->code.item[in->a].dtype != AC_I32)
            return false;
        in->op = AC_L_LE;
        return true;
    case PLANTS:
        break;
    }
    return false;
}

/* A copy of the function with the first fitting instruction changed; NULL: none fits. */
static ac_loop_fn *planted(const ac_loop_fn *fn, plant what)
{
    ac_loop_fn *copy = ac_copy(cx.region, fn, sizeof *fn);
    copy->code.item = ac_copy(cx.region, fn->code.item, (size_t)fn->code.n * sizeof *fn->code.item);
    if (fn->pool.n)
        copy->pool.item = ac_copy(cx.region, fn->pool.item, (size_t)fn->pool.n * sizeof *fn->pool.item);
    for (ac_x x = 1; x < copy->code.n; x++)
        if (change(copy, &copy->code.item[x], what))
            return copy;
    return NULL;
}

static void test_plants(void)
{
    int32_t seen[PLANTS] = {0}, found[PLANTS] = {0};
    begin();
    rnd_state = 77;
    open_module(levels[n_levels - 2]);
    target = module->target;
    n_cases = 0;
    build(module->target->vec_bytes > 0); /* shuffles, saturating casts and all else */
    int32_t kind[MAX_CALLS];
    const ac_loop_fn *good[MAX_CALLS];
    for (int32_t i = 0; i < n_cases + 60; i++) {
        if (i < n_cases &&
            (cases[i].fn->fails || (i % 5 && !strstr(cases[i].what, "program") && !strstr(cases[i].what, "shuffle"))))
            continue;
        if (i < n_cases)
            add_program(cases[i].what, cases[i].fn, NULL, cases[i].fill);
        else if (!add_node())
            continue;
        int32_t p = n_programs - 1, w = 0;
        good[p] = programs[p].fn;
        ac_loop_fn *bad = NULL;
        for (; w < PLANTS && !bad; w++)
            if (seen[(w + p) % PLANTS] < ((w + p) % PLANTS == OFF_BY_ONE ? 60 : 12)) /* < and <= often agree */
                bad = planted(good[p], (plant)((w + p) % PLANTS));
        kind[p] = bad ? (w - 1 + p) % PLANTS : -1;
        if (bad) {
            seen[kind[p]]++;
            ac_lowered *low = ac_copy(cx.region, module->call[p].low, sizeof *low);
            low->fn = bad;
            module->call[p].low = low;
        }
    }
    void *base[2];
    uint8_t *want = new_arena(&base[0]), *got = new_arena(&base[1]);
    ac_module_whole(module);
    ac_module_dedupe(module);
    fill_arena(want);
    memcpy(got, want, (size_t)arena_bytes);
    for (int32_t p = 0; p < n_programs; p++)
        evaluate(p, programs[p].fn, want);
    run_llvm(got);
    for (int32_t p = 0; p < n_programs; p++) {
        bool differs = !same(&programs[p], module->call[p].n_arg, want, got, "LLVM", kind[p] < 0);
        now = programs[p].what;
        MUST(kind[p] >= 0 || !differs);
        if (kind[p] >= 0)
            found[kind[p]] += differs;
    }
    free(base[0]);
    free(base[1]);
    for (int32_t w = 0; w < PLANTS; w++) {
        printf("  planted: %s, found in %d of %d\n", PLANT_NAMES[w], found[w], seen[w]);
        now = PLANT_NAMES[w];
        MUST(found[w] > 0 && (w == OFF_BY_ONE || 2 * found[w] >= seen[w]));
    }
}

int main(int argc, char **argv)
{
    char dir[256];
    int32_t count = argc > 1 ? atoi(argv[1]) : 200;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int32_t thin = argc > 3 ? atoi(argv[3]) : 40;
    setenv("ARENAC_BACKENDS", BUILD_DIR, 1);
    begin();
    if (!llvm)
        printf("skipped: LLVM is not in this build\n");
    MUST(cc_folder(dir) == 0);
    bool has_cc = cc_exists(dir, cc_name());
    if (!has_cc)
        printf("no C compiler: not through C\n");
    for (int32_t i = 0; i < ac_target_count(); i++) {
        const ac_target *t = ac_target_at(i);
        if (ac_target_runs_here(t) && (!t->vec_bytes || !strncmp(t->cpu, "x86-64", 6))) {
            MUST(n_levels + 1 < MOST_LEVELS);
            levels[n_levels++] = t;
        }
    }
    gpu_dir = has_cc ? dir : NULL;
    levels[n_levels++] = ac_target_find("cuda-sm80"); /* the last: most of its instructions are those of C */
    for (int32_t i = llvm ? 0 : n_levels - 1; i < n_levels; i++) {
        begin();
        test_cases(levels[i], thin);
    }
    test_programs(has_cc ? dir : NULL, count, first, levels, n_levels - 1);
    test_programs(has_cc ? dir : NULL, (count + 1) / 2, first + (uint64_t)count, levels + n_levels - 1, 1);
    test_shared_memory(gpu_dir);
    if (llvm)
        test_plants();
    cc_remove(dir);
    ac_ctx_close(&cx);
    printf("backends: ok\n");
    return 0;
}
