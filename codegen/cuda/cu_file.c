/* cu_file.c - prints the .cu file of a module, top to bottom: comment, declarations that replace headers, helpers,
 * kernels; then, for a host compiler, weights, the table of launches and the model.
 *
 * One text serves four readers: NVRTC and nvcc see the kernels, a C compiler sees the host's part, and with
 * ARN_CUDA_EMU a C compiler sees both (runtime/arn_cuda_emu.h emulates the GPU). */
#include "codegen/cuda/cuda.h"

#include <inttypes.h>
#include <string.h>

typedef struct cu_file {
    ac_emit e;
    const ac_cuda_kernel **kernel; /* by function */
    int32_t *n_kernels, *first;    /* first: number of the function's first kernel in the file */
    ac_sink args, launches, table, symbols;
    int32_t n_args, n_launches, n_table;
    bool dynamic;      /* some kernel has dynamic shared memory */
    bool clusters;     /* some kernel has them */
    bool mail;         /* and blocks that wait for bytes */
    const char **name; /* by function: name of its kernels, with a %d if there are several */
} cu_file;

static const char PRELUDE[] =
    "/* Compile without contraction, which rounds differently: nvcc --fmad=false. */\n"
    "#if defined(ARN_CUDA_EMU)\n"
    "#include \"arn_cuda_emu.h\"\n"
    "#else\n"
    "/* Registers are not spilled to make room for more blocks on a multiprocessor; two have room for 200 a thread. "
    "*/\n"
    "#define ARN_BOUNDS(threads) __launch_bounds__(threads, threads <= 163 ? 2 : 1)\n"
    "#define ARN_KERNEL(threads) extern \"C\" __global__ void ARN_BOUNDS(threads)\n"
    "#define ARN_DEVICE static __device__ __forceinline__ __attribute__((unused))\n"
    "#define ARN_ALIGNED(bytes) __align__(bytes)\n"
    "#define ARN_UNROLL _Pragma(\"unroll\")\n"
    "ARN_DEVICE int dp4a(int a, int b, int c)\n{\n    int d;\n"
    "    asm(\"dp4a.s32.s32 %0, %1, %2, %3;\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c));\n    return d;\n}\n"
    "#define shfl_xor_f32(x, mask) __shfl_xor_sync(0xffffffffu, x, mask)\n"
    "#define shfl_xor_i32(x, mask) __shfl_xor_sync(0xffffffffu, x, mask)\n"
    "#define ARN_SHARED(type, name, count) __shared__ __align__(16) type name[count]\n"
    "#endif\n"
    "#if defined(__CUDACC_RTC__)\n"
    "typedef signed char int8_t;\ntypedef short int16_t;\ntypedef int int32_t;\ntypedef long long int64_t;\n"
    "typedef unsigned char uint8_t;\ntypedef unsigned short uint16_t;\ntypedef unsigned int uint32_t;\n"
    "typedef unsigned long long uint64_t;\n"
    "#define INT64_C(k) k##LL\n#define UINT64_C(k) k##ULL\n"
    "#define INT8_MIN (-128)\n#define INT8_MAX 127\n#define UINT8_MAX 255\n"
    "#define INT16_MIN (-32768)\n#define INT16_MAX 32767\n#define UINT16_MAX 65535\n"
    "#define INT32_MIN (-2147483647 - 1)\n#define INT32_MAX 2147483647\n#define UINT32_MAX 4294967295u\n"
    "#define INT64_MIN (-9223372036854775807LL - 1)\n#define INT64_MAX 9223372036854775807LL\n"
    "#define UINT64_MAX 18446744073709551615ULL\n"
    "#endif\n\n";

