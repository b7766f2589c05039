#include "cli/host.h"
#include "cli/rt_files.h"

#include "codegen/constants.h"
#include "codegen/targets.h"
#include "runtime/arn_cuda.h"
#include "runtime/arn_pool.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool ac_host_is_cuda(const char *backend)
{
    return !strcmp(backend, "cuda-emu") || !strcmp(backend, "cuda-race") || !strcmp(backend, "cuda");
}

const char *ac_host_target(const ac_cli *cli)
{
    const char *backend = cli->backend ? cli->backend : "c";
    return ac_host_is_cuda(backend) ? "cuda-sm80" : "native";
}

uint8_t *ac_host_at(const ac_host *h, const ac_io *io)
{
    if (io->rows)
        return h->fed;
    return io->space == AC_SPACE_STATE ? h->state + io->offset
                                       : h->arena + ac_module_at(h->job->module, io->index, io->offset);
}

static uint8_t *aligned(void **base, ac_bytes n, ac_bytes align)
{
    if (align < 64)
        align = 64; /* a cache line, so that timings do not depend on luck */
    *base = calloc(1, (size_t)(n + align + 64));
    return *base ? (uint8_t *)*base + (align - (ac_bytes)((uintptr_t)*base % (uintptr_t)align)) : NULL;
}

/* ------------------------------------------------------------------ generated C */

int ac_spawn(char *const *argv, const char *output)
{
    posix_spawn_file_actions_t fa;
    pid_t pid;
    int status;
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addopen(&fa, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&fa, 1, 2);
    int err = posix_spawnp(&pid, argv[0], &fa, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&fa);
    if (err) {
        errno = err;
        return -1;
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

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

static int compiler_failed(arenac_job *job, const char *cc, const char *log, int status)
{
    ac_ctx *cx = &job->cx;
    if (status < 0) {
        ac_error(cx, (ac_place){0}, E0303, "cannot run the host compiler '%s': %s", cc, strerror(errno));
        return ac_help(cx, "install gcc or clang, set CC, or use --backend eval");
    }
    ac_error(cx, (ac_place){0}, E0303, "the host compiler '%s' failed with status %d", cc, status);
    FILE *f = fopen(log, "r");
    char line[400];
    for (int i = 0; f && i < 12 && fgets(line, sizeof line, f); i++)
        ac_detail(cx, "%.*s", (int)strcspn(line, "\n"), line);
    if (f)
        fclose(f);
    return AC_FAIL;
}

/* $CC may hold options ("gcc -m32"): split at spaces. */
static int32_t split_cc(ac_ctx *cx, char **argv, int32_t cap)
{
    const char *cc = getenv("CC");
    char *s = ac_strdup(cx->region, cc && *cc ? cc : "cc");
    int32_t n = 0;
    for (char *save, *word = strtok_r(s, " ", &save); word && n < cap; word = strtok_r(NULL, " ", &save))
        argv[n++] = word;
    return n;
}

/* The host compiler with the flags that all of our code needs, and with those given. */
static int run_cc(arenac_job *job, const char *dir, const char *const *more, int32_t n_more)
{
    enum { ROOM = 40, WORDS = 12 };
    ac_ctx *cx = &job->cx;
    char *log = ac_strf(cx->region, "%s/log", dir);
    char *argv[ROOM];
    int32_t n = split_cc(cx, argv, WORDS);
    if (!n)
        return ac_error(cx, (ac_place){0}, E0303, "$CC holds no command");
    static const char *const FLAGS[] = {"-std=gnu11", "-O2", "-fPIC", "-ffp-contract=off", "-w"};
    for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++)
        argv[n++] = ac_strdup(cx->region, FLAGS[i]);
    for (int32_t i = 0; i < n_more && n < ROOM - 1; i++)
        argv[n++] = ac_strdup(cx->region, more[i]);
    argv[n] = NULL;
    int status = ac_spawn(argv, log);
    return status ? compiler_failed(job, argv[0], log, status) : AC_OK;
}

void ac_host_add_runtime(arenac_job *job, const char *dir)
{
    for (int i = 0; i < ac_rt_count; i++) {
        ac_sink *to = AC_NEW(job->cx.region, ac_sink);
        ac_sink_open(to, &job->cx);
        ac_put_n(to, ac_rt_files[i].data, ac_rt_files[i].n);
        ac_job_add_output(job, to, ac_strf(job->cx.region, "%s/%s", dir, ac_rt_files[i].name));
    }
}

static int emit_all(arenac_job *job, const char *dir, const char *kind)
{
    ac_ctx *cx = &job->cx;
    AC_TRY(arenac_emit(job, kind, ac_strf(cx->region, "%s/m.%s", dir, kind)));
    AC_TRY(arenac_emit(job, "h", ac_strf(cx->region, "%s/m.h", dir)));
    AC_TRY(arenac_emit(job, "blob", ac_strf(cx->region, "%s/m.bin", dir)));
    AC_TRY(arenac_commit(job));
    job->output.n = 0;
    return AC_OK;
}

int ac_host_compile(arenac_job *job, const char *dir, const char *const *more, int32_t n_more)
{
    enum { ROOM = 20 };
    ac_region *r = job->cx.region;
    AC_TRY(emit_all(job, dir, "c"));
    const char *argv[ROOM] = {"-shared", "-o", ac_strf(r, "%s/m.so", dir), ac_strf(r, "%s/m.c", dir)};
    int32_t n = 4;
    for (int32_t i = 0; i < n_more && n < ROOM; i++)
        argv[n++] = more[i];
    return run_cc(job, dir, argv, n);
}

/* A driver is asked for before anything is compiled for it. */
static int need_driver(ac_ctx *cx)
{
    void *so = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*init)(unsigned) = NULL, (*count)(int *) = NULL, devices = 0;
    void *p = so ? dlsym(so, "cuInit") : NULL, *q = so ? dlsym(so, "cuDeviceGetCount") : NULL;
    memcpy(&init, &p, sizeof p);
    memcpy(&count, &q, sizeof q);
    const int error = init && count ? init(0) : 0;
    if (init && count && !error && count(&devices) == 0 && devices > 0)
        return AC_OK;
    ac_error(cx, (ac_place){0}, E0502, "--backend cuda needs an NVIDIA GPU and its driver");
    if (!so)
        ac_detail(cx, "%s", dlerror());
    else
        ac_detail(cx, error ? "the driver answers with error %d" : "the driver is there (%d), but no device", error);
    return ac_help(cx, "--backend cuda-emu runs the same kernels on this machine");
}

