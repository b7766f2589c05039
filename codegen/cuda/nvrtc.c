/* nvrtc.c - compiles the kernels for --emit ptx,cubin with NVRTC, NVIDIA's compiler as a library, opened at first use.
 *
 * Search order: the file $ARENAC_NVRTC; the loader's search path (including Debian's libnvrtc11.2); $CUDA_HOME,
 * $CUDA_PATH, /usr/local/cuda and /usr/local/cuda-*; the wheels of PyPI (nvidia-cuda-nvrtc-cu12, nvidia-cuda-nvrtc) in
 * the virtual environment, the user's or the system's folders. Versions 11.2 to 13 have been tested; none of NVIDIA's
 * headers is needed, here or in the kernels. */
#include "codegen/cuda/cuda.h"

#include "base/sys/sys.h"

#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define BUILTINS "nvrtc-builtins64_*.dll"
#else
#define BUILTINS "libnvrtc-builtins.so.*"
#endif

typedef struct nvrtc_program *program;
enum { NVRTC_INVALID_OPTION = 5, NVRTC_COMPILATION = 6 };

#define FUNCTIONS(X)                                                                         \
    X(version, "nvrtcVersion", (int *major, int *minor))                                     \
    X(create, "nvrtcCreateProgram",                                                          \
      (program * p, const char *source, const char *name, int n, const char *const *headers, \
       const char *const *names))                                                            \
    X(destroy, "nvrtcDestroyProgram", (program * p))                                         \
    X(compile, "nvrtcCompileProgram", (program p, int n, const char *const *options))        \
    X(ptx_size, "nvrtcGetPTXSize", (program p, size_t * n))                                  \
    X(ptx, "nvrtcGetPTX", (program p, char *to))                                             \
    X(cubin_size, "nvrtcGetCUBINSize", (program p, size_t * n))                              \
    X(cubin, "nvrtcGetCUBIN", (program p, char *to))                                         \
    X(log_size, "nvrtcGetProgramLogSize", (program p, size_t * n))                           \
    X(log, "nvrtcGetProgramLog", (program p, char *to))

typedef struct nvrtc {
    void *so;
    const char *path;
#define POINTER(name, symbol, args) int(*name) args;
    FUNCTIONS(POINTER)
#undef POINTER
} nvrtc;

/* NVRTC opens another library by name: if that is next to NVRTC, outside of the loader's search path, it must be loaded
 * first. */
static void open_builtins(ac_ctx *cx, const char *path)
{
    const char *name = strrchr(path, '/');
    size_t count;
    if (!name)
        return;
    char **found = ac_sys_matches(ac_strf(cx->region, "%.*s/" BUILTINS, (int)(name - path), path), &count);
    for (size_t i = 0; i < count; i++)
        ac_sys_library(found[i], false); /* stays open, as NVRTC does */
    ac_sys_matches_free(found, count);
}

static bool open_file(ac_ctx *cx, nvrtc *n, const char *path)
{
    open_builtins(cx, path);
    n->so = ac_sys_library(path, false);
    if (!n->so)
        return false;
    void *p;
#define LOOK_UP(name, symbol, args)          \
    if (!(p = ac_sys_symbol(n->so, symbol))) \
        return false;                        \
    memcpy(&n->name, &p, sizeof p);
    FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    n->path = ac_strdup(cx->region, path);
    return true;
}

/* The last match that can be opened: the newest version. */
static bool open_glob(ac_ctx *cx, nvrtc *n, const char *pattern)
{
    size_t count;
    bool found = false;
    char **names = ac_sys_matches(pattern, &count);
    for (size_t i = count; i-- > 0 && !found;)
        found = open_file(cx, n, names[i]);
    ac_sys_matches_free(names, count);
    return found;
}

static bool open_below(ac_ctx *cx, nvrtc *n, const char *folder, const char *const *patterns)
{
    for (; folder && *folder && *patterns; patterns++)
        if (open_glob(cx, n, ac_strf(cx->region, "%s/%s", folder, *patterns)))
            return true;
    return false;
}

