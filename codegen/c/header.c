/* header.c - prints the header of a generated model: sizes, offsets, scales, one pointer to each input and output, init
 * and run. C99 and C++. */
#include "codegen/c/emit.h"
#include "codegen/stack_size.h"

#include <string.h>

static const char *base_of(const ac_module *m, const ac_io *io)
{
    return io->space == AC_SPACE_STATE ? "state" : m->ram[io->index].name;
}

/* An output whose size depends on the data. */
static void put_counted(const ac_module *m, ac_sink *to, const char *U, int32_t output)
{
    for (int32_t k = 0; k < m->n_counted; k++) {
        const ac_counted *c = &m->counted[k];
        if (c->output == output)
            ac_putf(to,
                    "#define %s_OUT%d_COUNTED_DIM %d /* of this dimension only the first elements have a meaning: */\n"
                    "#define %s_OUT%d_COUNTED_BY %d  /* as many as this output, one number, says */\n",
                    U, output, c->dim, U, output, c->count);
    }
}

static void put_io_macros(const ac_module *m, ac_sink *to, const char *kind, int32_t i, const ac_io *io)
{
    const char *U = ac_emit_upper(m);
    const ac_tensor *t = io->tensor;
    const char *at = io->space == AC_SPACE_STATE ? " in state"
                     : io->space == AC_SPACE_ARENA && m->n_ram > 1
                         ? ac_strf(m->cx->region, " in %s", m->ram[io->index].name)
                         : "";
    ac_region *r = m->cx->region;
    if (io->rows)
        ac_putf(to,
                "/* %s %s, streamed row by row */\n#define %s_IN%d_ROWS %du\n#define %s_IN%d_ROW_BYTES %lldu\n"
                "#define %s_IN%d_ROW_OFFSET 0x%04llxu /* where each of them is put */\n",
                ac_c_comment_text(r, t->name), ac_tensor_str(m->cx, t), U, i, io->rows, U, i, (long long)io->row_bytes,
                U, i, (unsigned long long)io->row_at);
    else if (io->space == AC_SPACE_IN || io->space == AC_SPACE_OUT)
        ac_putf(to, "/* %s[%d]: %s %s, in the caller's memory, aligned for its type */\n",
                io->space == AC_SPACE_IN ? "in" : "out", i, ac_c_comment_text(r, t->name), ac_tensor_str(m->cx, t));
    else if (io->space != AC_SPACE_CONST)
        ac_putf(to, "#define %s_%s%d_OFFSET 0x%04llxu /* %s %s%s */\n", U, kind, i, (unsigned long long)io->offset,
                ac_c_comment_text(r, t->name), ac_tensor_str(m->cx, t), at);
    else
        ac_putf(to, "/* %s %d: %s %s, a constant */\n", strcmp(kind, "IN") ? "output" : "input", i,
                ac_c_comment_text(r, t->name), ac_tensor_str(m->cx, t));
    ac_putf(to, "#define %s_%s%d_BYTES %lldu\n", U, kind, i, (long long)io->bytes);
    ac_putf(to, "#define %s_%s%d_COUNT %lldu\n", U, kind, i, (long long)ac_tensor_count(t));
    if (t->quant && t->quant->n == 1) {
        ac_putf(to, "#define %s_%s%d_SCALE %s\n", U, kind, i, ac_c_float(r, t->quant->scale[0]).text);
        ac_putf(to, "#define %s_%s%d_ZERO (%d)\n", U, kind, i, t->quant->zero[0]);
    }
    if (!strcmp(kind, "IN"))
        ac_putf(to, "#define %s_IN%d_CLOBBERED %d\n", U, i, io->clobbered);
    else
        put_counted(m, to, U, i);
}