/* Late stores: a thread's copies between two calls of late_group are a group; late_wait(n) waits for all but n. */
static const char LATE[] =
    "#if !defined(ARN_CUDA_EMU)\n"
    "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\n"
    "#define ARN_LATE(bytes, kind) \\\n"
    "    ARN_DEVICE void copy_late##bytes(void *to, const void *from, int some) \\\n    { \\\n"
    "        asm volatile(\"cp.async.\" kind \".shared.global [%0], [%1], \" #bytes \", %2;\" \\\n"
    "                     :: \"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(from), \"r\"(some ? bytes : 0)); \\\n"
    "    }\n"
    "ARN_LATE(4, \"ca\")\nARN_LATE(8, \"ca\")\nARN_LATE(16, \"cg\")\n"
    "#define late_group() asm volatile(\"cp.async.commit_group;\" ::: \"memory\")\n"
    "#define late_wait(n) asm volatile(\"cp.async.wait_group \" #n \";\" ::: \"memory\")\n"
    "#else\n"
    "#define ARN_LATE(bytes, type) \\\n"
    "    ARN_DEVICE void copy_late##bytes(void *to, const void *from, int some) \\\n    { \\\n"
    "        type nothing = {0}; \\\n"
    "        *(type *)to = some ? *(const type *)from : nothing; \\\n    }\n"
    "ARN_LATE(4, int1)\nARN_LATE(8, int2)\nARN_LATE(16, int4)\n"
    "#define late_group()\n#define late_wait(n)\n"
    "#endif\n#endif\n\n";

static const char EARLY[] =
    "#if !defined(ARN_CUDA_EMU)\n"
    "/* A kernel starts while the one before it still runs. Here it waits for the end of that one; only weights may "
    "be\n"
    " * loaded earlier. Then the next kernel may start. */\n"
    "#define ARN_BEGIN() asm volatile(\"griddepcontrol.wait;\\n\\tgriddepcontrol.launch_dependents;\" ::: \"memory\")\n"
    "#endif\n\n";

static const char DYNAMIC[] =
    "#if !defined(ARN_CUDA_EMU)\n"
    "/* Shared memory above 48 KiB: places in what the launch asks for. */\n"
    "extern __shared__ __align__(1024) uint8_t arn_dynamic[];\n"
    "#define ARN_DYNAMIC(type, name, count, at) type *const name = (type *)(arn_dynamic + (at))\n"
    "#endif\n\n";

static const char CLUSTERS[] =
    "#if !defined(ARN_CUDA_EMU)\n"
    "/* So many blocks run at the same time; each may use the shared memory of the others, which is at the same "
    "place.\n"
    " */\n"
    "#define ARN_CLUSTER_KERNEL(threads, blocks) \\\n    extern \"C\" __global__ void __cluster_dims__(blocks, 1, 1) "
    "ARN_BOUNDS(threads)\n"
    "#define ARN_OF(type, name, rank) ((type *)arn_of(name, rank))\n"
    "ARN_DEVICE void *arn_of(void *at, int rank)\n{\n    void *there;\n"
    "    asm(\"mapa.u64 %0, %1, %2;\" : \"=l\"(there) : \"l\"(at), \"r\"(rank));\n    return there;\n}\n"
    "/* The blocks have begun, so their memory is there: no data is given. */\n"
    "ARN_DEVICE void arn_cluster_begin(void)\n{\n"
    "    asm volatile(\"barrier.cluster.arrive.relaxed.aligned;\\n\\tbarrier.cluster.wait.aligned;\" ::: "
    "\"memory\");\n}\n"
    "ARN_DEVICE void arn_cluster_wait(void)\n{\n"
    "    asm volatile(\"barrier.cluster.arrive.release.aligned;\\n\\tbarrier.cluster.wait.acquire.aligned;\" ::: "
    "\"memory\");\n}\n"
    "#endif\n\n";

