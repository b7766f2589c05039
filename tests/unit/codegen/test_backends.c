/* test_backends.c - one scheduled program gives the same bits on every printer: the evaluator, C through the host
 * compiler, LLVM; and for GPUs the evaluator, before and after loops became kernels, and the emulation.
 *
 *   cases      every instruction in every type and lanes, through LLVM (C: test_emit)
 *   programs   generated: operators of random types and shapes with the schedules of the levels this machine runs, and
 * random loops; 100 to a file plants     programs that were changed for LLVM only must be found
 *
 *     test_backends [programs [first seed [thin]]]     thin: every n-th case; scripts/differential.sh runs 2000 and all
 *
 * NaN equals NaN. Printers that are missing (no LLVM in the build, no C compiler) are left out, and it says so. */
#include "codegen/backends/find.h"
#include "codegen/c/emit.h"
#include "codegen/cuda/cuda.h"
#include "tests/unit/support/cc.h"
#include "tests/unit/support/node_cases.h"

#include <dlfcn.h>

enum { SLACK = 1 << 20, ARENA_MOST = 64 << 20, PER_FILE = 100, MAX_CALLS = 4096 };

typedef struct program {
    const char *what;
    const ac_loop_fn *fn;
    const ac_loop_fn *plain; /* GPUs: before its loops became kernels; else fn */
    const ac_bound_arg *arg;
    const fill *how; /* of each argument; NULL: by type */
} program;

static program programs[MAX_CALLS];
static int32_t n_programs;
static ac_bytes arena_bytes;
static ac_module *m;
static const ac_backend *llvm;
static const char *gpu_dir; /* where the emulation is compiled; NULL: there is no compiler */

static void begin(void)
{
    fresh();
    llvm = ac_backend_find(&cx, "llvm");
}

/* ---- a module of programs: each has memory of its own in the arena ---- */

static void open_module(const ac_target *t)
{
    n_programs = 0;
    arena_bytes = 0;
    m = AC_NEW(cx.region, ac_module);
    *m = (ac_module){.cx = &cx,
                     .name = "t",
                     .source = "t.ag",
                     .sha256 = "",
                     .options = "",
                     .version = "1",
                     .target = t,
                     .arena_align = 64,
                     .weights = AC_WEIGHTS_BLOB,
                     .host = true};
    m->ram = AC_NEW(cx.region, ac_module_ram);
    *m->ram = (ac_module_ram){.name = "arena", .align = 64, .address = -1};
    m->n_ram = 1;
    m->call = AC_NEW_N(cx.region, ac_call, MAX_CALLS);
    m->konst = AC_NEW_N(cx.region, ac_const *, 4 * MAX_CALLS);
}

static void add_program(const char *what, const ac_loop_fn *fn, const ac_lowered *low, const fill *how)
{
    ac_bound_arg *arg = AC_NEW_N(cx.region, ac_bound_arg, fn->buf.n + 1);
    int32_t n = 0;
    for (int32_t i = 0; i < fn->buf.n; i++) {
        const ac_buf *buffer = &fn->buf.item[i];
        if (buffer->role == AC_BUF_LOCAL)
            continue;
        if (low && low->arg.item[n].kind == AC_ARG_CONST) {
            MUST(ac_const_data(&cx, low->arg.item[n].konst));
            m->konst[m->n_konst] = low->arg.item[n].konst;
            arg[n++] = (ac_bound_arg){.space = AC_SPACE_CONST, .offset = m->n_konst++};
            continue;
        }
        arg[n++] = (ac_bound_arg){.space = AC_SPACE_ARENA, .offset = arena_bytes};
        arena_bytes += ac_align_up(ac_dtype_size(buffer->dtype, buffer->count) + 1, 64);
    }
    if (!low) {
        ac_lowered *none = AC_NEW(cx.region, ac_lowered);
        none->fn = ac_copy(cx.region, fn, sizeof *fn);
        low = none;
    }
    MUST(n_programs < MAX_CALLS && arena_bytes < ARENA_MOST);
    programs[n_programs++] = (program){what, fn, fn, arg, how};
    m->call[m->n_calls++] = (ac_call){.low = low, .op = "CASE", .name = what, .arg = arg, .n_arg = n};
    m->arena_bytes = m->ram->bytes = arena_bytes;
}

static uint8_t *new_arena(void **base)
{
    *base = calloc(1, (size_t)arena_bytes + 2 * SLACK + 64);
    MUST(*base);
    return (uint8_t *)*base + SLACK + (64 - (uintptr_t)*base % 64);
}

static void put_random(uint8_t *to, ac_dtype d, int64_t count)
{
    int32_t width = ac_dtype_bits(d) / 8;
    for (int64_t i = 0; i < count; i++) {
        float f = rnd() % 50 ? ((float)(rnd() % 40001) - 20000.0f) / 2048.0f : (float)any_real();
        double wide = (double)f;
        uint16_t half = ac_f32_to_f16(f);
        int64_t v = d == AC_BOOL ? rnd() % 2 : d == AC_I32 || d == AC_I64 ? (int64_t)(rnd() % 2001) - 1000 : any_int(d);
        const void *from = d == AC_F32   ? (const void *)&f
                           : d == AC_F64 ? (const void *)&wide
                           : d == AC_F16 ? (const void *)&half
                                         : (const void *)&v;
        memcpy(to + i * width, from, (size_t)width);
    }
}