static void put_accessor(const ac_module *m, ac_sink *to, const char *kind, int32_t i, const ac_io *io, bool input)
{
    const char *p = m->name, *U = ac_emit_upper(m), *type = ac_dtype_c(io->tensor->dtype), *c = input ? "" : "const ";
    if (io->space == AC_SPACE_CONST) {
        ac_putf(to, "const %s *%s_%s%d(const %s_mem *m);\n", type, p, kind, i, p);
        return;
    }
    if (io->rows)
        ac_putf(to,
                "static inline %s *%s_in%d_row(const %s_mem *m)\n"
                "{\n    return (%s *)(void *)((uint8_t *)m->%s + %s_IN%d_ROW_OFFSET);\n}\n",
                type, p, i, p, type, m->ram[io->index].name, U, i);
    if (io->space == AC_SPACE_IN || io->space == AC_SPACE_OUT)
        return; /* the caller has it already */
    ac_putf(to,
            "static inline %s%s *%s_%s%d(const %s_mem *m)\n"
            "{\n"
            "    return (%s%s *)(%svoid *)((%suint8_t *)m->%s + %s_%s%d_OFFSET);\n"
            "}\n",
            c, type, p, kind, i, p, c, type, c, c, base_of(m, io), U, input ? "IN" : "OUT", i);
}

static void put_first_comment(const ac_module *m, ac_sink *to)
{
    ac_region *r = m->cx->region;
    ac_putf(to, "/* %s.h - made by arenac %s from %s", m->name, m->version, ac_c_comment_text(r, m->source));
    if (m->sha256 && *m->sha256)
        ac_putf(to, " (sha256 %s)", m->sha256);
    if (m->options && *m->options)
        ac_putf(to, "; options: %s", ac_c_comment_text(r, m->options));
    for (int32_t i = 0; i < m->n_ram; i++)
        ac_putf(to, "%s%s %s B%s", i ? ", " : "\n * ", m->ram[i].name, ac_commas(m->cx, m->ram[i].bytes),
                !m->ram[i].optimal ? ""
                : m->n_ram > 1     ? " (optimal for what it holds)"
                                   : ", optimal");
    const char *word = "";
    for (int32_t i = 0; i < m->n_inputs; i++)
        if (m->input[i].clobbered) {
            ac_putf(to, "%s'%s'", *word ? word : "; input ", ac_c_comment_text(r, m->input[i].tensor->name));
            word = ", ";
        }
    if (*word)
        ac_putf(to, " overwritten by %s_run", m->name);
    ac_putf(to, ". Safe to call from several threads with distinct %s. */\n", m->n_ram > 1 ? "memories" : "arenas");
}

/* For programs on a host: memory allocated by the runtime, tensors passed as DLPack tensors. */
static void put_host_api(const ac_module *m, ac_sink *to)
{
    const char *p = m->name;
    ac_putf(to,
            "\ntypedef arn_ctx %s_ctx;\n"
            "%s_ctx *%s_open(const char *weights_path, const char **why); /* NULL: *why tells the reason */\n"
            "int %s_run_dl(%s_ctx *ctx, const DLTensor *const *in, size_t n_in, DLTensor *const *out, size_t n_out);\n"
            "int %s_get_dl(%s_ctx *ctx, size_t output, DLManagedTensorVersioned **tensor);\n"
            "void %s_close(%s_ctx *ctx);\n",
            p, p, p, p, p, p, p, p, p);
}

/* A streamed input: one call for each of its rows, or one call that gets them through a callback. */
static void put_row_api(const ac_module *m, ac_sink *to)
{
    const char *p = m->name, *U = ac_emit_upper(m);
    const int32_t i = m->streamed_input;
    ac_putf(to,
            "/* Write row `row` of input %d to %s_in%d_row(m), then call this: row 0, row 1 ... row %s_IN%d_ROWS - 1. "
            "After the\n"
            " * last one the outputs are there. No heap, no globals written, bounded loops. */\n"
            "int %s_run_row(const %s_mem *m, uint32_t row);\n"
            "/* The same for all rows: fill writes row `row`, %s_IN%d_ROW_BYTES, to `to`. */\n"
            "int %s_run(const %s_mem *m, void (*fill)(void *user, uint32_t row, %s *to), void *user);\n",
            i, p, i, U, i, p, p, U, i, p, p, ac_dtype_c(m->input[i].tensor->dtype));
}