static const char MAIL[] =
    "#if !defined(ARN_CUDA_EMU)\n"
    "/* Stores to a block of the cluster add their bytes to a counter there, in turn one of two. The block waits "
    "until\n"
    " * all have come. */\n"
    "#define ARN_MAIL() \\\n"
    "    __shared__ uint64_t arn_box[2]; \\\n    uint32_t arn_mails = 0; \\\n    arn_open_boxes(arn_box)\n"
    "#define arn_send_f32(to, rank, v) arn_send(to, arn_box + (arn_mails & 1), rank, __float_as_uint(v))\n"
    "#define arn_send_i32(to, rank, v) arn_send(to, arn_box + (arn_mails & 1), rank, (uint32_t)(v))\n"
    "#define arn_send_f32x4(to, rank, a, b, c, d) \\\n"
    "    arn_send_i32x4(to, rank, __float_as_int(a), __float_as_int(b), __float_as_int(c), __float_as_int(d))\n"
    "#define arn_send_i32x4(to, rank, a, b, c, d) arn_send4(to, arn_box + (arn_mails & 1), rank, a, b, c, d)\n"
    "#define arn_mail_wait(bytes) \\\n"
    "    arn_take_mail(arn_box + (arn_mails & 1), arn_mails / 2 & 1, bytes); \\\n    arn_mails++\n"
    "ARN_DEVICE uint32_t arn_at(const void *at)\n{\n    return (uint32_t)__cvta_generic_to_shared(at);\n}\n"
    "ARN_DEVICE uint32_t arn_at_of(const void *at, int rank)\n{\n    uint32_t there;\n"
    "    asm(\"mapa.shared::cluster.u32 %0, %1, %2;\" : \"=r\"(there) : \"r\"(arn_at(at)), \"r\"(rank));\n"
    "    return there;\n}\n"
    "ARN_DEVICE void arn_open_boxes(uint64_t *box)\n{\n    if (threadIdx.x == 0)\n"
    "        asm volatile(\"mbarrier.init.shared::cta.b64 [%0], 1;\\n\\tmbarrier.init.shared::cta.b64 [%0 + 8], "
    "1;\\n\\t\"\n                     \"fence.mbarrier_init.release.cluster;\" ::\"r\"(arn_at(box)) : "
    "\"memory\");\n}\n"
    "ARN_DEVICE void arn_send(void *to, const uint64_t *box, int rank, uint32_t v)\n{\n"
    "    asm volatile(\"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];\"\n"
    "                 ::\"r\"(arn_at_of(to, rank)), \"r\"(v), \"r\"(arn_at_of(box, rank)) : \"memory\");\n}\n"
    "ARN_DEVICE void arn_send4(void *to, const uint64_t *box, int rank, int32_t a, int32_t b, int32_t c, int32_t "
    "d)\n{\n"
    "    asm volatile(\"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.s32 [%0], {%1, %2, %3, %4}, "
    "[%5];\"\n                 ::\"r\"(arn_at_of(to, rank)), \"r\"(a), \"r\"(b), \"r\"(c), \"r\"(d), "
    "\"r\"(arn_at_of(box, rank)) : \"memory\");\n}\n"
    "/* All threads of the block. */\n"
    "ARN_DEVICE void arn_take_mail(uint64_t *box, uint32_t turn, uint32_t bytes)\n{\n    if (threadIdx.x == 0)\n"
    "        asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\" ::\"r\"(arn_at(box)), "
    "\"r\"(bytes) : \"memory\");\n    __syncthreads();\n"
    "    asm volatile(\"{\\n\\t.reg .pred p;\\nagain:\\n\\t\"\n"
    "                 \"mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\\n\\t@!p bra again;\\n\\t}\"\n"
    "                 ::\"r\"(arn_at(box)), \"r\"(turn) : \"memory\");\n}\n"
    "#endif\n\n";

/* Helpers are static functions of C: those for the GPU are marked __device__. */
static void put_helpers(const ac_sink *from, ac_sink *to)
{
    const char *p = from->text, *end = p ? p + from->n : NULL;
    for (bool start = true; p < end; p++) {
        if (start && end - p > 7 && !strncmp(p, "static ", 7)) {
            ac_put(to, "ARN_DEVICE ");
            p += 7;
        }
        start = *p == '\n';
        ac_putc(to, *p);
    }
}

