/* compiler.c - modules through the host compiler; see compiler.h. */
#include "host/compiler.h"

#include "base/interrupt.h"
#include "base/progress.h"
#include "base/sys/sys.h"
#include "codegen/backends/find.h"
#include "codegen/constants.h"
#include "host/runtime_files.h"
#include "host/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ running it */

/* fma is one instruction on most x86, and a call without this. */
static const char *fma_flag(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("fma"))
        return "-mfma";
#endif
    return "-g0";
}

static int compiler_failed(ac_ctx *cx, const char *cc, const char *log, int status)
{
    if (status < 0) {
        ac_error(cx, (ac_place){0}, E0303, "cannot run the host compiler '%s': %s", cc, strerror(errno));
        return ac_help(cx, "install gcc or clang, set CC, or use --backend eval");
    }
    ac_error(cx, (ac_place){0}, E0303, "the host compiler '%s' failed with status %d", cc, status);
    char *text = ac_sys_text(log, NULL), *line = text;
    for (int i = 0; line && *line && i < 12; i++, line += strcspn(line, "\n"), line += *line == '\n')
        ac_detail(cx, "%.*s", (int)strcspn(line, "\r\n"), line);
    free(text);
    return AC_FAIL;
}

/* $CC may hold options ("gcc -m32"): split at spaces. */
static int32_t split_cc(ac_ctx *cx, const char **argv, int32_t cap)
{
    const char *cc = getenv("CC");
    char *s = ac_strdup(cx->region, cc && *cc ? cc : "cc");
    int32_t n = 0;
    for (char *save, *word = strtok_r(s, " ", &save); word && n < cap; word = strtok_r(NULL, " ", &save))
        argv[n++] = word;
    return n;
}

/* The host compiler with the flags that all of our code needs, and with those given. */
static int run_cc(ac_ctx *cx, const char *dir, const char *const *more, int32_t n_more)
{
    enum { ROOM = 40, WORDS = 12 };
    char *log = ac_strf(cx->region, "%s/log", dir);
    const char *argv[ROOM];
    int32_t n = split_cc(cx, argv, WORDS);
    if (!n)
        return ac_error(cx, (ac_place){0}, E0303, "$CC is empty, expected a command");
    static const char *const FLAGS[] = {"-std=gnu11", "-O2", "-fPIC", "-ffp-contract=off", "-w"};
    for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++)
        argv[n++] = FLAGS[i];
    for (int32_t i = 0; i < n_more && n < ROOM - 1; i++)
        argv[n++] = more[i];
    argv[n] = NULL;
    ac_progress_begin(cx, "the host compiler", 0);
    const ac_sys_program p = ac_sys_start(argv, log);
    const int status = p == -1 ? -1 : ac_sys_wait(p, 0);
    return status ? compiler_failed(cx, argv[0], log, status) : AC_OK;
}

/* ------------------------------------------------------------------ files */

typedef AC_VEC(ac_output) outputs;

static ac_sink *add(ac_ctx *cx, outputs *out, const char *path)
{
    ac_sink *to = AC_NEW(cx->region, ac_sink);
    ac_sink_open(to, cx);
    ac_push(cx->region, out, ((ac_output){to, path}));
    return to;
}

const char *ac_build_folder(ac_ctx *cx)
{
    char *dir = ac_folder_template(cx->region);
    ac_folders_sweep();
    if (ac_folder_begin(dir))
        return dir;
    ac_error(cx, (ac_place){.file = dir}, E0302, "cannot create a temporary folder: %s", strerror(errno));
    return NULL;
}

int ac_build_runtime(ac_ctx *cx, const char *dir)
{
    outputs out = {0};
    for (int i = 0; i < ac_rt_count; i++)
        ac_put_n(add(cx, &out, ac_strf(cx->region, "%s/%s", dir, ac_rt_files[i].name)), ac_rt_files[i].data,
                 ac_rt_files[i].n);
    return ac_sink_commit_scratch(cx, out.item, out.n);
}

ac_emit_names ac_build_names(ac_ctx *cx, const char *dir)
{
    return (ac_emit_names){"m.h", ac_strf(cx->region, "%s/m.bin", dir)};
}

/* m.KIND, and m.MORE unless NULL, with m.h and m.bin. */
static int write_module(ac_module *m, const char *dir, const char *kind, const char *more)
{
    const char *const kinds[] = {kind, "h", more};
    ac_ctx *cx = m->cx;
    const ac_emit_names names = ac_build_names(cx, dir);
    outputs out = {0};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && kinds[k]; k++) {
        const ac_backend *b = ac_backend_for(cx, kinds[k], m->target);
        if (!b || b->emit(m, kinds[k], &names, add(cx, &out, ac_strf(cx->region, "%s/m.%s", dir, kinds[k]))) != AC_OK)
            return AC_FAIL;
    }
    if (ac_module_weights(m) == AC_WEIGHTS_ASM) /* included by the text */
        AC_TRY(ac_blob_write(m, add(cx, &out, ac_strf(cx->region, "%s/m.bin", dir))));
    return ac_sink_commit_scratch(cx, out.item, out.n);
}