/* Blanks after a name and a semicolon up to a column. */
static int pad_to(int column, const char *name)
{
    const int n = (int)strlen(name);
    return n < column ? column - n : 1;
}

static void put_stack_of(const ac_module *m, ac_bytes bytes, const char *how, ac_sink *to)
{
    ac_putf(to, "#define %s_STACK_BYTES %lldu /* of %s_run: %s */\n", ac_emit_upper(m), (long long)bytes, m->name, how);
}

/* Frames depend on the compiler and its level. */
static void put_stack(const ac_module *m, ac_sink *to)
{
    static const char *const BOUND = "an upper bound from the loops";
    const ac_built *s = &m->built;
    ac_region *r = m->cx->region;
    if (!s->how && !m->target->firmware) {
        put_stack_of(m, ac_stack_estimate(m, true), "an estimate, measure before you rely on it", to);
        return;
    }
    const ac_bytes plain = s->how ? s->plain_stack : ac_stack_estimate(m, false);
    if (plain) {
        ac_put(to, "#if !defined(__OPTIMIZE__) && defined(__GNUC__)\n");
        put_stack_of(m, plain, s->how && !s->clang_stack ? ac_strf(r, "frames of %s, -O0", s->how) : BOUND, to);
    }
    if (s->clang_stack) {
        ac_put(to, "#elif defined(__clang__)\n");
        put_stack_of(m, s->clang_stack, BOUND, to);
    }
    ac_put(to, plain ? "#else\n" : "");
    put_stack_of(m, s->how ? s->stack : ac_stack_estimate(m, true), s->how ? ac_strf(r, "frames of %s", s->how) : BOUND,
                 to);
    ac_put(to, plain ? "#endif\n" : "");
}

static const char *number(ac_ctx *cx, int64_t n)
{
    return ac_strf(cx->region, "%lldu%s", (long long)n, n > UINT32_MAX ? "ll" : "");
}

static void put_time(const ac_module *m, ac_sink *to)
{
    const ac_run_time *t = m->built.time;
    const char *U = ac_emit_upper(m);
    if (!t)
        return;
    ac_putf(to, "#define %s_INSNS %s /* of %s_run, %s: code of %s */\n", U, number(m->cx, t->insns), m->name,
            t->insns == t->least_insns ? "for every input" : "at most", t->by);
    if (t->cycles_max)
        ac_putf(to, "#define %s_CYCLES_MAX %s /* %s; wait states of flash: %d */\n", U, number(m->cx, t->cycles_max),
                t->estimate ? "an estimate, the manual has no table" : "by the core's manual", t->wait);
    ac_putf(to, "#define %s_CONSTANT_TIME %d /* 1: no branch, address or division depends on data */\n", U,
            t->constant);
}

static void put_memories(const ac_module *m, ac_sink *to)
{
    const char *U = ac_emit_upper(m);
    for (int32_t i = 0; i < m->n_ram; i++) {
        const ac_module_ram *ram = &m->ram[i];
        const char *R = ac_emit_ram_upper(m, i);
        ac_putf(to, "#define %s_%s_BYTES %lldu\n", U, R, (long long)ram->bytes);
        ac_putf(to, "#define %s_%s_ALIGN %lldu\n", U, R, (long long)(ram->align > 0 ? ram->align : 1));
        if (ram->address >= 0)
            ac_putf(to, "#define %s_%s_ADDR 0x%08llxu /* as --mem gives it */\n", U, R,
                    (unsigned long long)ram->address);
    }
    ac_putf(to, "#define %s_STATE_BYTES %lldu\n", U, (long long)m->state_bytes);
    if (m->state_address >= 0)
        ac_putf(to, "#define %s_STATE_ADDR 0x%08llxu /* as --mem gives it */\n", U,
                (unsigned long long)m->state_address);
    if (ac_module_weights(m) == AC_WEIGHTS_BLOB) {
        ac_bytes total, *offset = AC_NEW_N(m->cx->region, ac_bytes, m->n_konst + 1);
        ac_consts_layout(m, offset, &total);
        ac_putf(to, "#define %s_WEIGHTS_BYTES %lldu\n", U, (long long)total);
    }
    put_stack(m, to);
    put_time(m, to);
}

