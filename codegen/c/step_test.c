/* step_test.c - prints tables for the program of runtime/steps, as C; see step_test.h. */
#include "codegen/c/step_test.h"
#include "codegen/c/emit.h"

void ac_step_hooks_print(const ac_module *m, const char *source, ac_sink *to)
{
    const char *U = ac_emit_upper(m);
    ac_putf(to,
            "#include <stdint.h>\n"
            "void step_begin(uint32_t step);\n"
            "void step_end(uint32_t step);\n"
            "#define %s_STEP_BEGIN(i) step_begin(i)\n"
            "#define %s_STEP_END(i) step_end(i)\n"
            "#include \"%s\"\n",
            U, U, source);
}

/* ------------------------------------------------------------------ memories */

static bool has_blob(const ac_module *m)
{
    return ac_module_weights(m) == AC_WEIGHTS_BLOB;
}

/* A memory between guards. Its address has the alignment that the API requests, and no more. */
static void put_memory(const char *name, const char *bytes, const char *align, ac_sink *to)
{
    ac_putf(to, "static uint8_t memory_%s[GUARD(%s) + %s + GUARD(%s)] __attribute__((aligned(2 * %s)));\n", name, align,
            bytes, align, align);
}

static const char *constant(const ac_module *m, const char *memory, const char *what)
{
    return ac_strf(m->cx->region, "%s_%s_%s", ac_emit_upper(m), memory, what);
}

static const char *bytes_of(const ac_module *m, int32_t i)
{
    return constant(m, i < m->n_ram ? ac_emit_ram_upper(m, i) : "STATE", "BYTES");
}

static const char *align_of(const ac_module *m, int32_t i)
{
    return constant(m, ac_emit_ram_upper(m, i < m->n_ram ? i : 0), "ALIGN");
}

static int32_t memories(const ac_module *m)
{
    return m->n_ram + (m->state_bytes > 0);
}

static const char *name_of(const ac_module *m, int32_t i)
{
    return i < m->n_ram ? m->ram[i].name : "state";
}

static void put_memories(const ac_module *m, const char *blob, ac_sink *to)
{
    enum { BLOB_ALIGN = 64 };
    ac_put(to, "#define GUARD(align) ((256u / (align) | 1u) * (align))\n");
    for (int32_t i = 0; i < memories(m); i++)
        put_memory(name_of(m, i), bytes_of(m, i), align_of(m, i), to);
    ac_put(to, "static const struct {\n    uint8_t *at;\n    uint32_t bytes, guard;\n} memories[] = {\n");
    for (int32_t i = 0; i < memories(m); i++)
        ac_putf(to, "    {memory_%s + GUARD(%s), %s, GUARD(%s)},\n", name_of(m, i), align_of(m, i), bytes_of(m, i),
                align_of(m, i));
    ac_putf(to, "};\nenum { MEMORIES = %d, STEPS = %d };\n\n", memories(m), m->n_calls);
    if (has_blob(m))
        ac_putf(to,
                "extern const uint8_t steps_weights[];\n"
                "__asm__(\".section .rodata\\n.balign %d\\n.zero %d\\n.globl steps_weights\\nsteps_weights:\\n"
                ".incbin \\\"%s\\\"\\n.previous\");\n\n",
                2 * BLOB_ALIGN, BLOB_ALIGN, blob);
}

/* ------------------------------------------------------------------ tables */

static uint32_t tile_bytes(const step_operand *o)
{
    uint32_t n = o->tiles;
    for (int d = 0; d < STEP_DIMS; d++)
        n *= o->tile[d];
    return (n + 7) / 8;
}

/* Numbers between braces, in lines. */
static void put_row(ac_sink *to, const char *before, const uint32_t *x, int64_t n, const char *after)
{
    enum { IN_LINE = 10 };
    ac_put(to, before);
    for (int64_t i = 0; i < n; i++)
        ac_putf(to, "%s%uu%s", i % IN_LINE || !i ? "" : "\n    ", x[i], i + 1 < n ? "," : "");
    ac_put(to, n ? after : "0};\n");
}

