/* printed_programs.h - loop functions as the calls of one module, each with memory of its own in the arena, and what
 * runs that module: the evaluator, C through the host compiler, LLVM in this process, kernels in the emulation.
 *
 *     open_module(target);
 *     add_program("relu f32", fn, NULL, NULL);
 *     fill_arena(arena);
 *     evaluate(0, fn, arena); run_c(folder, arena); run_llvm(arena); run_emulation(folder, arena);
 *
 * Memory: the context of fresh.h; arenas are freed by the caller. Errors: MUST. */
#ifndef AC_TESTS_PRINTED_PROGRAMS_H
#define AC_TESTS_PRINTED_PROGRAMS_H
#include "codegen/backends/find.h"
#include "codegen/c/emit.h"
#include "codegen/cuda/cuda.h"
#include "ir/loop/eval/eval.h"
#include "tests/unit/support/cc.h"
#include "tests/unit/support/case_table.h"

#define RUNTIME SOURCE_DIR "/runtime"

#include <dlfcn.h>

enum { SLACK = 1 << 20, ARENA_MOST = 64 << 20, MAX_CALLS = 4096 };

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
static ac_module *module;
static const ac_backend *llvm;
static const char *gpu_dir; /* where the emulation is compiled; NULL: no compiler found */

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
    module = AC_NEW(cx.region, ac_module);
    *module = (ac_module){.cx = &cx,
                          .name = "t",
                          .source = "t.ag",
                          .sha256 = "",
                          .options = "",
                          .version = "1",
                          .target = t,
                          .arena_align = 64,
                          .weights = AC_WEIGHTS_BLOB,
                          .host = true,
                          .hooks = true};
    module->ram = AC_NEW(cx.region, ac_module_ram);
    *module->ram = (ac_module_ram){.name = "arena", .align = 64, .address = -1};
    module->n_ram = 1;
    module->call = AC_NEW_N(cx.region, ac_call, MAX_CALLS);
    module->konst = AC_NEW_N(cx.region, ac_const *, 4 * MAX_CALLS);
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
            module->konst[module->n_konst] = low->arg.item[n].konst;
            arg[n++] = (ac_bound_arg){.space = AC_SPACE_CONST, .offset = module->n_konst++};
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
    module->call[module->n_calls++] = (ac_call){.low = low, .op = "CASE", .name = what, .arg = arg, .n_arg = n};
    module->arena_bytes = module->ram->bytes = arena_bytes;
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
        for (int32_t i = 0; i < module->call[p].n_arg; i++) {
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
    MUST(module->call[p].n_arg <= 64);
    while (n < fn->buf.n && fn->buf.item[n].role != AC_BUF_LOCAL)
        n++;
    for (int32_t i = 0; i < n; i++) {
        const ac_bound_arg *a = &programs[p].arg[i];
        data[i] = a->space == AC_SPACE_CONST ? (void *)(uintptr_t)module->konst[a->offset]->data : arena + a->offset;
    }
    now = programs[p].what;
    MUST(ac_eval(&cx, fn, data, n, &status) == AC_OK);
    return status;
}

static const uint8_t *weights_of(void **base)
{
    uint8_t *blob;
    ac_bytes n;
    MUST(ac_blob_bytes(module, &blob, &n) == AC_OK);
    *base = malloc((size_t)n + 64);
    MUST(*base);
    uint8_t *at = (uint8_t *)*base + (64 - (uintptr_t)*base % 64);
    memcpy(at, blob, (size_t)n);
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
    int opened = llvm->open(module, &image);
    if (opened != AC_OK)
        ac_diags_print(&cx.diags, stderr, false);
    MUST(opened == AC_OK);
    int status = run_code(image.init, image.part[0], arena);
    llvm->close(&image);
    return status;
}

static int run_c(const char *dir, uint8_t *arena)
{
    ac_sink c, h;
    ac_sink_open(&c, &cx);
    ac_sink_open(&h, &cx);
    MUST(ac_emit_source(module, "t.h", "t.bin", &c) == AC_OK && ac_emit_header(module, &h) == AC_OK);
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
    return module->target->isa == AC_ISA_CUDA;
}

/* The kernels' own text, on the host. */
static int run_emulation(const char *dir, uint8_t *arena)
{
    ac_sink cu, h;
    const ac_emit_names names = {"t.h", "t.bin"};
    ac_sink_open(&cu, &cx);
    ac_sink_open(&h, &cx);
    const int printed = ac_backend_cuda.emit(module, "cu", &names, &cu);
    if (printed != AC_OK)
        ac_diags_print(&cx.diags, stderr, false);
    MUST(printed == AC_OK && ac_backend_cuda.emit(module, "h", &names, &h) == AC_OK);
    MUST(cc_write(dir, "t.cu", cu.text, cu.n) == 0 && cc_write(dir, "t.h", h.text, h.n) == 0);
    MUST(cc_compile(dir, cc_name(),
                    "-std=gnu11 -O1 -w -ffp-contract=off -fPIC -shared -DARN_CUDA_EMU -I" RUNTIME " " RUNTIME
                    "/arn_cuda_emu.c " RUNTIME "/arn_cuda_fence.c " RUNTIME "/arn_cuda_mma.c -x c",
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

#endif