static void put_tensors(const ac_module *m, ac_sink *to)
{
    const char *U = ac_emit_upper(m);
    ac_putf(to, "#define %s_INPUTS %d\n#define %s_OUTPUTS %d\n#define %s_STEPS %d\n", U, m->n_inputs, U, m->n_outputs,
            U, m->n_calls);
    for (int32_t i = 0; i < m->n_inputs; i++)
        put_io_macros(m, to, "IN", i, &m->input[i]);
    for (int32_t i = 0; i < m->n_outputs; i++)
        put_io_macros(m, to, "OUT", i, &m->output[i]);
    for (int32_t i = 0; i < m->n_states; i++)
        ac_putf(to, "/* state 0x%04llx: %s %s */\n", (unsigned long long)m->state[i].offset,
                ac_c_comment_text(m->cx->region, m->state[i].tensor->name), ac_tensor_str(m->cx, m->state[i].tensor));
}

static void put_threads(const ac_module *m, ac_sink *to)
{
    ac_putf(to,
            "#define %s_THREADS %d /* chunks that a step may be cut into */\n"
            "\n#ifndef ARN_POOL_TYPE /* the same in runtime/arn_pool.h, which has a pool; any other with this type "
            "will do */\n"
            "#define ARN_POOL_TYPE\n"
            "typedef void arn_part_fn(const void *with, int32_t part);\n"
            "struct arn_pool { /* run calls f(with, part) for 0 <= part < parts, at the same time if it can, and "
            "waits for all */\n"
            "    void (*run)(struct arn_pool *pool, int32_t parts, arn_part_fn *f, const void *with);\n"
            "};\n"
            "#endif\n",
            ac_emit_upper(m), m->threads);
}

/* The struct NAME_mem: a pointer to each memory, the weights, the state and the caller's own tensors. */
static void put_mem(const ac_module *m, ac_sink *to)
{
    const char *p = m->name, *U = ac_emit_upper(m), *R = ac_emit_ram_upper(m, 0);
    const bool blob = ac_module_weights(m) == AC_WEIGHTS_BLOB;
    ac_putf(to,
            "\ntypedef struct %s_mem { /* one pointer for each memory of the plan */\n"
            "    void *%s;%*s/* %s_%s_BYTES, aligned to %s_%s_ALIGN */\n"
            "    const void *weights; /* %s */\n",
            p, m->ram[0].name, pad_to(14, m->ram[0].name), "", U, R, U, R,
            blob ? ac_strf(m->cx->region, "the blob: %s_WEIGHTS_BYTES, aligned to 64", U) : "not used: NULL");
    if (m->state_bytes)
        ac_putf(to, "    void *state;         /* %s_STATE_BYTES, aligned as the %s; kept between runs */\n", U,
                m->ram[0].name);
    for (int32_t i = 1; i < m->n_ram; i++)
        ac_putf(to, "    void *%s;%*s/* %s_%s_BYTES, aligned to %s_%s_ALIGN */\n", m->ram[i].name,
                pad_to(14, m->ram[i].name), "", U, ac_emit_ram_upper(m, i), U, ac_emit_ram_upper(m, i));
    if (m->caller_io && m->n_inputs)
        ac_putf(to, "    const void *in[%d];   /* the caller's, only read */\n", m->n_inputs);
    if (m->caller_io && m->n_outputs)
        ac_putf(to, "    void *out[%d];        /* the caller's; none overlaps another or an input */\n", m->n_outputs);
    if (m->threads > 1)
        ac_put(to, "    struct arn_pool *pool; /* NULL: no threads; the results are the same */\n");
    ac_putf(to, "} %s_mem;\n\n", p);
}