static void put_tiles(const step_operand *o, int32_t i, ac_sink *to)
{
    enum { IN_LINE = 24 };
    const uint32_t n = o->tiles ? tile_bytes(o) : 0;
    if (!n)
        return;
    ac_putf(to, "static const uint8_t tiles_%d[%u] = {", i, n);
    for (uint32_t k = 0; k < n; k++)
        ac_putf(to, "%s%u%s", k % IN_LINE ? "" : "\n    ", o->bits[k], k + 1 < n ? "," : "};\n");
}

static const char *value(ac_region *r, int64_t x)
{
    return x == INT64_MIN ? "INT64_MIN" : ac_strf(r, "INT64_C(%lld)", (long long)x);
}

static void put_operand(ac_region *r, const step_operand *o, int32_t i, ac_sink *to)
{
    ac_putf(to, "    {%u, %u, %u, %uu, %uu, %s, %s, {%uu, %uu, %uu, %uu}, {%uu, %uu, %uu, %uu}, %uu, %s},\n", o->memory,
            o->bytes, o->use, o->offset, o->count, value(r, o->lo), value(r, o->hi), o->dim[0], o->dim[1], o->dim[2],
            o->dim[3], o->tile[0], o->tile[1], o->tile[2], o->tile[3], o->tiles,
            o->tiles ? ac_strf(r, "tiles_%d", i) : "0");
}

static void put_ranges(const ac_module *m, const ac_step_tests *t, ac_sink *to)
{
    int32_t most = 1;
    ac_put(to, "static const step_range ranges[] = {\n");
    for (int32_t i = 0; i < t->first_range[m->n_calls]; i++)
        ac_putf(to, "    {%u, %u, %uu, %uu},\n", t->range[i].memory, t->range[i].use, t->range[i].begin,
                t->range[i].end);
    ac_put(to, "    {0, 0, 0, 0}};\nstatic const uint32_t first_range[] = {");
    for (int32_t c = 0; c <= m->n_calls; c++) {
        ac_putf(to, "%d%s", t->first_range[c], c < m->n_calls ? (c % 16 == 15 ? ",\n    " : ", ") : "};\n");
        if (c < m->n_calls && t->first_range[c + 1] - t->first_range[c] > most)
            most = t->first_range[c + 1] - t->first_range[c];
    }
    ac_putf(to, "enum { RANGES_OF_A_STEP = %d };\n", most);
}

static void put_tables(const ac_module *m, const ac_step_tests *t, ac_sink *to)
{
    ac_region *r = m->cx->region;
    const int32_t n = t->first[m->n_calls];
    for (int32_t i = 0; i < n; i++)
        put_tiles(&t->operand[i], i, to);
    ac_putf(to, "static const step_operand operands[%d] = {\n", n + 1);
    for (int32_t i = 0; i < n; i++)
        put_operand(r, &t->operand[i], i, to);
    ac_putf(to, "    {0, 0, 0, 0, 0, 0, 0, {0, 0, 0, 0}, {0, 0, 0, 0}, 0, 0}};\n");
    put_ranges(m, t, to);
    ac_putf(to, "enum { SETS = %d, WHOLE = %d };\n", t->sets, t->whole.n);
    ac_put(to, "static const uint32_t first_operand[] = {");
    for (int32_t c = 0; c <= m->n_calls; c++)
        ac_putf(to, "%d%s", t->first[c], c < m->n_calls ? (c % 16 == 15 ? ",\n    " : ", ") : "};\n");
    ac_putf(to, "static const uint8_t kinds[SETS][%d] = {\n", m->n_calls + 1);
    for (int32_t s = 0; s < t->sets; s++) {
        ac_put(to, "    {");
        for (int32_t c = 0; c < m->n_calls; c++)
            ac_putf(to, "%u%s", t->kind[s][c], c % 40 == 39 ? ",\n    " : ",");
        ac_put(to, "0},\n");
    }
    ac_putf(to, "};\nstatic const uint32_t hashes[SETS][%d] = {\n", n + 1);
    for (int32_t s = 0; s < t->sets; s++)
        put_row(to, "    {", t->hash[s], n + 1, "},\n");
    ac_put(to, "};\nstatic const int statuses[SETS] = {\n    ");
    for (int32_t s = 0; s < t->sets; s++)
        ac_putf(to, "%d,%s", t->status[s], s % 32 == 31 ? "\n    " : " ");
    ac_put(to, "\n};\n\n");
}

