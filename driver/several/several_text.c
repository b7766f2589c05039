/* several_text.c - texts about several models in one arena: the report, and the header and source around the code of
 * the parts. */
#include "driver/several/several.h"

#include "base/ascii.h"
#include "codegen/c/emit.h"
#include "base/json_out.h"
#include "codegen/c/identifiers.h"
#include "codegen/c/selftest.h"

#include <string.h>

static const char *label(const ac_several *s, int32_t k)
{
    ac_region *r = s->w->cx.region;
    return s->range ? ac_strf(r, "%s = %lld", s->range, (long long)(s->lo + k)) : s->part[k].w->source.base;
}

static bool optimal(const ac_several_part *p)
{
    return p->w->made.planned->plan.arena_bytes == p->w->made.planned->plan.proven;
}

/* Of very many sizes a few stand for all; JSON has them all. */
static bool is_shown(const ac_several *s, int32_t k)
{
    enum { SHOWN = 16 };
    const int32_t step = (s->n + SHOWN - 1) / SHOWN;
    return k == s->n - 1 || k % step == 0;
}

void ac_several_put_text(ac_several *s, ac_sink *to)
{
    ac_ctx *cx = &s->w->cx;
    if (s->range)
        ac_putf(to, "%s   %d plans, one for each %s from %lld to %lld, in one arena%s\n\n", s->w->source.base, s->n,
                s->range, (long long)s->lo, (long long)s->hi, s->one ? " and one program" : "");
    else
        ac_putf(to, "%d models, one arena, %s\n\n", s->n, ac_option_text(&s->w->opt, AC_OPT_share));
    ac_putf(to, "  RAM  arena      %13s B", ac_commas(cx, s->arena));
    if (!s->range)
        ac_putf(to, "   apart they would take %s B", ac_commas(cx, s->apart));
    ac_putc(to, '\n');
    ac_putf(to, "       state      %13s B\n", ac_commas(cx, s->state));
    if (s->compiled)
        ac_putf(to,
                "  ROM  weights    %13s B   constants with the same bytes are kept once\n       saved      %13s B\n",
                ac_commas(cx, s->rom.kept), ac_commas(cx, s->rom.saved));
    if (s->compiled && s->one)
        ac_putf(to, "       code       %13d kernels, in %d %s of calls\n", s->whole->n_fn, s->whole->sizes->n_classes,
                s->whole->sizes->n_classes == 1 ? "sequence" : "sequences");
    ac_putf(to, "\n  %-32s %12s %10s %10s %12s  plan\n", "model", "arena B", "at", "state at", "weights B");
    for (int32_t k = 0; k < s->n; k++) {
        const ac_several_part *p = &s->part[k];
        if (s->one && !is_shown(s, k))
            continue;
        ac_putf(to, "  %-32s %12s 0x%08llx 0x%08llx %12s  %s\n", label(s, k),
                ac_commas(cx, p->w->made.planned->plan.arena_bytes), (unsigned long long)p->arena_at,
                (unsigned long long)p->state_at, ac_commas(cx, p->weights),
                optimal(p) ? "optimal" : p->w->made.planned->plan.strategy);
    }
}

void ac_several_put_json(ac_several *s, ac_sink *to)
{
    ac_json j = ac_json_open(to);
    ac_json_obj(&j, NULL);
    ac_json_str(&j, "schema", "arenac-share/1");
    ac_json_str(&j, "share", s->w->opt.share ? ac_option_text(&s->w->opt, AC_OPT_share) : "range");
    ac_json_int(&j, "arena_bytes", s->arena);
    ac_json_int(&j, "apart_bytes", s->apart);
    ac_json_int(&j, "state_bytes", s->state);
    ac_json_int(&j, "align_bytes", s->align);
    if (s->compiled) {
        ac_json_int(&j, "weight_bytes", s->rom.kept);
        ac_json_int(&j, "weight_bytes_saved", s->rom.saved);
        if (s->one) {
            ac_json_int(&j, "kernels", s->whole->n_fn);
            ac_json_int(&j, "call_sequences", s->whole->sizes->n_classes);
        }
    }
    ac_json_arr(&j, "models");
    for (int32_t k = 0; k < s->n; k++) {
        const ac_several_part *p = &s->part[k];
        ac_json_obj(&j, NULL);
        ac_json_str(&j, "file", p->w->source.base);
        ac_json_str(&j, "dim", s->range ? label(s, k) : NULL);
        ac_json_int(&j, "arena_bytes", p->w->made.planned->plan.arena_bytes);
        ac_json_int(&j, "arena_offset_bytes", p->arena_at);
        ac_json_int(&j, "lower_bound_bytes", p->w->made.planned->plan.proven);
        ac_json_bool(&j, "optimal", optimal(p));
        ac_json_int(&j, "state_bytes", p->w->made.planned->plan.mem_bytes[1]);
        ac_json_int(&j, "state_offset_bytes", p->state_at);
        ac_json_int(&j, "weight_bytes", p->weights);
        ac_json_end(&j);
    }
    ac_json_end(&j);
    ac_json_end(&j);
}