static void fill_arena(uint8_t *arena)
{
    for (int32_t p = 0; p < n_programs; p++)
        for (int32_t i = 0; i < m->call[p].n_arg; i++) {
            const ac_buf *buffer = &programs[p].fn->buf.item[i];
            if (programs[p].arg[i].space == AC_SPACE_CONST || buffer->role == AC_BUF_OUT ||
                buffer->role == AC_BUF_SCRATCH)
                continue;
            if (!programs[p].how)
                put_random(arena + programs[p].arg[i].offset, buffer->dtype, buffer->count);
            else if (programs[p].how[i] != OUTPUT)
                fill_buffer(arena + programs[p].arg[i].offset, buffer->dtype, programs[p].how[i]);
        }
}

/* ---- running ---- */

static int evaluate(int32_t p, const ac_loop_fn *fn, uint8_t *arena)
{
    void *data[64];
    int status = 0;
    int32_t n = 0;
    MUST(m->call[p].n_arg <= 64);
    while (n < fn->buf.n && fn->buf.item[n].role != AC_BUF_LOCAL)
        n++;
    for (int32_t i = 0; i < n; i++) {
        const ac_bound_arg *a = &programs[p].arg[i];
        data[i] = a->space == AC_SPACE_CONST ? (void *)(uintptr_t)m->konst[a->offset]->data : arena + a->offset;
    }
    now = programs[p].what;
    MUST(ac_eval(&cx, fn, data, n, &status) == AC_OK);
    return status;
}

static const uint8_t *weights_of(void **base)
{
    ac_sink blob;
    ac_sink_open(&blob, &cx);
    MUST(ac_blob_write(m, &blob) == AC_OK);
    *base = malloc(blob.n + 64);
    MUST(*base);
    uint8_t *at = (uint8_t *)*base + (64 - (uintptr_t)*base % 64);
    memcpy(at, blob.text, blob.n);
    return at;
}

static int run_code(arn_init_fn *init, arn_run_fn *run, uint8_t *arena)
{
    void *base;
    const struct arn_mem mem = {.arena = arena, .weights = weights_of(&base)};
    MUST(init(&mem) == 0);
    int status = run(&mem, NULL);
    free(base);
    return status;
}

static int run_llvm(uint8_t *arena)
{
    ac_image image = {0};
    int opened = llvm->open(m, &image);
    if (opened != AC_OK)
        ac_diags_print(&cx.diags, stderr, false);
    MUST(opened == AC_OK);
    int status = run_code(image.init, image.run, arena);
    llvm->close(&image);
    return status;
}

static int run_c(const char *dir, uint8_t *arena)
{
    ac_sink c, h;
    ac_sink_open(&c, &cx);
    ac_sink_open(&h, &cx);
    MUST(ac_emit_source(m, "t.h", "t.bin", &c) == AC_OK && ac_emit_header(m, &h) == AC_OK);
    MUST(cc_write(dir, "t.c", c.text, c.n) == 0 && cc_write(dir, "t.h", h.text, h.n) == 0);
    MUST(cc_compile(dir, cc_name(), "-std=gnu11 -O1 -w -fPIC -shared", "t.c", "t.so") == 0);
    void *so = dlopen(ac_strf(cx.region, "%s/t.so", dir), RTLD_NOW | RTLD_LOCAL);
    MUST(so);
    const struct arn_model *model = dlsym(so, "t_model");
    MUST(model);
    int status = run_code(model->init, model->run, arena);
    dlclose(so);
    return status;
}

static bool is_gpu(void)
{
    return m->target->isa == AC_ISA_CUDA;
}

