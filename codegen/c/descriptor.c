/* descriptor.c - prints the description of a model for programs on a host: `NAME_model`, a constant struct arn_model of
 * runtime/arn_rt.h. The types are printed into the file itself, from the table that also defines them in arn_rt.h. */
#include "codegen/c/emit.h"
#include "runtime/arn_rt.h"

#include <inttypes.h>

_Static_assert((int)ARN_F32 == (int)AC_F32 && (int)ARN_BF16 == (int)AC_BF16 && (int)ARN_F64 == (int)AC_F64 &&
                   (int)ARN_I64 == (int)AC_I64 && (int)ARN_U8 == (int)AC_U8 && (int)ARN_BOOL == (int)AC_BOOL &&
                   (int)ARN_F4E2M1 == (int)AC_F4E2M1,
               "the runtime counts types as dtype.def does");

void ac_emit_host_types(ac_emit *e)
{
    ac_put(e->to, "/* What arn_rt.h declares. */\n"
                  "#ifndef ARN_RT_H\n"
                  "struct arn_mem;\n"
                  "struct arn_hook;\n"
                  "struct arn_pool;\n"
                  "typedef void arn_step_fn(void *user, int32_t step);\n"
                  "typedef int arn_init_fn(const struct arn_mem *m);\n"
                  "typedef int arn_run_fn(const struct arn_mem *m, const struct arn_hook *hook);\n"
                  "typedef void arn_seed_fn(const struct arn_mem *m, uint64_t seed, uint32_t run);\n");
#define ARN_STRUCT(name, meaning)      ac_put(e->to, "struct " #name " { /* " meaning " */\n");
#define ARN_FIELD(type, name, meaning) ac_put(e->to, "    " #type " " #name "; /* " meaning " */\n");
#define ARN_END                        ac_put(e->to, "};\n");
#include "runtime/arn_model.def"
#undef ARN_STRUCT
#undef ARN_FIELD
#undef ARN_END
    ac_put(e->to, "#endif\n\n");
}

static const char *quoted(ac_emit *e, const char *s)
{
    return s && *s ? ac_strf(e->region, "\"%s\"", ac_c_string_text(e->region, s)) : "\"\"";
}

static void put_dims(ac_emit *e, const char *kind, int32_t i, const ac_tensor *t)
{
    const char *p = e->m->name;
    if (t->rank) {
        ac_putf(e->to, "static const int64_t %s_%s%d_dim[%d] = {", p, kind, i, t->rank);
        for (int32_t d = 0; d < t->rank; d++)
            ac_putf(e->to, "%s%" PRId64, d ? ", " : "", t->dim[d]);
        ac_put(e->to, "};\n");
    }
    if (!t->quant)
        return;
    ac_putf(e->to, "static const float %s_%s%d_scale[%d] = {", p, kind, i, t->quant->n);
    for (int32_t k = 0; k < t->quant->n; k++)
        ac_putf(e->to, "%s%s", k ? ", " : "", ac_c_float(e->region, t->quant->scale[k]).text);
    ac_putf(e->to, "};\nstatic const int32_t %s_%s%d_zero[%d] = {", p, kind, i, t->quant->n);
    for (int32_t k = 0; k < t->quant->n; k++)
        ac_putf(e->to, "%s%d", k ? ", " : "", t->quant->zero[k]);
    ac_put(e->to, "};\n");
}

static void put_tensor(ac_emit *e, const char *kind, int32_t i, const ac_io *io)
{
    const ac_tensor *t = io->tensor;
    const char *p = e->m->name, *data = "NULL";
    ac_bytes offset = io->space == AC_SPACE_ARENA ? ac_module_at(e->m, io->index, io->offset) : io->offset;
    if (io->space == AC_SPACE_CONST) {
        offset = e->weights == AC_WEIGHTS_RODATA ? 0 : e->offset[io->offset];
        if (e->weights == AC_WEIGHTS_RODATA)
            data = e->konst[io->offset];
        else if (e->weights == AC_WEIGHTS_ASM)
            data = ac_strf(e->region, "%s_blob + %lld", p, (long long)offset);
    }
    static const int SPACE[] = {[AC_SPACE_ARENA] = ARN_IN_ARENA,
                                [AC_SPACE_STATE] = ARN_IN_STATE,
                                [AC_SPACE_CONST] = ARN_IN_WEIGHTS,
                                [AC_SPACE_IN] = ARN_IN_CALLER,
                                [AC_SPACE_OUT] = ARN_IN_CALLER};
    ac_putf(e->to, "    {%s, \"%s\", %d, %d, ", quoted(e, t->name), ac_dtype_name(t->dtype), (int)t->dtype, t->rank);
    ac_put(e->to, t->rank ? ac_strf(e->region, "%s_%s%d_dim, ", p, kind, i) : "NULL, ");
    ac_putf(e->to, "%d, %d, %lldu, %lldu, %s, ", SPACE[io->space], io->clobbered, (long long)offset,
            (long long)io->bytes, data);
    if (t->quant)
        ac_putf(e->to, "%d, %d, %s_%s%d_scale, %s_%s%d_zero},\n", t->quant->n, t->quant->axis, p, kind, i, p, kind, i);
    else
        ac_put(e->to, "0, 0, NULL, NULL},\n");
}

