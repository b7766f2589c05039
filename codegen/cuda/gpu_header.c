/* gpu_header.c - prints the header of a model for GPUs: the common part of all headers, then thin wrappers of
 * runtime/arn_cuda.h. */
#include "codegen/cuda/cuda.h"

/* Models whose operators draw random numbers: counters in the state. */
static void put_seed(const ac_module *m, ac_sink *to)
{
    const char *p = m->name;
    if (!m->n_random)
        return;
    ac_putf(to,
            "/* The next run draws the random numbers of run number `run` of this seed. A run counts on by itself; "
            "after open\n * and restart: run 0 of the seed that the file was compiled with. */\n"
            "static inline int %s_seed(%s_gpu *g, uint64_t seed, uint32_t run)\n{\n"
            "    static const uint64_t at[%d] = {",
            p, p, m->n_random);
    for (int32_t i = 0; i < m->n_random; i++)
        ac_putf(to, "%s0x%04llx", i ? ", " : "", (unsigned long long)m->random[i]->offset);
    ac_putf(to,
            "};\n    uint32_t r[4], i;\n    int status = 0;\n    r[0] = (uint32_t)seed;\n"
            "    r[1] = (uint32_t)(seed >> 32);\n    r[2] = run;\n    r[3] = 0;\n"
            "    for (i = 0; i < %du && !status; i++)\n"
            "        status = arn_cuda_write(g, arn_cuda_address(g, ARN_CUDA_STATE, at[i]), r, sizeof r);\n"
            "    return status;\n}\n",
            m->n_random);
}

/* For programs with a GPU: thin wrappers of runtime/arn_cuda.h. */
static void put_gpu_api(const ac_module *m, ac_sink *to)
{
    const char *p = m->name, *U = ac_emit_upper(m);
    bool blob = ac_module_weights(m) == AC_WEIGHTS_BLOB;
    ac_putf(
        to,
        "\nextern const struct arn_cuda_model %s_cuda;\n"
        "typedef struct arn_cuda %s_gpu;\n\n"
        "/* image: the bytes of the .cubin or of the .ptx, followed by a zero, or NULL: the kernels that nvcc "
        "compiled\n"
        " * into this program; weights: %s. NULL: *why tells the reason. Runs, reads and writes of one %s_gpu "
        "follow each other on its stream. */\n"
        "static inline %s_gpu *%s_open(const void *image, const void *weights, const char **why)\n{\n"
        "    return arn_cuda_open(&%s_cuda, image, weights, why);\n}\n"
        "/* The same on device 0, 1, ..; stream: a CUstream of the caller for everything, or NULL. For memory of the\n"
        " * caller see arn_cuda_open_on. */\n"
        "static inline %s_gpu *%s_open_on(int32_t device, void *stream, const void *image, const void *weights,\n"
        "    const char **why)\n{\n    struct arn_cuda_place place = {0};\n    place.device = device;\n"
        "    place.stream = stream;\n    return arn_cuda_open_on(&%s_cuda, &place, image, weights, why);\n}\n",
        p, p, blob ? "the blob" : "NULL", p, p, p, p, p, p, p);
    for (int32_t i = 0; i < m->n_inputs + m->n_outputs; i++) {
        const bool in = i < m->n_inputs;
        const int32_t n = in ? i : i - m->n_inputs;
        const ac_io *io = in ? &m->input[n] : &m->output[n];
        const char *space = io->space == AC_SPACE_STATE ? "STATE" : "ARENA", *type = ac_dtype_c(io->tensor->dtype);
        const char *kind = in ? "in" : "out", *K = in ? "IN" : "OUT";
        if (io->space == AC_SPACE_CONST)
            continue;
        ac_putf(to,
                "static inline uint64_t %s_%s%d(const %s_gpu *g) /* its address on the device */\n{\n"
                "    return arn_cuda_address(g, ARN_CUDA_%s, %s_%s%d_OFFSET);\n}\n",
                p, kind, n, p, space, U, K, n);
        ac_putf(to,
                "static inline int %s_%s_%s%d(%s_gpu *g, %s%s *x) /* copies %s */\n{\n    return arn_cuda_%s(g, "
                "%s_%s%d(g), x, %s_%s%d_BYTES);\n}\n",
                p, in ? "write" : "read", kind, n, p, in ? "const " : "", type, in ? "in" : "out, and waits",
                in ? "write" : "read", p, kind, n, U, K, n);
        ac_putf(
            to,
            "static inline int %s_%s_%s%d_async(%s_gpu *g, %s%s *x) /* the same without waiting; x is pinned */\n{\n"
            "    return arn_cuda_%s_async(g, %s_%s%d(g), x, %s_%s%d_BYTES);\n}\n",
            p, in ? "write" : "read", kind, n, p, in ? "const " : "", type, in ? "write" : "read", p, kind, n, U, K, n);
    }
    ac_putf(
        to,
        "static inline int %s_run(%s_gpu *g, void *stream) /* a CUstream of the caller, or NULL; does not wait */\n{\n"
        "    return arn_cuda_run(g, stream);\n}\n"
        "static inline int %s_capture(%s_gpu *g) /* later runs are one launch of a graph */\n{\n    return "
        "arn_cuda_capture(g);\n}\n"
        "static inline int %s_wait(%s_gpu *g) /* for the runs so far; %s_EINDEX when an index was out of range */\n{\n"
        "    return arn_cuda_wait(g);\n}\n"
        "%sstatic inline void %s_close(%s_gpu *g)\n{\n    arn_cuda_close(g);\n}\n",
        p, p, p, p, p, p, U,
        m->state_bytes ? ac_strf(m->cx->region,
                                 "static inline int %s_restart(%s_gpu *g) /* state as after open */\n{\n    return "
                                 "arn_cuda_restart(g);\n}\n",
                                 p, p)
                       : "",
        p, p);
    put_seed(m, to);
}

static void put_host_mem(const ac_module *m, ac_sink *to)
{
    const char *p = m->name;
    ac_putf(to, "\ntypedef struct %s_mem {\n    void *arena;\n    const void *weights;\n%s} %s_mem;\n", p,
            m->state_bytes ? "    void *state;\n" : "", p);
}

int ac_cuda_header(const ac_module *m, ac_sink *to)
{
    ac_emit_header_begin(m, "arn_cuda.h", to);
    ac_emit_header_statuses(m, to);
    if (m->host || m->state_bytes)
        put_host_mem(m, to);
    if (!m->host)
        put_gpu_api(m, to);
    ac_emit_texts(m, to);
    ac_emit_header_end(to);
    return AC_OK;
}