/* ------------------------------------------------------------------ code */

/* Are the weights a file that the caller loads? */
static bool has_blob(const ac_several *s)
{
    return ac_module_weights(s->part[0].w->made.module) == AC_WEIGHTS_BLOB;
}

/* Of the weights of one program. */
static ac_bytes block_bytes(const ac_several *s)
{
    ac_bytes *offset = AC_NEW_N(s->w->cx.region, ac_bytes, s->whole->n_konst + 1), total;
    ac_consts_layout(s->whole, offset, &total);
    return total;
}

/* NAME_PART(m): the memory of a part inside of the memory of all. */
static void put_view(ac_several *s, ac_sink *to, int32_t k)
{
    const ac_several_part *p = &s->part[k];
    const char *part_name = p->w->made.module->name;
    ac_putf(to, "static inline %s_mem %s_of_%s(const %s_mem *m)\n{\n    %s_mem of = {0};\n", part_name, s->name,
            part_name, s->name, part_name);
    ac_putf(to, "    of.arena = m->arena ? (uint8_t *)m->arena + %lldu : NULL;\n", (long long)p->arena_at);
    if (p->w->made.module->state_bytes)
        ac_putf(to, "    of.state = m->state ? (uint8_t *)m->state + %lldu : NULL;\n", (long long)p->state_at);
    if (has_blob(s))
        ac_put(to, "    of.weights = m->weights;\n");
    ac_put(to, "    return of;\n}\n");
}

void ac_several_put_header(ac_several *s, ac_sink *to)
{
    const char *U = s->upper, *p = s->name;
    ac_putf(to,
            "/* %s.h - made by arenac %s: %d %s in one arena of %s B%s; options: %s */\n#ifndef %s_H\n#define %s_H\n",
            s->stem, arenac_version(), s->n, s->range ? "sizes of a model" : "models", ac_commas(to->cx, s->arena),
            s->w->opt.share == AC_OPT_SHARE_CONCURRENT
                ? ", each with bytes of its own"
                : ", over each other: running one destroys inputs and outputs of the others",
            s->part[0].w->made.module->options, U, U);
    for (int32_t k = 0; k < s->n && !s->one; k++)
        ac_putf(to, "#include \"%s.h\"\n", s->part[k].w->made.module->name);
    if (s->one)
        ac_put(to, "#include <stddef.h>\n#include <stdint.h>\n");
    ac_putf(to, "\n#define %s_ARENA_BYTES %lldu\n#define %s_ARENA_ALIGN %lldu\n#define %s_STATE_BYTES %lldu\n", U,
            (long long)s->arena, U, (long long)s->align, U, (long long)s->state);
    if (has_blob(s) && s->one)
        ac_putf(to, "#define %s_WEIGHTS_BYTES %lldu\n", U, (long long)block_bytes(s));
    else if (has_blob(s))
        ac_putf(to, "#define %s_WEIGHTS_BYTES %s_WEIGHTS_BYTES\n", U,
                ac_c_upper(s->w->cx.region, s->part[0].w->made.module->name));
    if (s->range)
        ac_putf(to, "#define %s_MIN %lld /* of '%s' */\n#define %s_MAX %lld\n", U, (long long)s->lo, s->range, U,
                (long long)s->hi);
    ac_putf(to, "\ntypedef struct %s_mem {\n    void *arena; /* %s_ARENA_BYTES, aligned to %s_ARENA_ALIGN */\n", p, U,
            U);
    if (s->state)
        ac_putf(to, "    void *state; /* %s_STATE_BYTES, aligned as the arena; kept between runs */\n", U);
    if (has_blob(s))
        ac_putf(to, "    const void *weights; /* the blob of all, %s_WEIGHTS_BYTES, aligned to 64 */\n", U);
    ac_putf(to, "} %s_mem;\n", p);
    if (!s->one)
        ac_put(to, "\n/* The memory of one part: for its own functions. */\n");
    for (int32_t k = 0; k < s->n && !s->one; k++)
        put_view(s, to, k);
    if (s->range) {
        const ac_module *m = s->part[0].w->made.module;
        ac_putf(to,
                "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\nenum { %s_OK = 0, %s_EALIGN = 1, %s_EDIM = 2, "
                "%s_EWEIGHTS = 3, %s_EINDEX = 4 };\n"
                "/* %s: from %s_MIN to %s_MAX, else %s_EDIM or NULL. */\n"
                "int %s_init(const %s_mem *m, int32_t %s);\nint %s_run(const %s_mem *m, int32_t %s);\n",
                U, U, U, U, U, "n", U, U, U, p, p, "n", p, p, "n");
        if (s->one && s->state)
            ac_putf(to, "void %s_reset(const %s_mem *m);\n", p, p);
        for (int32_t i = 0; i < m->n_inputs; i++)
            ac_putf(to, "void *%s_in%d(const %s_mem *m, int32_t n, uint32_t *bytes);\n", p, i, p);
        for (int32_t i = 0; i < m->n_outputs; i++)
            ac_putf(to, "const void *%s_out%d(const %s_mem *m, int32_t n, uint32_t *bytes);\n", p, i, p);
        if (s->one)
            ac_emit_custom(s->whole, to);
        ac_put(to, "#ifdef __cplusplus\n}\n#endif\n");
    }
    ac_put(to, "#endif\n");
}