/* Models whose operators draw random numbers. */
static void put_seed(const ac_module *m, ac_sink *to)
{
    if (!m->n_random)
        return;
    ac_putf(
        to,
        "/* The next run draws the random numbers of run number `run` of this seed. A run counts on by itself; after "
        "init\n * and reset: run 0 of the seed that the file was compiled with. */\n"
        "static inline void %s_seed(const %s_mem *m, uint64_t seed, uint32_t run)\n{\n    uint32_t *r;\n",
        m->name, m->name);
    for (int32_t i = 0; i < m->n_random; i++)
        ac_putf(to,
                "    r = (uint32_t *)(void *)((uint8_t *)m->state + 0x%04llxu);\n    r[0] = (uint32_t)seed;\n"
                "    r[1] = (uint32_t)(seed >> 32);\n    r[2] = run;\n    r[3] = 0;\n",
                (unsigned long long)m->random[i]->offset);
    ac_put(to, "}\n");
}

static void put_functions(const ac_module *m, ac_sink *to)
{
    const char *p = m->name;
    ac_putf(to, "int %s_init(const %s_mem *m); /* checks alignment%s%s */\n", p, p,
            ac_module_weights(m) == AC_WEIGHTS_BLOB ? " and the blob's magic" : "",
            m->state_bytes ? ", sets state to its first value" : "");
    if (m->check_weights)
        ac_putf(to, "int %s_check_weights(const %s_mem *m); /* %s_EWEIGHTS if a byte of them has changed */\n", p, p,
                ac_emit_upper(m));
    for (int32_t k = 0; k < m->n_parts && !m->streamed; k++)
        ac_putf(to, "int %s_%s(const %s_mem *m);  /* no heap, no globals written, bounded loops */\n", p,
                m->part[k].name, p);
    if (m->streamed)
        put_row_api(m, to);
    if (m->state_bytes)
        ac_putf(to, "void %s_reset(const %s_mem *m); /* state as after init */\n", p, p);
    put_seed(m, to);
    if (m->learning && !m->caller_io && !m->streamed)
        ac_emit_learning(m, to);
    if (m->host)
        ac_putf(
            to,
            "struct arn_model;\nsize_t %s_describe(const struct arn_model **model); /* runtime/arn_rt.h; its size */\n",
            p);
    if (m->caller_io)
        put_host_api(m, to);
    ac_emit_custom(m, to);
}