static const char *kernel_name(const cu_file *f, int32_t fn, int32_t k)
{
    return f->n_kernels[fn] > 1 ? ac_strf(f->e.region, "%s_k%d", f->e.fn[fn], k) : f->e.fn[fn];
}

static bool is_param(const ac_cuda_kernel *k, int32_t buf)
{
    return k->uses[buf] && k->fn->buf.item[buf].role != AC_BUF_LOCAL;
}

/* The emulation calls kernels through an array of addresses. */
static void put_twin(cu_file *f, const ac_cuda_kernel *k, const char *name, ac_sink *to)
{
    ac_putf(to, "#if defined(ARN_CUDA_EMU)\nstatic void %s_call(void *const *a)\n{\n    %s(", name, name);
    int32_t n = 0;
    ac_sink args;
    ac_sink_open(&args, f->e.m->cx);
    for (int32_t i = 0; i < k->fn->buf.n; i++)
        if (is_param(k, i)) {
            ac_putf(&args, "%s(%s%s *)a[%d]", n ? ", " : "", k->uses[i] & C_WRITTEN ? "" : "const ",
                    ac_dtype_c(k->fn->buf.item[i].dtype), n);
            n++;
        }
    if (k->fn->fails)
        ac_putf(&args, "%s(int32_t *)a[%d]", n ? ", " : "", n);
    ac_put(&args, ");");
    ac_c_put_wrapped(to, ac_sink_text(&args), 8);
    ac_putf(to, "\n}\n#endif\n\n");
}

/* Parameters that overlap no other one, except reads of the arena: a compiler may move a load through a
 * __restrict__ pointer above ARN_BEGIN, when the kernel that stores the value may still run. */
static const bool *restricted(const ac_module *m, int32_t fn, const ac_cuda_kernel *k)
{
    bool *yes = ac_module_restricted(m, fn);
    for (int32_t i = 0; i < m->n_calls; i++)
        for (int32_t a = 0; m->call[i].fn == fn && a < m->call[i].n_arg; a++)
            yes[a] &= m->call[i].arg[a].space == AC_SPACE_CONST || !(k->uses[a] & C_READ);
    return yes;
}

static bool has_barrier(const ac_cuda_kernel *k)
{
    return k->cluster || (!k->flat && k->threads > 1);
}

static int put_kernels(cu_file *f, ac_sink *to)
{
    const ac_module *m = f->e.m;
    const bool early = ac_target_early(m->target);
    for (int32_t i = 0; i < m->n_fn; i++) {
        if (!(f->kernel[i] = ac_cuda_kernels(m->cx, m->target, m->fn[i], &f->n_kernels[i])))
            return AC_FAIL;
        f->first[i] = f->n_table;
        for (int32_t n = 0; n < f->n_kernels[i]; n++) {
            const ac_cuda_kernel *k = &f->kernel[i][n];
            const char *name = kernel_name(f, i, n);
            ac_cuda_mails mail = {0};
            const ac_csig sig = {.name = name,
                                 .comment = n ? NULL : ac_emit_steps(&f->e, i),
                                 .restricted = restricted(m, i, k),
                                 .first = early && !ac_cuda_weights_first(k->fn) ? "ARN_BEGIN();" : NULL,
                                 .threads = k->threads,
                                 .shared_at = k->shared_at,
                                 .cluster = k->cluster,
                                 .mail = &mail,
                                 .flat = k->flat};
            AC_TRY(ac_c_print_fn(&f->e.file, k->fn, &sig, to));
            put_twin(f, k, name, to);
            ac_putf(&f->table, "    {\"%s\", %du, %d, ARN_TWIN(%s_call), %lldu, %lldu},\n", name, k->threads,
                    has_barrier(k), name, k->shared_at ? (long long)k->shared : 0, (long long)k->cluster);
            f->dynamic |= k->shared_at != NULL;
            f->clusters |= k->cluster > 0;
            f->mail |= mail.bytes != NULL;
            ac_putf(&f->symbols, "        (const void *)%s,\n", name);
            f->n_table++;
        }
    }
    return AC_OK;
}

