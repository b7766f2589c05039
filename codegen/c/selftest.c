/* selftest.c - prints test vectors and a comparison for one model, as C; see selftest.h. */
#include "codegen/c/selftest.h"
#include "codegen/c/emit.h"

#include <inttypes.h>

/* ------------------------------------------------------------------ vectors */

/* Integers are written as numbers, floats as the words of their bits, so nothing is rounded. */
static ac_dtype written_as(ac_dtype d)
{
    return ac_dtype_is_int(d) ? d : ac_c_unsigned((int32_t)ac_dtype_size(d, 1) * 8);
}

static void put_elements(ac_sink *to, ac_dtype d, const uint8_t *bytes, int64_t n)
{
    ac_region *r = to->cx->region;
    size_t start = to->n;
    ac_put(to, "       ");
    for (int64_t i = 0; i < n; i++) {
        if (to->n - start > 105) {
            ac_put(to, "\n       ");
            start = to->n;
        }
        const int64_t x = ac_dtype_get_int(d, bytes, i);
        if (d == AC_U64)
            ac_putf(to, " 0x%" PRIx64 "u", (uint64_t)x);
        else
            ac_putf(to, " %s", d == AC_U32 ? ac_c_uint(r, (uint64_t)x).text : ac_c_int(r, x).text);
        ac_put(to, i + 1 < n ? "," : "");
    }
    ac_put(to, n ? "\n" : " 0\n");
}

/* One array for an input or output, all sets. */
static void put_array(const ac_module *m, const char *name, const ac_io *io, const uint8_t *const *bytes,
                      int32_t stride, int32_t sets, ac_sink *to)
{
    const ac_dtype d = written_as(io->tensor->dtype);
    const int64_t n = io->bytes / ac_dtype_size(io->tensor->dtype, 1);
    ac_putf(to, "/* %s %s */\nstatic const %s %s[%d][%lld] = {\n", ac_c_comment_text(m->cx->region, io->tensor->name),
            ac_tensor_str(m->cx, io->tensor), ac_dtype_c(d), name, sets, (long long)(n ? n : 1));
    for (int32_t s = 0; s < sets; s++) {
        ac_put(to, "    {\n");
        put_elements(to, d, bytes[s * stride], n);
        ac_put(to, s + 1 < sets ? "    },\n" : "    }};\n\n");
    }
}

void ac_selftest_put_inputs(const ac_module *m, const ac_vectors *v, ac_sink *to)
{
    for (int32_t i = 0; i < m->n_inputs; i++)
        if (m->input[i].space != AC_SPACE_CONST)
            put_array(m, ac_strf(m->cx->region, "input%d", i), &m->input[i], v->input + i, m->n_inputs, v->n, to);
}

static void put_outputs(const ac_module *m, const ac_vectors *v, ac_sink *to)
{
    ac_region *r = m->cx->region;
    for (int32_t i = 0; i < m->n_outputs; i++)
        put_array(m, ac_strf(r, "output%d", i), &m->output[i], v->output + i, m->n_outputs, v->n, to);
}

/* ------------------------------------------------------------------ the function */

static void put_begin(const ac_module *m, const char *header, const char *file, ac_sink *to)
{
    const char *p = m->name, *U = ac_emit_upper(m);
    ac_putf(to,
            "/* %s - made by arenac %s from %s: inputs, and the outputs that they must give bit for bit.\n"
            " *\n"
            " *     int status = %s_selftest(&m);      all sets, one after the other; m as for %s_init\n"
            " *\n"
            " * %s_OK: every byte is equal; %s_EDIFFERENT: one is not; else what %s_init or %s_run said. */\n"
            "#include \"%s\"\n\n#include <string.h>\n\n",
            ac_c_comment_text(m->cx->region, file), m->version, ac_c_comment_text(m->cx->region, m->source), p, p, U, U,
            p, p, header);
    ac_putf(to,
            "/* Around each run, and at the first byte of an output that differs: to time, to light a lamp. */\n"
            "#ifndef %s_SELFTEST_BEGIN\n#define %s_SELFTEST_BEGIN(set) ((void)(set))\n#endif\n"
            "#ifndef %s_SELFTEST_END\n#define %s_SELFTEST_END(set) ((void)(set))\n#endif\n"
            "#ifndef %s_SELFTEST_DIFFERENT\n"
            "#define %s_SELFTEST_DIFFERENT(set, output, byte) ((void)(set), (void)(byte))\n#endif\n\n",
            U, U, U, U, U, U);
}

void ac_selftest_put_fill(const ac_module *m, ac_sink *to)
{
    const char *U = ac_emit_upper(m);
    const int32_t i = m->streamed_input;
    ac_putf(to,
            "static void put_row(void *user, uint32_t row, %s *to)\n"
            "{\n"
            "    const uint32_t *set = (const uint32_t *)user;\n"
            "    memcpy(to, (const uint8_t *)input%d[*set] + row * %s_IN%d_ROW_BYTES, %s_IN%d_ROW_BYTES);\n"
            "}\n\n",
            ac_dtype_c(m->input[i].tensor->dtype), i, U, i, U, i);
}

static void put_compare(ac_sink *to)
{
    ac_put(to, "/* The first byte that differs; n: none does. */\n"
               "static size_t first_different(const void *found, const void *expected, size_t n)\n"
               "{\n"
               "    const uint8_t *a = (const uint8_t *)found, *b = (const uint8_t *)expected;\n"
               "    size_t i = 0;\n"
               "    while (i < n && a[i] == b[i])\n"
               "        i++;\n"
               "    return i;\n"
               "}\n\n");
}