static void put_tensors(ac_emit *e, const char *kind, const ac_io *io, int32_t n)
{
    if (!n)
        return;
    for (int32_t i = 0; i < n; i++)
        put_dims(e, kind, i, io[i].tensor);
    ac_putf(e->to, "static const struct arn_tensor %s_%s_tensors[%d] = {\n", e->m->name, kind, n);
    for (int32_t i = 0; i < n; i++)
        put_tensor(e, kind, i, &io[i]);
    ac_put(e->to, "};\n");
}

static void put_steps(ac_emit *e)
{
    const ac_module *m = e->m;
    if (!m->n_calls)
        return;
    ac_putf(e->to, "static const struct arn_step %s_step_table[%d] = {\n", m->name, m->n_calls);
    for (int32_t i = 0; i < m->n_calls; i++) {
        const ac_call *c = &m->call[i];
        ac_putf(e->to, "    {%s, %s, %s, %" PRId64 "},\n", quoted(e, c->op), quoted(e, c->name),
                c->fused ? quoted(e, c->fused) : "NULL", c->low ? c->low->macs : 0);
    }
    ac_put(e->to, "};\n");
}

/* type: of the result */
static void put_entry(ac_emit *e, const char *type, const char *verb, const char *params, const char *call)
{
    const char *p = e->m->name;
    ac_putf(e->to, "static %s %s_host_%s(%s)\n{\n    %s_mem m;\n    m.weights = a->weights;\n", type, p, verb, params,
            p);
    for (int32_t i = 0; i < e->m->n_ram; i++) /* all of them are one block here */
        if (e->m->ram[i].base)
            ac_putf(e->to, "    m.%s = (uint8_t *)a->arena + %lld;\n", e->m->ram[i].name, (long long)e->m->ram[i].base);
        else
            ac_putf(e->to, "    m.%s = a->arena;\n", e->m->ram[i].name);
    if (e->m->state_bytes)
        ac_put(e->to, "    m.state = a->state;\n");
    for (int32_t i = 0; e->m->caller_io && i < e->m->n_inputs; i++)
        ac_putf(e->to, "    m.in[%d] = a->in ? a->in[%d] : NULL;\n", i, i);
    for (int32_t i = 0; e->m->caller_io && i < e->m->n_outputs; i++)
        ac_putf(e->to, "    m.out[%d] = a->out ? a->out[%d] : NULL;\n", i, i);
    if (e->m->threads > 1)
        ac_put(e->to, "    m.pool = a->pool;\n");
    ac_putf(e->to, "    %s\n}\n\n", call);
}

/* NAME_program: all parts, if there are several. */
static void put_program(ac_emit *e)
{
    const ac_module *m = e->m;
    const char *p = m->name;
    if (m->n_parts == 1)
        return;
    ac_putf(e->to, "extern arn_run_fn *const %s_program[%d];\narn_run_fn *const %s_program[%d] = {", p, m->n_parts, p,
            m->n_parts);
    for (int32_t k = 0; k < m->n_parts; k++)
        ac_putf(e->to, "%s%s_host_%s", k ? ", " : "", p, m->part[k].name);
    ac_put(e->to, "};\n\n");
}