static bool find(ac_ctx *cx, nvrtc *n)
{
#ifdef _WIN32
    static const char *const NAMES[] = {"nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"};
    static const char *const TOOLKIT[] = {"bin/nvrtc64_*_0.dll", "bin/x64/nvrtc64_*_0.dll", NULL};
    static const char *const PYTHON[] = {"Lib/site-packages/nvidia/cuda_nvrtc/bin/nvrtc64_*_0.dll", NULL};
#else
    static const char *const NAMES[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
    static const char *const TOOLKIT[] = {"lib64/libnvrtc.so.[0-9]*", "lib/libnvrtc.so.[0-9]*",
                                          "targets/*/lib/libnvrtc.so.[0-9]*", NULL};
    static const char *const PYTHON[] = {"lib/python3*/site-packages/nvidia/cu1[0-9]/lib/libnvrtc.so.[0-9]*",
                                         "lib/python3*/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.[0-9]*",
                                         "lib/python3*/dist-packages/nvidia/cu1[0-9]/lib/libnvrtc.so.[0-9]*",
                                         "lib/python3*/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.[0-9]*", NULL};
#endif
    const char *given = getenv("ARENAC_NVRTC"), *home = getenv("HOME");
    if (given && *given)
        return open_file(cx, n, given);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (open_file(cx, n, NAMES[i]))
            return true;
    return open_below(cx, n, getenv("CUDA_HOME"), TOOLKIT) || open_below(cx, n, getenv("CUDA_PATH"), TOOLKIT) ||
           open_below(cx, n, "/usr/local/cuda", TOOLKIT) || open_below(cx, n, "/usr/local/cuda-*", TOOLKIT) ||
           open_below(cx, n, getenv("VIRTUAL_ENV"), PYTHON) || open_below(cx, n, getenv("CONDA_PREFIX"), PYTHON) ||
           open_below(cx, n, home && *home ? ac_strf(cx->region, "%s/.local", home) : NULL, PYTHON) ||
           open_below(cx, n, "/usr/local", PYTHON) || open_below(cx, n, "/usr", PYTHON);
}

static int missing(ac_ctx *cx, const char *kind)
{
    const char *given = getenv("ARENAC_NVRTC");
    ac_error(cx, (ac_place){0}, E0502, "--emit %s needs NVRTC, which was not found", kind);
    if (given && *given)
        ac_detail(cx, "$ARENAC_NVRTC is %s", given);
    return ac_help(cx, "pip install nvidia-cuda-nvrtc-cu12 (in the active environment), install the CUDA toolkit, or "
                       "set ARENAC_NVRTC to "
                       "libnvrtc.so; --emit cu needs neither");
}

static int failed(ac_ctx *cx, const nvrtc *n, program p, int status, const char *arch)
{
    enum { SHOWN = 12 };
    size_t size = 0;
    int major = 0, minor = 0;
    n->version(&major, &minor);
    if (status == NVRTC_INVALID_OPTION) {
        ac_error(cx, (ac_place){0}, E0502, "NVRTC %d.%d does not support %s", major, minor, arch);
        ac_detail(cx, "%s", n->path);
        return ac_help(cx, "another version may: set ARENAC_NVRTC, or choose another target");
    }
    ac_error(cx, (ac_place){0}, E0901, "NVRTC %d.%d failed to compile the kernels (status %d)", major, minor, status);
    if (status != NVRTC_COMPILATION || n->log_size(p, &size) || !size)
        return AC_FAIL;
    char *text = ac_alloc(cx->region, size + 1), *save = NULL;
    text[size] = 0;
    n->log(p, text);
    char *line = strtok_r(text, "\n", &save);
    for (int i = 0; line && i < SHOWN; i++, line = strtok_r(NULL, "\n", &save))
        ac_detail(cx, "%s", line);
    return AC_FAIL;
}

static int run(ac_module *m, const ac_target *t, const nvrtc *n, program p, bool binary, ac_sink *to)
{
    const char *sm = t->cpu;
    const char *arch = ac_strf(m->cx->region, "--gpu-architecture=%s_%s", binary ? "sm" : "compute", sm + 3);
    const char *const options[] = {arch, "--fmad=false", "-std=c++14"};
    size_t size = 0;
    int status = n->compile(p, 3, options);
    if (status)
        return failed(m->cx, n, p, status, sm);
    status = binary ? n->cubin_size(p, &size) : n->ptx_size(p, &size);
    if (status || size < 2)
        return failed(m->cx, n, p, status ? status : -1, sm);
    char *bytes = ac_alloc(m->cx->region, size);
    status = binary ? n->cubin(p, bytes) : n->ptx(p, bytes);
    if (status)
        return failed(m->cx, n, p, status, sm);
    ac_put_n(to, bytes, binary ? size : size - 1); /* PTX ends in a zero */
    return AC_OK;
}

int ac_cuda_compile(ac_module *m, const ac_target *t, const char *source, bool binary, ac_sink *to)
{
    nvrtc n = {0};
    program p = NULL;
    if (!find(m->cx, &n))
        return missing(m->cx, binary ? "cubin" : "ptx");
    if (n.create(&p, source, ac_strf(m->cx->region, "%s.cu", m->name), 0, NULL, NULL))
        return ac_error(m->cx, (ac_place){0}, E0901, "NVRTC rejected the kernels");
    const int status = run(m, t, &n, p, binary, to);
    n.destroy(&p);
    return status; /* the library stays open: it has its own threads */
}