void ac_emit_header_begin(const ac_module *m, const char *runtime, ac_sink *to)
{
    const char *U = ac_emit_upper(m);
    put_first_comment(m, to);
    ac_putf(to, "#ifndef %s_H\n#define %s_H\n#include <stddef.h>\n#include <stdint.h>\n", U, U);
    if (runtime)
        ac_putf(to, "#include \"%s\" /* runtime/ of arenac: --emit rt copies it */\n", runtime);
    ac_put(to, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    put_memories(m, to);
    put_tensors(m, to);
    if (m->threads > 1)
        put_threads(m, to);
}

void ac_emit_header_statuses(const ac_module *m, ac_sink *to)
{
    const char *U = ac_emit_upper(m);
    ac_putf(to, "\nenum { %s_OK = 0, %s_EALIGN = 1, %s_EDIM = 2, %s_EWEIGHTS = 3, %s_EINDEX = 4 };\n", U, U, U, U, U);
}

void ac_emit_header_end(ac_sink *to)
{
    ac_put(to, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

/* ------------------------------------------------------------------ texts
 *
 * The table is inside an inline function: files that use neither input texts nor result texts do not have it, and
 * objects of other backends than C need no more than the header. */

/* As many in a line as fit. */
static void put_text_table(const ac_module *m, ac_sink *to, const ac_vocabulary *w)
{
    enum { LINE = 110 };
    size_t column = 0;
    for (int32_t i = 0; i < w->n; i++) {
        const char *s = ac_c_string_text(m->cx->region, w->text[i]);
        const size_t n = strlen(s) + 4;
        const bool fresh = !i || column + n > LINE;
        ac_putf(to, "%s\"%s\"", !i ? "        " : fresh ? ",\n        " : ", ", s);
        column = fresh ? n + 6 : column + n;
    }
}

static void put_text_search(const ac_module *m, ac_sink *to)
{
    const char *p = m->name, *U = ac_emit_upper(m);
    ac_putf(
        to,
        "/* The code of a text in UTF-8 that ends in a zero byte; %s_TEXTS: another text. */\n"
        "static inline int32_t %s_text_code(const char *text)\n"
        "{\n"
        "    int32_t low = 0, high = %s_TEXTS;\n"
        "    while (text && low < high) {\n"
        "        const int32_t at = low + (high - low) / 2;\n"
        "        const unsigned char *a = (const unsigned char *)text, *b = (const unsigned char *)%s_text_at(at);\n"
        "        while (*a && *a == *b) {\n"
        "            a++;\n"
        "            b++;\n"
        "        }\n"
        "        if (*a == *b) {\n"
        "            return at;\n"
        "        }\n"
        "        if (*a < *b) {\n"
        "            high = at;\n"
        "        } else {\n"
        "            low = at + 1;\n"
        "        }\n"
        "    }\n"
        "    return %s_TEXTS;\n"
        "}\n",
        U, p, U, p, U);
}

void ac_emit_texts(const ac_module *m, ac_sink *to)
{
    const char *p = m->name, *U = ac_emit_upper(m);
    const ac_vocabulary *w = ac_module_words(m);
    if (!w)
        return;
    ac_putf(to,
            "\n#define %s_TEXTS %d /* texts of the model; code %s_TEXTS is any other text */\n"
            "/* Text number `code`, from 0: they are sorted by their bytes. */\n"
            "static inline const char *%s_text_at(int32_t code)\n"
            "{\n"
            "    static const char *const text[%d] = {\n",
            U, w->n, U, p, w->n ? w->n : 1);
    if (w->n)
        put_text_table(m, to, w);
    else
        ac_put(to, "        \"\"");
    ac_put(to, "};\n    return text[code];\n}\n");
    put_text_search(m, to);
    for (int32_t i = 0; i < m->n_inputs; i++)
        if (m->input[i].tensor->words)
            ac_putf(to,
                    "static inline int32_t %s_in%d_code(const char *text) /* an element of input %d */\n"
                    "{\n    return %s_text_code(text);\n}\n",
                    p, i, i, p);
    for (int32_t i = 0; i < m->n_outputs; i++)
        if (m->output[i].tensor->words)
            ac_putf(
                to,
                "static inline const char *%s_out%d_text(int32_t code) /* of an element of output %d; NULL: none of "
                "these texts */\n"
                "{\n    return code >= 0 && code < %s_TEXTS ? %s_text_at(code) : NULL;\n}\n",
                p, i, i, U, p);
}

/* ------------------------------------------------------------------ the file */

static void print_header(const ac_module *m, ac_sink *to)
{
    ac_emit_header_begin(m, m->caller_io ? "arn_host.h" : NULL, to);
    put_mem(m, to);
    for (int32_t i = 0; i < m->n_inputs; i++)
        put_accessor(m, to, "in", i, &m->input[i], true);
    for (int32_t i = 0; i < m->n_outputs; i++)
        put_accessor(m, to, "out", i, &m->output[i], false);
    ac_emit_header_statuses(m, to);
    put_functions(m, to);
    ac_emit_texts(m, to);
    ac_emit_header_end(to);
}

int ac_emit_header(const ac_module *m, ac_sink *to)
{
    if (!m->target->firmware) {
        print_header(m, to);
        return AC_OK;
    }
    ac_sink text;
    ac_sink_open(&text, m->cx);
    print_header(m, &text);
    ac_emit_fitted(&text, to);
    return AC_OK;
}