/* The driver runs them. */
static int compile_device(arenac_job *job, const char *dir)
{
    ac_region *r = job->cx.region;
    AC_TRY(need_driver(&job->cx));
    ac_host_add_runtime(job, dir);
    const char *image = ac_strf(r, "%s/m.ptx", dir);
    AC_TRY(arenac_emit(job, "ptx", image));
    AC_TRY(emit_all(job, dir, "cu"));
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
    return run_cc(job, dir, argv, sizeof argv / sizeof *argv);
}

/* Kernels and what runs them: the emulation, with or without a look at every access. */
static int compile_cuda(arenac_job *job, const char *dir, const char *backend)
{
    ac_region *r = job->cx.region;
    const bool race = !strcmp(backend, "cuda-race");
    if (!strcmp(backend, "cuda"))
        return compile_device(job, dir);
    ac_host_add_runtime(job, dir);
    AC_TRY(emit_all(job, dir, "cu"));
    const char *object = ac_strf(r, "%s/m.o", dir), *include = ac_strf(r, "-I%s", dir);
    const char *kernels[] = {
        "-DARN_CUDA_EMU",   include, fma_flag(), "-c", "-o", object, "-x", "c", ac_strf(r, "%s/m.cu", dir),
        "-fsanitize=thread"};
    AC_TRY(run_cc(job, dir, kernels, race ? 10 : 9));
    const char *whole[] = {"-shared",
                           "-o",
                           ac_strf(r, "%s/m.so", dir),
                           include,
                           object,
                           ac_strf(r, "%s/arn_cuda_emu.c", dir),
                           ac_strf(r, "%s/arn_cuda_mma.c", dir),
                           "-lm",
                           ac_strf(r, "%s/arn_cuda_race.c", dir)};
    return run_cc(job, dir, whole, race ? 9 : 8);
}

static int compile_in(arenac_job *job, const char *dir, const char *backend, ac_host *h)
{
    ac_ctx *cx = &job->cx;
    AC_TRY(h->cuda ? compile_cuda(job, dir, backend) : ac_host_compile(job, dir, NULL, 0));
    const char *so = ac_strf(cx->region, "%s/m.so", dir);
    h->library = dlopen(so, RTLD_NOW | RTLD_LOCAL);
    if (!h->library)
        return ac_error(cx, (ac_place){0}, E0303, "cannot load the compiled model: %s", dlerror());
    const struct arn_model *model = dlsym(h->library, ac_strf(cx->region, "%s_model", job->module->name));
    if (!model)
        return ac_error(cx, (ac_place){0}, E0901, "the compiled model has no '%s_model'", job->module->name);
    if (model->abi != ARN_ABI)
        return ac_error(cx, (ac_place){0}, E0901, "the compiled model has ABI %u, expected %d", model->abi, ARN_ABI);
    h->image = (ac_image){.init = model->init, .run = model->run};
    return AC_OK;
}