/* The kernels' own text, on the host. */
static int run_emulation(const char *dir, uint8_t *arena)
{
    ac_sink cu, h;
    const ac_emit_names names = {"t.h", "t.bin"};
    ac_sink_open(&cu, &cx);
    ac_sink_open(&h, &cx);
    const int printed = ac_backend_cuda.emit(m, "cu", &names, &cu);
    if (printed != AC_OK)
        ac_diags_print(&cx.diags, stderr, false);
    MUST(printed == AC_OK && ac_backend_cuda.emit(m, "h", &names, &h) == AC_OK);
    MUST(cc_write(dir, "t.cu", cu.text, cu.n) == 0 && cc_write(dir, "t.h", h.text, h.n) == 0);
    MUST(cc_compile(dir, cc_name(),
                    "-std=gnu11 -O1 -w -ffp-contract=off -fPIC -shared -DARN_CUDA_EMU -I" SOURCE_DIR
                    "/runtime " SOURCE_DIR "/runtime/arn_cuda_emu.c " SOURCE_DIR "/runtime/arn_cuda_mma.c -x c",
                    "t.cu", "t.so") == 0);
    void *so = dlopen(ac_strf(cx.region, "%s/t.so", dir), RTLD_NOW | RTLD_LOCAL);
    if (!so)
        fprintf(stderr, "%s\n", dlerror());
    MUST(so);
    const struct arn_model *model = dlsym(so, "t_model");
    MUST(model);
    int status = run_code(model->init, model->run, arena);
    dlclose(so);
    return status;
}

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
                        m->target->name, buffer->name, (long long)i, ac_dtype_get_num(buffer->dtype, a, 0),
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
        if (!same(&programs[p], m->call[p].n_arg, want, got, who, true)) {
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
    ac_module_dedupe(m);
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

/* thin: every n-th case; the random programs all. */
static void test_cases(const ac_target *t, int32_t thin)
{
    target = t;
    build(t->vec_bytes > 0);
    open_module(t);
    for (int32_t i = 0; i < n_cases; i++)
        if (!cases[i].fn->fails && (i % thin == 0 || !strcmp(cases[i].what, "random program")))
            add_program(cases[i].what, cases[i].fn, NULL, cases[i].fill);
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

static const ac_target *levels[8];
static int32_t n_levels;
static int32_t done_winograd, done_tiles, done_tensor;

static bool has_blocks(const ac_loop_fn *fn)
{
    for (ac_x x = 1; x < fn->code.n; x++)
        if (fn->code.item[x].op == AC_L_FOR && fn->code.item[x].aux == AC_MARK_BLOCK)
            return true;
    return false;
}

static bool add_node(void)
{
    const char *text;
    const ac_node *n = node_case(&text);
    /* a third is told its tile (which may not fit), two thirds of the 3x3 convolutions that can be are done by
     * Winograd's way */
    const bool tile = rnd() % 3 == 0;
    const ac_schedule told = {.winograd = (int32_t)(rnd() % 3) * 2,
                              .tensor = (int32_t)(rnd() % (AC_TENSOR_F16 + 1)),
                              .rows = tile ? 1 + (int32_t)(rnd() % 14) : 0,
                              .vecs = tile ? 1 + (int32_t)(rnd() % 4) : 0};
    ac_lowered *low = n ? ac_lower_told(&cx, cx.region, n, m->target, 0, rnd() % 4 == 0, &told) : NULL;
    done_tiles += low && low->fn->code.n > 0 && has_blocks(low->fn);
    done_winograd += low && low->schedule.winograd;
    done_tensor += low && low->schedule.tensor;
    const ac_loop_fn *plain = low ? low->fn : NULL;
    if (low && is_gpu())
        MUST(ac_lower_grid(&cx, cx.region, low) == AC_OK);
    if (!low || low->fn->fails) {
        cx.diags = (ac_diags){.limit = cx.diags.limit}; /* a draw that is not supported */
        return false;
    }
    add_program(text, low->fn, low, NULL);
    programs[n_programs - 1].plain = plain;
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
        target = m->target;
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
        printf("as kernels, %d in blocks, %d by tensor cores\n", done_tiles, done_tensor);
    else
        printf("%d by winograd's way\n", done_winograd);
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
    target = m->target;
    n_cases = 0;
    build(m->target->vec_bytes > 0); /* shuffles, saturating casts and all else */
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
            ac_lowered *low = ac_copy(cx.region, m->call[p].low, sizeof *low);
            low->fn = bad;
            m->call[p].low = low;
        }
    }
    void *base[2];
    uint8_t *want = new_arena(&base[0]), *got = new_arena(&base[1]);
    ac_module_dedupe(m);
    fill_arena(want);
    memcpy(got, want, (size_t)arena_bytes);
    for (int32_t p = 0; p < n_programs; p++)
        evaluate(p, programs[p].fn, want);
    run_llvm(got);
    for (int32_t p = 0; p < n_programs; p++) {
        bool differs = !same(&programs[p], m->call[p].n_arg, want, got, "LLVM", kind[p] < 0);
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
        if (ac_target_runs_here(t) && (!t->vec_bytes || !strncmp(t->cpu, "x86-64", 6)) && n_levels < 8)
            levels[n_levels++] = t;
    }
    gpu_dir = has_cc ? dir : NULL;
    levels[n_levels++] = ac_target_find("cuda-sm80"); /* the last: most of its instructions are those of C */
    for (int32_t i = 0; i < n_levels && (llvm || i == n_levels - 1); i++) {
        begin();
        test_cases(levels[i], thin);
    }
    test_programs(has_cc ? dir : NULL, count, first, levels, n_levels - 1);
    test_programs(has_cc ? dir : NULL, (count + 1) / 2, first + (uint64_t)count, levels + n_levels - 1, 1);
    if (llvm)
        test_plants();
    cc_remove(dir);
    ac_ctx_close(&cx);
    printf("backends: ok\n");
    return 0;
}