/* A function of the range that hands on to the part of the value. kind: "init", "run", "in0" ... */
static void put_switch(ac_several *s, ac_sink *to, const char *kind, bool pointer)
{
    const char *p = s->name;
    const bool input = kind[0] == 'i' && kind[1] == 'n' && ac_is_digit(kind[2]);
    if (pointer)
        ac_putf(to, "%svoid *%s_%s(const %s_mem *m, int32_t n, uint32_t *bytes)\n{\n    switch (n) {\n",
                input ? "" : "const ", p, kind, p);
    else
        ac_putf(to, "int %s_%s(const %s_mem *m, int32_t n)\n{\n    switch (n) {\n", p, kind, p);
    for (int32_t k = 0; k < s->n; k++) {
        const char *name = s->part[k].w->made.module->name;
        ac_putf(to, "    case %lld: {\n        const %s_mem of = %s_of_%s(m);\n", (long long)(s->lo + k), name, p,
                name);
        if (pointer)
            ac_putf(to, "        if (bytes)\n            *bytes = %s_%s_BYTES;\n", ac_c_upper(s->w->cx.region, name),
                    ac_c_upper(s->w->cx.region, kind));
        ac_putf(to, "        return %s%s_%s(&of);\n    }\n", pointer && input ? "(void *)" : "", name, kind);
    }
    ac_putf(to, "    default: return %s;\n    }\n}\n\n",
            pointer ? "NULL" : ac_strf(s->w->cx.region, "%s_EDIM", s->upper));
}

void ac_several_put_source(ac_several *s, ac_sink *to)
{
    const ac_module *m = s->part[0].w->made.module;
    ac_putf(to, "/* %s.c - made by arenac %s: chooses the code of a size; options: %s */\n#include \"%s.h\"\n\n",
            s->stem, arenac_version(), m->options, s->stem);
    put_switch(s, to, "init", false);
    put_switch(s, to, "run", false);
    for (int32_t i = 0; i < m->n_inputs; i++)
        put_switch(s, to, ac_strf(s->w->cx.region, "in%d", i), true);
    for (int32_t i = 0; i < m->n_outputs; i++)
        put_switch(s, to, ac_strf(s->w->cx.region, "out%d", i), true);
}

/* The memory of all, as arrays, for a program. */
static void put_main(ac_several *s, ac_sink *to)
{
    const char *U = s->upper, *p = s->name;
    const ac_module *m = s->part[0].w->made.module;
    ac_putf(to,
            "\n#ifdef %s_SELFTEST_MAIN /* a program: 0 when all is equal */\n#include <stdio.h>\n\n"
            "static uint8_t arena[%s_ARENA_BYTES + 1] __attribute__((aligned(%s_ARENA_ALIGN)));\n",
            U, U, U);
    if (s->state)
        ac_putf(to, "static uint8_t state[%s_STATE_BYTES] __attribute__((aligned(%s_ARENA_ALIGN)));\n", U, U);
    ac_selftest_put_request(m, to);
    ac_putf(to,
            "\nint main(void)\n{\n    const %s_mem m = {.arena = arena%s};\n%s    const int status = %s_selftest(&m);\n"
            "    puts(status == 0 ? \"%s: all outputs are equal\" : \"%s: an output differs\");\n"
            "    return status;\n}\n#endif\n",
            p, s->state ? ", .state = state" : "", m->target->amx ? "    REQUEST_AMX();\n" : "", p, p, p);
}

void ac_several_put_selftest(ac_several *s, ac_sink *to)
{
    const char *p = s->name;
    ac_putf(
        to,
        "/* %s.selftest.c - made by arenac %s: the self-tests of all parts, each in its place.\n"
        " *\n"
        " *     int status = %s_selftest(&m);      0: every byte is equal; else what the first said that failed */\n"
        "#include \"%s.h\"\n\n",
        s->stem, arenac_version(), p, s->stem);
    for (int32_t k = 0; k < s->n; k++) {
        const char *part = s->part[k].w->made.module->name;
        ac_putf(to, "int %s_selftest(const %s_mem *m);\n", part, part);
    }
    ac_putf(to, "int %s_selftest(const %s_mem *m);\nint %s_selftest(const %s_mem *m)\n{\n    int status = 0;\n", p, p,
            p, p);
    for (int32_t k = 0; k < s->n; k++) {
        const char *part = s->part[k].w->made.module->name;
        ac_putf(to,
                "    if (status == 0) {\n        const %s_mem of = %s_of_%s(m);\n        status = %s_selftest(&of);\n"
                "    }\n",
                part, p, part, part);
    }
    ac_put(to, "    return status;\n}\n");
    if (!has_blob(s))
        put_main(s, to);
}