static int open_weights(ac_host *h)
{
    ac_sink weights;
    ac_sink_open(&weights, &h->job->cx);
    AC_TRY(ac_blob_write(h->job->module, &weights));
    uint8_t *at = aligned(&h->weights_base, (ac_bytes)weights.n, 64);
    if (at && weights.n)
        memcpy(at, weights.text, weights.n);
    h->weights = at;
    return at ? AC_OK : ac_error(&h->job->cx, (ac_place){0}, E0402, "no memory for the weights");
}

const char *ac_host_folder(ac_ctx *cx)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = ac_strf(cx->region, "%s/arenac-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (mkdtemp(dir))
        return dir;
    ac_error(cx, (ac_place){.file = dir}, E0302, "cannot create a temporary folder: %s", strerror(errno));
    return NULL;
}

void ac_host_folder_remove(ac_ctx *cx, const char *dir)
{
    static const char *const NAMES[] = {"m.c", "m.h", "m.cu", "m.ptx", "m.bin", "m.o", "m.so", "log"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        unlink(ac_strf(cx->region, "%s/%s", dir, NAMES[i]));
    for (int i = 0; i < ac_rt_count; i++)
        unlink(ac_strf(cx->region, "%s/%s", dir, ac_rt_files[i].name));
    rmdir(dir);
}

static int open_c(arenac_job *job, const char *backend, ac_host *h)
{
    const char *dir = ac_host_folder(&job->cx);
    if (!dir)
        return AC_FAIL;
    int status = compile_in(job, dir, backend, h);
    ac_host_folder_remove(&job->cx, dir);
    return status;
}

static void step_end(void *user, int32_t step)
{
    const ac_host *h = user;
    if (h->hook)
        h->hook(h->hook_user, step);
}

/* ------------------------------------------------------------------ code in this process */

static int open_image(arenac_job *job, const char *name, ac_host *h)
{
    const ac_backend *b = ac_backend_find(&job->cx, name);
    if (!b)
        return AC_FAIL;
    if (!b->open)
        return ac_error(&job->cx, (ac_place){0}, E0502, "the backend %s only prints: it cannot run a model", name);
    if (job->module->n_ram > 1 && strcmp(name, "llvm"))
        return ac_error(&job->cx, (ac_place){0}, E0502, "the backend %s knows one memory for tensors, %d are given",
                        name, job->module->n_ram);
    h->backend = b;
    return b->open(job->module, &h->image);
}

static int run_code(ac_host *h)
{
    const struct arn_mem mem = {.arena = h->arena,
                                .weights = h->weights,
                                .state = h->state,
                                .in = h->in,
                                .pool = h->threads ? &h->threads->pool : NULL};
    const struct arn_hook hook = {NULL, step_end, h};
    int status = h->image.run(&mem, h->hook ? &hook : NULL);
    if (status >= ARN_CUDA_EDRIVER)
        return ac_error(&h->job->cx, (ac_place){.file = h->job->path}, E0304, "the kernels failed: %s",
                        status == ARN_CUDA_EBARRIER ? "threads of a block wait at different barriers"
                        : status == ARN_CUDA_ERACE  ? "two threads use the same bytes at the same time"
                                                    : "the driver refuses them");
    if (status)
        return ac_error(&h->job->cx, (ac_place){.file = h->job->path}, E0304,
                        "the run stopped with status %d (an index was out of range)", status);
    return AC_OK;
}

/* ------------------------------------------------------------------ evaluator */

static int open_eval(arenac_job *job, ac_host *h)
{
    const ac_module *m = job->module;
    h->program = AC_NEW_N(job->cx.region, ac_program *, m->n_fn + 1);
    for (int32_t i = 0; i < m->n_fn; i++) {
        h->program[i] = ac_eval_compile(&job->cx, job->cx.region, m->fn[i]);
        if (!h->program[i])
            return AC_FAIL;
    }
    for (int32_t i = 0; i < m->n_konst; i++)
        if (!ac_const_data(&job->cx, m->konst[i]))
            return AC_FAIL;
    return AC_OK;
}

static int run_eval(ac_host *h)
{
    ac_ctx *cx = &h->job->cx;
    const ac_module *m = h->job->module;
    for (int32_t s = 0; s < m->n_calls; s++) {
        const ac_call *c = &m->call[s];
        int32_t part = 0;
        void *data[64];
        void **arg = c->n_arg <= 64 ? data : AC_NEW_N(cx->region, void *, c->n_arg);
        for (int32_t a = 0; a < c->n_arg; a++)
            switch (c->arg[a].space) {
            case AC_SPACE_ARENA:
                arg[a] = h->arena + ac_module_at(m, c->arg[a].index, c->arg[a].offset);
                break;
            case AC_SPACE_STATE:
                arg[a] = h->state + c->arg[a].offset;
                break;
            case AC_SPACE_IN:
            case AC_SPACE_OUT:
                return ac_error(cx, (ac_place){0}, E0901, "the evaluator has no memory of a caller");
            case AC_SPACE_CONST:
                arg[a] = (void *)(uintptr_t)ac_const_data(cx, m->konst[c->arg[a].offset]);
                break;
            case AC_SPACE_PART:
                arg[a] = &part;
                break;
            }
        int status = 0;
        const ac_io *fed = s == m->fed_call ? m->fed : NULL;
        const int32_t parts = fed ? fed->rows : c->low->parts;
        for (part = 0; part < parts || part == 0; part++) {
            if (fed)
                memcpy(h->arena + ac_module_at(m, fed->index, fed->row_at), h->fed + part * fed->row_bytes,
                       (size_t)fed->row_bytes);
            AC_TRY(ac_eval_run(cx, h->program[c->fn], arg, c->n_arg, &status));
        }
        if (status)
            return ac_error(cx, c->low->node->at, E0304, "the run stopped with status %d (an index was out of range)",
                            status);
        if (h->hook)
            h->hook(h->hook_user, s);
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ both */

int ac_host_reset(ac_host *h)
{
    const ac_module *m = h->job->module;
    if (!h->eval) {
        const struct arn_mem mem = {
            .arena = h->arena, .weights = h->weights, .state = h->state, .pool = h->threads ? &h->threads->pool : NULL};
        int status = h->image.init(&mem);
        return status ? ac_error(&h->job->cx, (ac_place){.file = h->job->path}, E0901,
                                 "the compiled model refuses its memory (%d)", status)
                      : AC_OK;
    }
    memset(h->state, 0, (size_t)m->state_bytes);
    for (int32_t i = 0; i < m->n_states; i++)
        if (m->state[i].tensor->data && m->state[i].bytes)
            memcpy(ac_host_at(h, &m->state[i]), m->state[i].tensor->data, (size_t)m->state[i].bytes);
    return AC_OK;
}

int ac_host_run(ac_host *h)
{
    return h->eval ? run_eval(h) : run_code(h);
}

static int open_threads(arenac_job *job, ac_host *h)
{
    struct arn_threads *t = AC_NEW(job->cx.region, struct arn_threads);
    const int error = arn_threads_open(t, job->module->threads);
    if (error)
        return ac_error(&job->cx, (ac_place){0}, E0302, "cannot start %d threads: %s", job->module->threads,
                        strerror(error));
    h->threads = t;
    return AC_OK;
}

int ac_host_open(arenac_job *job, const char *backend, ac_host *h)
{
    const ac_module *m = job->module;
    memset(h, 0, sizeof *h);
    h->job = job;
    h->eval = !strcmp(backend, "eval");
    h->cuda = ac_host_is_cuda(backend);
    if (h->cuda && job->target->isa != AC_ISA_CUDA)
        return ac_error(&job->cx, (ac_place){0}, E0502, "--backend %s runs code for GPUs, the target is %s", backend,
                        job->target->name);
    char room[AC_TARGET_MISSING];
    const char *missing = ac_target_missing(job->target, room, sizeof room);
    if (*missing && !h->cuda && (!h->eval || job->target->firmware)) {
        ac_error(&job->cx, (ac_place){0}, E0504, "this machine cannot run code for %s", job->target->name);
        ac_reason(&job->cx, job->target->firmware ? "%s" : "it lacks %s", missing);
        return ac_help(&job->cx, "leave -t out (native), or use %s",
                       job->target->firmware ? "-t generic" : "--backend eval");
    }
    h->arena = aligned(&h->arena_base, m->arena_bytes, m->arena_align);
    h->state = aligned(&h->state_base, m->state_bytes, m->arena_align);
    h->in = AC_NEW_N(job->cx.region, const void *, m->n_inputs + 1);
    if (m->fed)
        h->in[m->fed_input] = h->fed = aligned(&h->fed_base, m->input[m->fed_input].bytes, 64);
    if (!h->arena || !h->state || (m->fed && !h->fed))
        return ac_error(&job->cx, (ac_place){0}, E0402, "no memory for an arena of %lld bytes",
                        (long long)m->arena_bytes);
    AC_TRY(h->eval                            ? open_eval(job, h)
           : !strcmp(backend, "c") || h->cuda ? open_c(job, backend, h)
                                              : open_image(job, backend, h));
    if (!h->eval)
        AC_TRY(open_weights(h));
    if (!h->eval && m->threads > 1)
        AC_TRY(open_threads(job, h));
    return ac_host_reset(h);
}

void ac_host_close(ac_host *h)
{
    if (h->threads)
        arn_threads_close(h->threads);
    if (h->library)
        dlclose(h->library);
    if (h->backend)
        h->backend->close(&h->image);
    free(h->arena_base);
    free(h->state_base);
    free(h->weights_base);
    free(h->fed_base);
    memset(h, 0, sizeof *h);
}