/* ------------------------------------------------------------------ libraries */

int ac_build_c(ac_module *m, const char *dir, const char *const *more, int32_t n_more)
{
    enum { ROOM = 20 };
    ac_region *r = m->cx->region;
    AC_TRY(write_module(m, dir, "c", NULL));
    const char *argv[ROOM] = {"-shared", "-o", ac_strf(r, "%s/m.so", dir), ac_strf(r, "%s/m.c", dir)};
    int32_t n = 4;
    for (int32_t i = 0; i < n_more && n < ROOM; i++)
        argv[n++] = more[i];
    return run_cc(m->cx, dir, argv, n);
}

int ac_build_text(ac_ctx *cx, const char *dir, const char *c, const char *flag)
{
    outputs out = {0};
    const char *path = ac_strf(cx->region, "%s/text.c", dir);
    ac_put(add(cx, &out, path), c);
    AC_TRY(ac_sink_commit_scratch(cx, out.item, out.n));
    return run_cc(cx, dir, (const char *const[]){"-shared", "-o", ac_strf(cx->region, "%s/text.so", dir), path, flag},
                  5);
}

#ifdef _WIN32
#define DRIVER "nvcuda.dll"
#else
#define DRIVER "libcuda.so.1"
#endif

/* The driver is looked for before anything is compiled for it. */
static int need_driver(ac_ctx *cx)
{
    void *so = ac_sys_library(DRIVER, false);
    int (*init)(unsigned) = NULL, (*count)(int *) = NULL, devices = 0;
    void *p = so ? ac_sys_symbol(so, "cuInit") : NULL, *q = so ? ac_sys_symbol(so, "cuDeviceGetCount") : NULL;
    memcpy(&init, &p, sizeof p);
    memcpy(&count, &q, sizeof q);
    const int error = init && count ? init(0) : 0;
    if (init && count && !error && count(&devices) == 0 && devices > 0)
        return AC_OK;
    ac_error(cx, (ac_place){0}, E0502, "--backend cuda needs an NVIDIA GPU and its driver");
    if (!so)
        ac_detail(cx, "%s", ac_sys_library_why());
    else
        ac_detail(cx, error ? "the driver returned error %d" : "the driver (%d) found no device", error);
    return ac_help(cx, "--backend cuda-emu runs the same kernels on this host");
}

/* The driver runs them. */
static int compile_device(ac_module *m, const char *dir)
{
    ac_region *r = m->cx->region;
    AC_TRY(need_driver(m->cx));
    AC_TRY(ac_build_runtime(m->cx, dir));
    const char *image = ac_strf(r, "%s/m.ptx", dir);
    AC_TRY(write_module(m, dir, "cu", "ptx"));
    const char *argv[] = {"-shared",
                          "-o",
                          ac_strf(r, "%s/m.so", dir),
                          ac_strf(r, "-I%s", dir),
                          ac_strf(r, "-DARN_CUDA_IMAGE=\"%s\"", image),
                          "-x",
                          "c",
                          ac_strf(r, "%s/m.cu", dir),
                          ac_strf(r, "%s/arn_cuda_steps.c", dir),
                          ac_strf(r, "%s/arn_cuda.c", dir)};
    return run_cc(m->cx, dir, argv, sizeof argv / sizeof *argv);
}

int ac_build_kernels(ac_module *m, const char *dir, const char *backend)
{
    ac_region *r = m->cx->region;
    const bool race = !strcmp(backend, "cuda-race");
    if (!strcmp(backend, "cuda"))
        return compile_device(m, dir);
    AC_TRY(ac_build_runtime(m->cx, dir));
    AC_TRY(write_module(m, dir, "cu", NULL));
    const char *object = ac_strf(r, "%s/m.o", dir), *include = ac_strf(r, "-I%s", dir);
    const char *kernels[] = {
        "-DARN_CUDA_EMU",   include, fma_flag(), "-c", "-o", object, "-x", "c", ac_strf(r, "%s/m.cu", dir),
        "-fsanitize=thread"};
    AC_TRY(run_cc(m->cx, dir, kernels, race ? 10 : 9));
    const char *whole[] = {"-shared",
                           "-o",
                           ac_strf(r, "%s/m.so", dir),
                           include,
                           object,
                           ac_strf(r, "%s/arn_cuda_emu.c", dir),
                           ac_strf(r, "%s/arn_cuda_fence.c", dir),
                           ac_strf(r, "%s/arn_cuda_mma.c", dir),
                           "-lm",
                           ac_strf(r, "%s/arn_cuda_race.c", dir)};
    return run_cc(m->cx, dir, whole, race ? 10 : 9);
}