void ac_emit_host_model(ac_emit *e)
{
    const ac_module *m = e->m;
    const char *p = m->name;
    bool blob = e->weights != AC_WEIGHTS_RODATA;
    put_entry(e, "int", "init", "const struct arn_mem *a", ac_strf(e->region, "return %s_init(&m);", p));
    const char *run = ac_strf(e->region, "return %s_steps(&m, hook);", p);
    if (m->streamed) {
        const char *U = e->file.upper;
        const int32_t i = m->streamed_input;
        run = ac_strf(e->region,
                      "uint32_t row;\n    int status = %s_OK;\n"
                      "    for (row = 0; row < %s_IN%d_ROWS && status == %s_OK; row++) {\n"
                      "        memcpy(%s_in%d_row(&m), (const uint8_t *)a->in[%d] + (size_t)row * %s_IN%d_ROW_BYTES, "
                      "%s_IN%d_ROW_BYTES);\n"
                      "        status = %s_steps(&m, hook, row);\n    }\n    return status;",
                      U, U, i, U, p, i, i, U, i, U, i, p);
    }
    for (int32_t k = 0; k < m->n_parts; k++)
        put_entry(e, "int", m->part[k].name, "const struct arn_mem *a, const struct arn_hook *hook",
                  m->n_parts > 1 ? ac_strf(e->region, "return %s(&m, hook);", ac_emit_steps_name(e, &m->part[k]))
                                 : run);
    if (m->state_bytes)
        put_entry(e, "int", "reset", "const struct arn_mem *a",
                  ac_strf(e->region, "%s_reset(&m);\n    return %s_OK;", p, e->file.upper));
    const bool seeded = m->n_random && !m->target->gpu;
    if (seeded)
        put_entry(e, "void", "seed", "const struct arn_mem *a, uint64_t seed, uint32_t run",
                  ac_strf(e->region, "%s_seed(&m, seed, run);", p));
    put_tensors(e, "in", m->input, m->n_inputs);
    put_tensors(e, "out", m->output, m->n_outputs);
    put_steps(e);
    ac_putf(e->to, "extern const struct arn_model %s_model;\nconst struct arn_model %s_model = {\n", p, p);
    ac_putf(e->to, "    %du, %s, %s, %s,\n", (int)ARN_ABI, quoted(e, p), quoted(e, m->version),
            quoted(e, m->target->name));
    ac_putf(e->to, "    %lldu, %lldu, %s_STATE_BYTES, %lldu, %d,\n", (long long)m->arena_bytes,
            (long long)(m->arena_align > 0 ? m->arena_align : 1), e->file.upper, blob ? (long long)e->total : 0,
            e->weights == AC_WEIGHTS_RODATA ? ARN_WEIGHTS_RODATA
            : e->weights == AC_WEIGHTS_ASM  ? ARN_WEIGHTS_ASM
                                            : ARN_WEIGHTS_BLOB);
    ac_putf(e->to, "    %d, %d, %d, %d,\n", m->threads > 1 ? m->threads : 1, m->n_inputs, m->n_outputs, m->n_calls);
    ac_putf(e->to, "    %s, %s, %s,\n", m->n_inputs ? ac_strf(e->region, "%s_in_tensors", p) : "NULL",
            m->n_outputs ? ac_strf(e->region, "%s_out_tensors", p) : "NULL",
            m->n_calls ? ac_strf(e->region, "%s_step_table", p) : "NULL");
    ac_putf(e->to, "    %s_host_init, %s_host_%s, %s, %s\n};\n\n", p, p, m->part[0].name,
            m->state_bytes ? ac_strf(e->region, "%s_host_reset", p) : "NULL",
            seeded ? ac_strf(e->region, "%s_host_seed", p) : "NULL");
    put_program(e);
    ac_putf(e->to,
            "size_t %s_describe(const struct arn_model **model)\n{\n    *model = &%s_model;\n    return sizeof "
            "%s_model;\n}\n",
            p, p, p);
}

void ac_emit_host_api(ac_emit *e)
{
    const char *p = e->m->name;
    ac_putf(
        e->to,
        "\n%s_ctx *%s_open(const char *weights_path, const char **why)\n{\n"
        "    return arn_open(&%s_model, weights_path, why);\n}\n\n"
        "int %s_run_dl(%s_ctx *ctx, const DLTensor *const *in, size_t n_in, DLTensor *const *out, size_t n_out)\n{\n"
        "    return arn_run_dl(ctx, in, n_in, out, n_out);\n}\n\n"
        "int %s_get_dl(%s_ctx *ctx, size_t output, DLManagedTensorVersioned **tensor)\n{\n"
        "    return arn_get_dl(ctx, output, tensor);\n}\n\n"
        "void %s_close(%s_ctx *ctx)\n{\n    arn_close(ctx);\n}\n",
        p, p, p, p, p, p, p, p, p);
}