void ac_selftest_put_copies(const ac_module *m, ac_sink *to)
{
    const char *p = m->name, *U = ac_emit_upper(m);
    for (int32_t i = 0; i < m->n_inputs; i++)
        if (!m->input[i].rows && m->input[i].space != AC_SPACE_CONST)
            ac_putf(to, "    memcpy((void *)%s_in%d(m), input%d[set], %s_IN%d_BYTES);\n", p, i, i, U, i);
}

static void put_run(const ac_module *m, ac_sink *to)
{
    const char *p = m->name, *U = ac_emit_upper(m);
    ac_putf(to, "/* One set: a status of %s_run, or %s_EDIFFERENT. */\n", p, U);
    ac_putf(to, "static int run_set(const %s_mem *m, uint32_t set)\n{\n    int status;\n", p);
    ac_selftest_put_copies(m, to);
    ac_putf(to, "    %s_SELFTEST_BEGIN(set);\n    status = %s_run(m%s);\n    %s_SELFTEST_END(set);\n", U, p,
            m->streamed ? ", put_row, &set" : "", U);
    if (!m->n_outputs)
        ac_put(to, "    return status;\n}\n\n");
    for (int32_t i = 0; i < m->n_outputs; i++)
        ac_putf(to,
                "    if (status == %s_OK) {\n"
                "        const size_t at = first_different((const void *)%s_out%d(m), output%d[set], %s_OUT%d_BYTES);\n"
                "        if (at < %s_OUT%d_BYTES) {\n"
                "            status = %s_EDIFFERENT;\n"
                "            %s_SELFTEST_DIFFERENT(set, %d, at);\n"
                "        }\n"
                "    }\n",
                U, p, i, i, U, i, U, i, U, U, i);
    if (m->n_outputs)
        ac_put(to, "    return status;\n}\n\n");
}

static void put_function(const ac_module *m, const ac_vectors *v, ac_sink *to)
{
    const char *p = m->name;
    ac_putf(to,
            "int %s_selftest(const %s_mem *m);\n"
            "int %s_selftest(const %s_mem *m)\n"
            "{\n"
            "    int status = %s_init(m);\n"
            "    for (uint32_t set = 0; status == %s_OK && set < %d; set++)\n"
            "        status = run_set(m, set);\n"
            "    return status;\n"
            "}\n",
            p, p, p, p, p, ac_emit_upper(m), v->n);
}

/* ------------------------------------------------------------------ main */

static void put_memory(const ac_module *m, const char *upper, ac_sink *to, const char *name)
{
    const char *U = ac_emit_upper(m);
    ac_putf(to, "static uint8_t memory_%s[%s_%s_BYTES + 1] __attribute__((aligned(%s_%s_ALIGN)));\n", name, U, upper, U,
            strcmp(upper, "STATE") ? upper : ac_emit_ram_upper(m, 0));
}

static void put_memories(const ac_module *m, ac_sink *to)
{
    for (int32_t i = 0; i < m->n_ram; i++)
        put_memory(m, ac_emit_ram_upper(m, i), to, m->ram[i].name);
    if (m->state_bytes)
        put_memory(m, "STATE", to, "state");
}

static void put_pointers(const ac_module *m, ac_sink *to)
{
    for (int32_t i = 0; i < m->n_ram; i++)
        ac_putf(to, "    m.%s = memory_%s;\n", m->ram[i].name, m->ram[i].name);
    if (m->state_bytes)
        ac_put(to, "    m.state = memory_state;\n");
}

void ac_selftest_put_request(const ac_module *m, ac_sink *to)
{
    if (m->target->amx)
        ac_put(to, "/* Linux grants the registers of AMX on request: arch_prctl. */\n"
                   "#if defined(__linux__) && defined(__x86_64__)\n"
                   "long syscall(long number, ...);\n#define REQUEST_AMX() (void)syscall(158, 0x1023, 18)\n"
                   "#else\n#define REQUEST_AMX() (void)0\n#endif\n\n");
}

/* Prints a main function, except for a blob of weights: main would need the path of the blob. */
static void put_main(const ac_module *m, ac_sink *to)
{
    const char *p = m->name, *U = ac_emit_upper(m);
    if (ac_module_weights(m) == AC_WEIGHTS_BLOB)
        return;
    ac_putf(to,
            "\n#ifdef %s_SELFTEST_MAIN /* a program: 0 when all is equal; define %s_SELFTEST_SAY without stdio */\n"
            "#ifndef %s_SELFTEST_SAY\n#include <stdio.h>\n#define %s_SELFTEST_SAY(text) puts(text)\n#endif\n\n",
            U, U, U, U);
    ac_selftest_put_request(m, to);
    put_memories(m, to);
    ac_putf(to, "\nint main(void)\n{\n    %s_mem m;\n    int status;\n    memset(&m, 0, sizeof m);\n%s", p,
            m->target->amx ? "    REQUEST_AMX();\n" : "");
    put_pointers(m, to);
    ac_putf(to,
            "    status = %s_selftest(&m);\n"
            "    %s_SELFTEST_SAY(status == %s_OK ? \"%s: all outputs are equal\"\n"
            "        : status == %s_EDIFFERENT ? \"%s: an output differs\" : \"%s: the run stopped\");\n"
            "    return status;\n}\n#endif\n",
            p, U, U, p, U, p, p);
}

void ac_selftest_print(const ac_module *m, const ac_vectors *v, const char *header, const char *file, ac_sink *to)
{
    put_begin(m, header, file, to);
    ac_putf(to, "enum { %s_EDIFFERENT = 100 };\n\n", ac_emit_upper(m));
    ac_selftest_put_inputs(m, v, to);
    put_outputs(m, v, to);
    if (m->streamed)
        ac_selftest_put_fill(m, to);
    if (m->n_outputs)
        put_compare(to);
    put_run(m, to);
    put_function(m, v, to);
    put_main(m, to);
}