static bool uses_late(const ac_module *m)
{
    for (int32_t i = 0; i < m->n_fn; i++)
        for (ac_x x = 1; x < m->fn[i]->code.n; x++) {
            const ac_ins *in = &m->fn[i]->code.item[x];
            if (in->op == AC_L_STORE && in->flags & AC_F_LATE)
                return true;
        }
    return false;
}

/* ------------------------------------------------------------------ host */

static void put_launches(cu_file *f)
{
    static const char *const SPACE[] = {
        [AC_SPACE_ARENA] = "ARENA", [AC_SPACE_STATE] = "STATE", [AC_SPACE_CONST] = "WEIGHTS"};
    const ac_module *m = f->e.m;
    for (int32_t i = 0; i < m->n_calls; i++) {
        const ac_call *c = &m->call[i];
        for (int32_t n = 0; n < f->n_kernels[c->fn]; n++) {
            const ac_cuda_kernel *k = &f->kernel[c->fn][n];
            const int32_t first = f->n_args;
            for (int32_t a = 0; a < c->n_arg; a++) {
                if (!is_param(k, a))
                    continue;
                const bool konst = c->arg[a].space == AC_SPACE_CONST;
                const ac_loop_fn *own = c->low && a < c->low->fn->buf.n ? c->low->fn : k->fn; /* its sizes, if shared */
                const ac_buf *b = &own->buf.item[a];
                const ac_bytes at = konst ? f->e.offset[c->arg[a].offset] : c->arg[a].offset;
                ac_putf(&f->args, "    {ARN_CUDA_%s, 0x%04llx, %lldu}, /* %s */\n", SPACE[c->arg[a].space],
                        (unsigned long long)at, (long long)ac_dtype_size(b->dtype, b->count), k->fn->buf.item[a].name);
                f->n_args++;
            }
            if (k->fn->fails) {
                ac_put(&f->args, "    {ARN_CUDA_STATUS, 0, 4u},\n");
                f->n_args++;
            }
            ac_putf(&f->launches, "    {%d, %d, %lldu, %d, %d}, /* %s */\n", f->first[c->fn] + n, i,
                    (long long)k->blocks, first, f->n_args - first, kernel_name(f, c->fn, n));
            f->n_launches++;
        }
    }
}

static int put_weights(cu_file *f)
{
    ac_emit *e = &f->e;
    if (e->weights == AC_WEIGHTS_BLOB || !e->m->n_konst)
        return AC_OK;
    if (e->weights == AC_WEIGHTS_ASM) {
        ac_emit_asm(e);
        return AC_OK;
    }
    uint8_t *bytes;
    ac_bytes total;
    AC_TRY(ac_blob_bytes(e->m, &bytes, &total));
    ac_putf(e->to, "static const union {\n    uint8_t bytes[%lld];\n    uint64_t align;\n} %s_text = {{\n",
            (long long)total, e->m->name);
    for (ac_bytes i = 0; i < total; i++)
        ac_putf(e->to, "%d,%s", bytes[i], i % 32 == 31 ? "\n" : "");
    ac_put(e->to, "\n}};\n\n");
    return AC_OK;
}

static void put_table(const cu_file *f, const char *type, const char *name, const ac_sink *rows, int32_t n)
{
    if (n)
        ac_putf(f->e.to, "static const struct arn_cuda_%s %s_%s[%d] = {\n%.*s};\n\n", type, f->e.m->name, name, n,
                (int)rows->n, rows->text);
}