/* ------------------------------------------------------------------ a run */

static void put_pointers(const ac_module *m, ac_sink *to)
{
    for (int32_t i = 0; i < memories(m); i++)
        ac_putf(to, "    m.%s = memories[%d].at;\n", name_of(m, i), i);
    if (has_blob(m))
        ac_put(to, "    m.weights = steps_weights;\n");
}

/* Returns `number` if init accepts the pointer m.`name` half an alignment above `at`; else sets it to `at`. */
static void put_misplaced(const ac_module *m, const char *name, const char *at, const char *align, int32_t number,
                          ac_sink *to)
{
    ac_putf(to,
            "    m.%s = %s + %s / 2;\n    if (%s > 1 && %s_init(&m) == %s_OK)\n        return %du;\n    m.%s = %s;\n",
            name, at, align, align, m->name, ac_emit_upper(m), number, name, at);
}

/* 1 + the number of the first memory that init accepts at a wrong address, weights last; 0: it accepts none. */
static void put_misaligned(const ac_module *m, ac_sink *to)
{
    ac_putf(to, "static uint32_t init_misaligned(void)\n{\n    %s_mem m;\n    memset(&m, 0, sizeof m);\n", m->name);
    put_pointers(m, to);
    for (int32_t i = 0; i < memories(m); i++)
        if (i == m->n_ram || m->ram[i].bytes)
            put_misplaced(m, name_of(m, i), ac_strf(m->cx->region, "memories[%d].at", i), align_of(m, i), i + 1, to);
    if (has_blob(m) && m->n_konst) { /* init reads the header, which has to be right there */
        ac_put(to, "    static uint8_t misplaced[128] __attribute__((aligned(64)));\n"
                   "    memcpy(misplaced + 32, steps_weights, 64);\n");
        put_misplaced(m, "weights", "misplaced", "64", memories(m) + 1, to);
    }
    ac_put(to, "    return 0;\n}\n\n");
}

static void put_run(const ac_module *m, ac_sink *to)
{
    const char *p = m->name, *U = ac_emit_upper(m);
    ac_putf(to, "static void copy_inputs(const %s_mem *m, uint32_t set)\n{\n    (void)m, (void)set;\n", p);
    ac_selftest_put_copies(m, to);
    ac_putf(to,
            "}\n\n/* From the same memory each time; a status of init or run. */\n"
            "static int run_set(uint32_t set)\n{\n    %s_mem m;\n    int status;\n    memset(&m, 0, sizeof m);\n",
            p);
    for (int32_t i = 0; i < m->n_ram; i++)
        ac_putf(to, "    memset(memories[%d].at, 0, memories[%d].bytes);\n", i, i);
    put_pointers(m, to);
    ac_putf(to,
            "    status = %s_init(&m);\n"
            "    if (status != %s_OK)\n"
            "        return status;\n"
            "    copy_inputs(&m, set);\n"
            "    return %s_run(&m%s);\n"
            "}\n\n",
            p, U, p, m->streamed ? ", put_row, &set" : "");
}

void ac_step_test_print(const ac_module *m, const ac_step_tests *t, const char *header, const char *blob, ac_sink *to)
{
    ac_putf(to,
            "#include \"%s\"\n"
            "#include \"steps.h\"\n"
            "#ifndef STEPS_SAY\n#include <stdio.h>\n#define STEPS_SAY(text) fputs(text, stdout)\n#endif\n\n"
            "void step_begin(uint32_t step);\nvoid step_end(uint32_t step);\n\n",
            header);
    ac_selftest_put_request(m, to);
    put_memories(m, blob, to);
    put_tables(m, t, to);
    ac_selftest_put_inputs(m, &t->whole, to);
    if (m->streamed)
        ac_selftest_put_fill(m, to);
    put_misaligned(m, to);
    put_run(m, to);
    ac_put(to, "#include \"steps.c\"\n");
}