static const char *or_null(const cu_file *f, const char *name, int32_t n)
{
    return n ? ac_strf(f->e.region, "%s_%s", f->e.m->name, name) : "NULL";
}

/* With nvcc the kernels are a part of the program, which finds them without an image. */
static const char *put_finder(cu_file *f)
{
    const char *p = f->e.m->name;
    if (!f->n_table)
        return "NULL";
    ac_putf(f->e.to,
            "#if defined(__CUDACC__) && !defined(ARN_CUDA_EMU)\n"
            "/* The driver's handle of a kernel that nvcc compiled into this program, in the current context. */\n"
            "static int %s_linked(void **function, int32_t kernel)\n{\n"
            "    static const void *const symbol[%d] = {\n%s    };\n"
            "    cudaFunction_t f = NULL;\n"
            "    const int error = (int)cudaGetFuncBySymbol(&f, symbol[kernel]);\n"
            "    *function = (void *)f;\n    return error;\n}\n"
            "#define %s_LINKED %s_linked\n#else\n#define %s_LINKED NULL\n#endif\n\n",
            p, f->n_table, ac_sink_text(&f->symbols), f->e.file.upper, p, f->e.file.upper);
    return ac_strf(f->e.region, "%s_LINKED", f->e.file.upper);
}

static int put_model(cu_file *f)
{
    ac_emit *e = &f->e;
    const ac_module *m = e->m;
    const char *p = m->name, *U = e->file.upper;
    put_table(f, "kernel", "kernels", &f->table, f->n_table);
    put_table(f, "arg", "args", &f->args, f->n_args);
    put_table(f, "launch", "launches", &f->launches, f->n_launches);
    if (m->state_bytes)
        ac_putf(e->to,
                "static void %s_first_state(void *state)\n{\n    %s_mem m = {0};\n    m.state = state;\n    "
                "%s_reset(&m);\n}\n\n",
                p, p, p);
    const char *linked = put_finder(f), *images = "0, NULL";
    if (m->n_images && f->n_table && !m->host) {
        ac_sink source;
        ac_sink_open(&source, m->cx);
        AC_TRY(ac_cuda_source(e->m, NULL, &source));
        AC_TRY(ac_cuda_images(e->m, ac_sink_text(&source), U, e->to));
        images = ac_strf(e->region, "%s_IMAGES", U);
    }
    const char *weights = e->weights == AC_WEIGHTS_BLOB || !m->n_konst ? "NULL"
                          : e->weights == AC_WEIGHTS_ASM               ? ac_strf(e->region, "%s_blob", p)
                                                                       : ac_strf(e->region, "%s_text.bytes", p);
    ac_putf(e->to,
            "const struct arn_cuda_model %s_cuda = {\n    \"%s\", %s_ARENA_BYTES, %s_STATE_BYTES, %lldu, %s, %s,\n"
            "    %d, %d, %d, %s, %s, %s, %d, %s, %s\n};\n\n",
            p, p, U, U, m->n_konst ? (long long)e->total : 0, weights,
            m->state_bytes ? ac_strf(e->region, "%s_first_state", p) : "NULL", f->n_table, f->n_launches, m->n_calls,
            or_null(f, "kernels", f->n_table), or_null(f, "launches", f->n_launches), or_null(f, "args", f->n_args),
            ac_target_early(m->target), linked, images);
    return AC_OK;
}

/* `run` and `bench`: the model with its memory on the host. */
static int put_host(cu_file *f, ac_cnames *names)
{
    ac_emit *e = &f->e;
    const char *p = e->m->name;
    if (e->m->host)
        ac_emit_host_types(e);
    AC_TRY(put_weights(f));
    AC_TRY(ac_emit_reset(e, names));
    put_launches(f);
    AC_TRY(put_model(f));
    if (!e->m->host)
        return AC_OK;
    AC_TRY(ac_emit_init(e));
    ac_putf(e->to,
            "static int %s_steps(const %s_mem *m, const struct arn_hook *hook)\n{\n    struct arn_mem mem = {0};\n"
            "    mem.arena = m->arena;\n    mem.weights = m->weights;\n%s    return arn_cuda_steps(&%s_cuda, &mem, "
            "hook);\n}\n\n",
            p, p, e->m->state_bytes ? "    mem.state = m->state;\n" : "", p);
    ac_emit_host_model(e);
    return AC_OK;
}

static void open_file(cu_file *f, ac_module *m, ac_sink *to)
{
    ac_region *r = m->cx->region;
    *f = (cu_file){.e = {.m = m, .region = r, .to = to, .weights = ac_module_weights(m)}};
    ac_cfile_open(&f->e.file, m->cx, &ac_dialect_cuda, m->target, m->name);
    f->e.fn = AC_NEW_N(r, const char *, m->n_fn + 1);
    f->e.konst = AC_NEW_N(r, const char *, m->n_konst + 1);
    f->e.offset = AC_NEW_N(r, ac_bytes, m->n_konst + 1);
    f->kernel = AC_NEW_N(r, const ac_cuda_kernel *, m->n_fn + 1);
    f->n_kernels = AC_NEW_N(r, int32_t, m->n_fn + 1);
    f->first = AC_NEW_N(r, int32_t, m->n_fn + 1);
    ac_sink_open(&f->args, m->cx);
    ac_sink_open(&f->launches, m->cx);
    ac_sink_open(&f->table, m->cx);
    ac_sink_open(&f->symbols, m->cx);
}

int ac_cuda_source(ac_module *m, const ac_emit_names *names, ac_sink *to)
{
    cu_file f;
    ac_cnames taken;
    ac_sink kernels;
    open_file(&f, m, to);
    f.e.blob_name = names ? names->blob : "";
    if (names) { /* kernels know nothing of weights */
        AC_TRY(ac_consts_make(m));
        ac_consts_layout(m, f.e.offset, &f.e.total);
    }
    AC_TRY(ac_emit_take_names(&f.e, &taken));
    ac_sink_open(&kernels, m->cx);
    AC_TRY(put_kernels(&f, &kernels));
    ac_putf(to, "/* %s.cu - made by arenac %s from %s", m->name, m->version, ac_c_comment_text(f.e.region, m->source));
    if (m->options && *m->options)
        ac_putf(to, "; options: %s", ac_c_comment_text(f.e.region, m->options));
    ac_put(to, " */\n#if !defined(__CUDACC_RTC__)\n#include <stdint.h>\n#endif\n"
               "#if defined(__CUDACC__) || defined(ARN_CUDA_EMU)\n");
    ac_put(to, PRELUDE);
    ac_put(to, uses_late(m) ? LATE : "");
    ac_put(to, ac_target_early(m->target) ? EARLY : "");
    ac_put(to, f.dynamic ? DYNAMIC : "");
    ac_put(to, f.clusters ? CLUSTERS : "");
    ac_put(to, f.mail ? MAIL : "");
    ac_put_n(to, f.e.file.types.text, f.e.file.types.n);
    put_helpers(&f.e.file.helpers, to);
    ac_put_n(to, kernels.text, kernels.n);
    ac_put(to, "#endif\n");
    if (!names)
        return AC_OK;
    ac_putf(to,
            "\n#if !defined(__CUDACC_RTC__)\n#include <string.h>\n#include \"%s\"\n\n#ifndef "
            "%s_SECTION_RODATA\n#define %s_SECTION_RODATA\n#endif\n"
            "#if defined(ARN_CUDA_EMU)\n#define ARN_TWIN(f) f\n#else\n#define ARN_TWIN(f) NULL\n#endif\n\n",
            ac_c_comment_text(f.e.region, names->header), f.e.file.upper, f.e.file.upper);
    AC_TRY(put_host(&f, &taken));
    ac_put(to, "#endif\n");
    return AC_OK;
}
