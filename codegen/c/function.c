/* function.c - prints a loop function as a C function, under a comment with its note and its buffers:
 *
 *     static void kws_relu_2(const float *restrict x, float *restrict out)
 *     {
 *         for (int32_t i = 0; i < 49; i++) {
 *             const float x0 = x[i];
 *             out[i] = x0 > 0.0f ? x0 : 0.0f;
 *         }
 *     }
 *
 * The instructions are walked once, in order. Each value becomes an expression built from those of its operands; the
 * expression is either inserted at its use (if inline_values.c allows it and it stays short) or gets a name here. */
#include "codegen/c/dialect.h"
#include "codegen/nests.h"

#include "base/format.h"
#include "codegen/dsp/planes.h"
#include "codegen/dsp/rows.h"

#include <string.h>

enum { JOIN_LIMIT = 90 }; /* characters of an expression without a name */

void ac_cfile_open(ac_cfile *F, ac_ctx *cx, const ac_dialect *dialect, const ac_target *target, const char *prefix)
{
    *F = (ac_cfile){.cx = cx, .region = cx->region, .dialect = dialect, .target = target, .prefix = prefix};
    F->upper = ac_c_upper(cx->region, prefix);
    ac_sink_open(&F->types, cx);
    ac_sink_open(&F->helpers, cx);
}

static const char *value_type(ac_cfile *F, const ac_cfn *f, ac_x x)
{
    const ac_ins *in = c_ins(f, x);
    ac_dtype d = (ac_dtype)in->dtype;
    if (in->lanes <= 1)
        return d != AC_BOOL ? ac_dtype_c(d) : ac_c_strict(F) ? "bool" : "int";
    return F->dialect->vector_type(F, d == AC_BOOL ? ac_c_mask_type(f->val[x].mask) : d, in->lanes);
}

/* Names the value at this position: a load after its buffer, all others t0, t1, ... */
static void name_value(ac_cfn *f, ac_x x)
{
    const ac_ins *in = c_ins(f, x);
    const char *base = in->op == AC_L_LOAD ? f->buf[in->aux] : "t";
    const char *type = value_type(f->file, f, x);
    const char *name = ac_c_name_number(&f->names, base);
    ac_cexpr e = in->lanes > 1 ? ac_c_vec(f, x) : f->val[x].e;
    if (in->lanes <= 1 && in->dtype != AC_BOOL)
        e = ac_c_exact(f->file, e, (ac_dtype)in->dtype);
    ac_c_line(f, "const %s %s = %s;", type, name, e.text);
    f->val[x].e = ac_c_atom(name);
    f->val[x].e.exact = in->dtype != AC_BOOL; /* an int */
    f->val[x].one = (ac_cexpr){0};
}

/* A word reinterpreted as another type keeps its name. */
static bool is_same_word(const ac_cfn *f, ac_x x)
{
    const ac_ins *in = c_ins(f, x);
    return ac_target_halves(f->file->target) && in->op == AC_L_BITCAST && !f->use[in->a].join &&
           f->val[x].e.text == f->val[in->a].e.text;
}

static int print_value(ac_cfn *f, ac_x x)
{
    const ac_ins *in = c_ins(f, x);
    const ac_dialect *D = f->file->dialect;
    if (f->scaled && f->scaled[x].inside)
        return AC_OK;
    f->val[x].e = D->value ? D->value(f, x) : (ac_cexpr){0};
    const bool lanes = in->lanes > 1 || (in->a && c_ins(f, in->a)->lanes > 1);
    if (!f->val[x].e.text && lanes && ac_target_halves(f->file->target))
        f->val[x].e = ac_c_word(f, x);
    else if (!f->val[x].e.text && lanes)
        f->val[x] = ac_c_vector(f, x);
    else if (!f->val[x].e.text)
        f->val[x].e = f->scaled && f->scaled[x].a ? ac_c_scaled(f, x) : ac_c_scalar(f, x);
    /* The vector text of a splat is printed at its use. */
    const ac_cexpr *e = f->val[x].e.text ? &f->val[x].e : &f->val[x].one;
    if (!e->text)
        return ac_c_refuse(f->file, f->fn, "an instruction of this type");
    bool short_enough = strlen(e->text) <= JOIN_LIMIT || in->op == AC_L_CONST || in->op == AC_L_GET;
    const bool named = !f->use[x].join || !short_enough || (f->scaled && f->scaled[x].named);
    if (named && !is_same_word(f, x))
        name_value(f, x);
    return AC_OK;
}

static void print_var(ac_cfn *f, ac_x x)
{
    const ac_ins *in = c_ins(f, x);
    f->val[x].mask = f->val[in->a].mask;
    const char *type = value_type(f->file, f, x);
    const char *name = in->name ? ac_c_name_take(&f->names, in->name) : ac_c_name_number(&f->names, "v");
    ac_cexpr init = in->lanes > 1 ? ac_c_vec(f, in->a) : f->val[in->a].e;
    if (in->lanes <= 1 && in->dtype != AC_BOOL)
        init = ac_c_exact(f->file, init, (ac_dtype)in->dtype);
    ac_c_line(f, "%s %s = %s;", type, name, init.text);
    f->val[x].e = ac_c_atom(name);
    f->val[x].e.exact = in->dtype != AC_BOOL;
}

static void print_set(ac_cfn *f, ac_x x)
{
    const ac_ins *in = c_ins(f, x), *v = c_ins(f, in->a), *var = c_ins(f, in->aux);
    const char *name = f->val[in->aux].e.text;
    ac_cexpr e = f->val[in->a].e;
    const ac_ins *left = v->op == AC_L_ADD && e.top == C_ADD ? c_ins(f, v->a) : NULL;
    const char *sum = left && left->op == AC_L_GET && left->aux == in->aux ? f->val[v->a].e.text : NULL;
    const bool same = sum && !strcmp(sum, name); /* else the old value has its own name */
    if (same && !ac_c_is_small((ac_dtype)v->dtype)) {
        ac_c_line(f, "%s += %s;", name, e.text + strlen(name) + 3); /* after "name + " */
        return;
    }
    if (var->lanes > 1)
        e = var->dtype == AC_BOOL ? ac_c_mask_as(f, in->a, f->val[in->aux].mask) : ac_c_vec(f, in->a);
    else if (var->dtype != AC_BOOL)
        e = ac_c_exact(f->file, e, (ac_dtype)var->dtype);
    if (strcmp(e.text, name)) /* v = v has no effect, and clang warns about it */
        ac_c_line(f, "%s = %s;", name, e.text);
}

static void print_for(ac_cfn *f, ac_x x)
{
    const ac_ins *in = c_ins(f, x);
    const ac_dialect *D = f->file->dialect;
    if (D->open_loop && D->open_loop(f, x))
        return;
    const char *name = ac_c_name_take(&f->names, in->name ? in->name : "i");
    if (D->unroll && in->aux == AC_MARK_UNROLL)
        ac_c_line(f, "%s", D->unroll);
    const char *lo = f->val[in->a].e.text, *hi = f->val[in->b].e.text;
    long long step = (long long)in->k.i;
    char next[40];
    if (step == 1 || step == -1)
        ac_print(next, sizeof next, "%s", step > 0 ? "++" : "--");
    else
        ac_print(next, sizeof next, " %s %lld", step > 0 ? "+=" : "-=", step > 0 ? step : -step);
    ac_c_line(f, "for (int32_t %s = %s; %s %s %s; %s%s) {", name, lo, name, step > 0 ? "<" : ">", hi, name, next);
    f->val[x].e = ac_c_atom(name);
    f->depth++;
}

static const char *condition(const ac_cfn *f, ac_x x)
{
    ac_cexpr e = f->val[x].e;
    return e.top == C_COND && !ac_c_strict(f->file) ? ac_strf(f->file->region, "(%s) != 0", e.text) : e.text;
}

static const char *own_statement(ac_cfn *f, ac_x x)
{
    const ac_dialect *D = f->file->dialect;
    return D->statement ? D->statement(f, x) : NULL;
}

static void print_store(ac_cfn *f, ac_x x)
{
    const ac_ins *in = c_ins(f, x);
    const char *own = own_statement(f, x);
    if (own) {
        ac_c_line(f, "%s", own);
        return;
    }
    if (c_ins(f, in->b)->lanes > 1) {
        if (ac_target_halves(f->file->target))
            ac_c_word_store(f, x);
        else
            ac_c_vec_store(f, x);
        return;
    }
    ac_dtype d = f->fn->buf.item[in->aux].dtype;
    ac_cexpr e = f->val[in->b].e;
    if (d == AC_BOOL && ac_c_strict(f->file))
        e = ac_c_cond(f->file->region, e, ac_c_atom("1u"), ac_c_atom("0u"));
    else
        e = ac_c_exact(f->file, e, d);
    ac_c_line(f, "%s[%s] = %s;", f->buf[in->aux], f->val[in->a].e.text, e.text);
}

/* The legaliser left it, so vector extensions are used anyway. The address is an integer because it may be out of
 * range. */
static void print_prefetch(ac_cfn *f, ac_x x)
{
    const ac_ins *in = c_ins(f, x);
    ac_c_line(f, "__builtin_prefetch((const void *)((uintptr_t)%s + (uintptr_t)(%s) * sizeof *%s), 0, 2);",
              f->buf[in->aux], f->val[in->a].e.text, f->buf[in->aux]);
}

static const char *status_name(const ac_cfn *f, int32_t status)
{
    static const char *const NAMES[] = {"OK", "EALIGN", "EDIM", "EWEIGHTS", "EINDEX"};
    if (status < 0 || status > 4)
        return ac_strf(f->file->region, "%d", status);
    return ac_strf(f->file->region, "%s_%s", f->file->upper, NAMES[status]);
}

static void print_fail(ac_cfn *f, const ac_ins *in)
{
    const char *to = f->file->dialect->status;
    ac_c_line(f, to ? "if (%s) {" : "if (%s)", condition(f, in->a));
    if (!to) {
        ac_c_line(f, "    return %s;", status_name(f, in->aux));
        return;
    }
    ac_c_line(f, "    *%s = %d;", to, in->aux);
    ac_c_line(f, "    return;");
    ac_c_line(f, "}");
}

typedef AC_VEC(ac_x) x_list;

static void print_end(ac_cfn *f, x_list *open)
{
    const ac_dialect *D = f->file->dialect;
    const ac_x head = open->item[--open->n];
    f->depth--;
    ac_c_line(f, "}");
    if (c_ins(f, head)->op != AC_L_FOR)
        return;
    if (D->close_loop)
        D->close_loop(f, head);
    ac_c_name_drop(&f->names, f->val[head].e.text);
}

static int print_mma(ac_cfn *f, ac_x x)
{
    const char *own = own_statement(f, x);
    if (!own)
        return ac_c_refuse(f->file, f->fn, "a product of fragments");
    ac_c_line(f, "%s", own);
    return AC_OK;
}

/* open: the blocks around x. */
static int print_ins(ac_cfn *f, ac_x x, x_list *open)
{
    const ac_ins *in = c_ins(f, x);
    switch ((ac_lop)in->op) {
    case AC_L_VAR:
        print_var(f, x);
        return AC_OK;
    case AC_L_SET:
        print_set(f, x);
        return AC_OK;
    case AC_L_STORE:
        print_store(f, x);
        return AC_OK;
    case AC_L_MMA:
        return print_mma(f, x);
    case AC_L_TILE:
        (ac_ins_tile(in).form == AC_TILE_WORDS ? ac_c_words : ac_c_tile)(f, in);
        return AC_OK;
    case AC_L_REQUANT:
        ac_c_requant(f, in);
        return AC_OK;
    case AC_L_PREFETCH:
        print_prefetch(f, x);
        return AC_OK;
    case AC_L_FOR:
        print_for(f, x);
        ac_push(f->file->region, open, x);
        return AC_OK;
    case AC_L_IF:
        ac_c_line(f, "if (%s) {", condition(f, in->a));
        f->depth++;
        ac_push(f->file->region, open, x);
        return AC_OK;
    case AC_L_ELSE:
        f->depth--;
        ac_c_line(f, "} else {");
        f->depth++;
        return AC_OK;
    case AC_L_END:
        print_end(f, open);
        return AC_OK;
    case AC_L_BREAK_IF:
        ac_c_line(f, "if (%s)", condition(f, in->a));
        ac_c_line(f, "    break;");
        return AC_OK;
    case AC_L_FAIL_IF:
        print_fail(f, in);
        return AC_OK;
    case AC_L_NONE:
    case AC_L_COUNT:
        return AC_OK;
    // clang-format off
    case AC_L_CONST: case AC_L_CONSTV: case AC_L_GET: case AC_L_LOAD: case AC_L_ADD: case AC_L_SUB: case AC_L_MUL:
    case AC_L_DIV: case AC_L_MOD: case AC_L_MIN: case AC_L_MAX: case AC_L_NEG: case AC_L_ABS: case AC_L_SQRT:
    case AC_L_FLOOR: case AC_L_CEIL: case AC_L_TRUNC: case AC_L_RINT: case AC_L_AND: case AC_L_OR: case AC_L_XOR:
    case AC_L_NOT: case AC_L_SHL: case AC_L_SHR: case AC_L_EQ: case AC_L_NE: case AC_L_LT: case AC_L_LE:
    case AC_L_SELECT: case AC_L_CAST: case AC_L_SATCAST: case AC_L_BITCAST: case AC_L_FMA: case AC_L_DOT4:
    case AC_L_DOT2: case AC_L_SPLAT: case AC_L_LANE: case AC_L_SHUFFLE: case AC_L_SUMLANES: case AC_L_MAXLANES:
        break;
        // clang-format on
    }
    return print_value(f, x);
}

static int print_body(ac_cfn *f)
{
    x_list open = {0};
    ac_nest nest;
    for (ac_x x = 1; x < f->fn->code.n; x++)
        if (f->called < f->pieces->n && ac_is_piece(f->fn, x)) {
            ac_c_call_piece(f);
            x++; /* its END */
        } else if (ac_c_rows_at(f->row, x)) {
            (f->row[x]->tile.form == AC_TILE_WORDS ? ac_c_words_rows : ac_c_rows)(f, f->row[x]);
        } else if (ac_nest_find(f->fn, x, &nest)) {
            for (ac_x k = x + 1; k < nest.end; k++)
                if (c_is_const(f, k) && f->use[k].live)
                    AC_TRY(print_value(f, k));
            ac_c_nest(f, &nest);
            x = nest.end;
        } else if (f->use[x].live) {
            AC_TRY(print_ins(f, x, &open));
        }
    return AC_OK;
}

const ac_loop_fn *ac_c_form(ac_cfile *F, const ac_loop_fn *fn)
{
    bool vectors = false, unroll = false;
    for (ac_x x = 1; x < fn->code.n; x++) {
        vectors |= fn->code.item[x].lanes > 1;
        unroll |= fn->code.item[x].op == AC_L_FOR && fn->code.item[x].aux == AC_MARK_UNROLL;
    }
    if (F->target->vec_bytes && unroll && !(fn = ac_loop_unroll(F->cx, fn)))
        return NULL;
    if (!vectors)
        return fn;
    const ac_loop_fn *split = F->target->vec_bytes ? ac_c_split(F->cx, fn, F->target->vec_bytes) : NULL;
    for (ac_x x = 1; split && x < split->code.n; x++) {
        const ac_ins *in = &split->code.item[x];
        if (in->lanes > 1 && !ac_c_vec_ok(F->target, (ac_dtype)in->dtype, in->lanes))
            split = NULL;
    }
    if (split)
        return split;
    return ac_target_halves(F->target) ? ac_loop_halves(F->cx, fn) : ac_loop_scalar(F->cx, fn);
}

int ac_c_print_fn(ac_cfile *F, const ac_loop_fn *given, const ac_csig *sig, ac_sink *to)
{
    const ac_dialect *D = F->dialect;
    if (given->call)
        return ac_c_print_custom(F, given, sig, to);
    const ac_pieces pieces = ac_share_pieces(F->cx, F->region, given, F->target, F->share, NULL);
    const ac_loop_fn *fn = D->form(F, pieces.outer);
    if (!fn)
        return AC_FAIL;
    ac_rows **row = ac_c_find_rows(F, fn);
    ac_cuse *use = ac_c_inline_plan(fn, F->target, row, F->region);
    if (D->review)
        D->review(fn, use, F->region);
    ac_cfn f = {.file = F, .fn = fn, .to = to, .use = use, .row = row, .sig = sig};
    f.pieces = &pieces;
    AC_TRY(ac_c_print_pieces(&f, sig));
    f.val = AC_NEW_N(F->region, ac_cval, fn->code.n);
    f.buf = AC_NEW_N(F->region, const char *, fn->buf.n + 1);
    ac_c_names_open(&f.names, F->cx, F->prefix);
    if (D->status)
        ac_c_name_take(&f.names, D->status);
    for (int32_t i = 0; i < fn->buf.n; i++)
        f.buf[i] = ac_c_name_take(&f.names, fn->buf.item[i].name);
    if (ac_c_strict(F))
        ac_c_find_scaled(&f);
    uint8_t *uses = ac_c_buffer_uses(fn, row, F->region);
    ac_c_add_uses(&pieces, F->region, uses);
    ac_c_print_head(&f, uses);
    const bool whole = ac_c_plane(&f, given);
    AC_TRY(print_body(&f));
    if (whole)
        ac_put(to, "#endif\n");
    if (fn->fails && !D->status)
        ac_c_line(&f, "return %s_OK;", F->upper);
    ac_put(to, "}\n\n");
    return AC_OK;
}

/* Intrinsics. Parsing those of AVX-512 takes gcc longer than many models, so it only includes the parts of immintrin.h
 * that AVX2 needs. They come before the pragmas, which would apply to each of them and double the time. */
static void print_intrinsics(const ac_target *t, ac_sink *to)
{
    if (!strncmp(t->features, "sse4.2,", 7))
        ac_put(to, "#include <smmintrin.h>\n\n");
    else if (strncmp(t->features, "avx2,", 5) || strstr(t->features, "vnni"))
        ac_put(to, "#include <immintrin.h>\n\n");
    else
        ac_put(to, "/* All of gcc's immintrin.h takes it half a second: this is what AVX2 has of it. */\n"
                   "#if defined(__GNUC__) && __GNUC__ < 16 && !defined(__clang__) && !defined(_IMMINTRIN_H_INCLUDED)\n"
                   "#define _IMMINTRIN_H_INCLUDED\n"
                   "#include <smmintrin.h>\n"
                   "#include <avxintrin.h>\n"
                   "#include <avx2intrin.h>\n"
                   "#include <fmaintrin.h>\n"
                   "#include <f16cintrin.h>\n"
                   "#undef _IMMINTRIN_H_INCLUDED\n"
                   "#else\n#include <immintrin.h>\n#endif\n\n");
}

void ac_c_print_prologue(ac_cfile *F, ac_sink *to)
{
    const ac_target *t = F->target;
    int bits = t->vec_bytes * 8;
    if (bits)
        print_intrinsics(t, to);
    /* gcc moves all loads of a register tile to its front, until sums have no registers; tiles of asm it cannot */
    const bool in_order = t->core && !t->dsp;
    ac_putf(
        to,
        "/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the\n"
        " * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL.%s */\n"
        "#if defined(__clang__)\n"
        "#pragma STDC FP_CONTRACT OFF\n"
        "#elif defined(__GNUC__)\n"
        "#pragma GCC optimize(\"fp-contract=off,no-delete-null-pointer-checks%s\")\n"
        "#endif\n\n",
        in_order ? "\n * What is loaded early keeps sums out of registers: only a second pass schedules, and no value "
                   "of an iteration\n * stays for the next ones."
                 : "",
        in_order ? ",no-schedule-insns,no-predictive-commoning" : "");
    if (!bits) {
        const char *helpers = F->helpers.n ? ac_sink_text(&F->helpers) : "";
        if (strstr(helpers, "__SSE2__"))
            ac_put(to, "#if defined(__SSE2__)\n#include <emmintrin.h>\n#endif\n\n");
        if (strstr(helpers, ac_planes_name()))
            ac_put(to, "/* The loops of a depthwise convolution, which other compilers and processors need, use "
                       "functions. */\n"
                       "#if defined(__clang__)\n#pragma clang diagnostic ignored \"-Wunused-function\"\n#endif\n\n");
        if (strstr(helpers, "__ARM_FEATURE_DSP"))
            ac_put(to, "#if defined(__ARM_FEATURE_DSP)\n#include <arm_acle.h>\n#endif\n\n");
    } else {
        if (F->target->amx)
            ac_put(to, "/* AMX: Linux gives its registers to a program that has asked, once, before threads start:\n"
                       " * syscall(SYS_arch_prctl, 0x1023, 18) == 0, of <sys/syscall.h> and <unistd.h>. */\n\n");
        ac_putf(to,
                "/* Vectors of GNU C; the attribute lets this file be compiled without -m options. */\n"
                "#if defined(__clang__)\n"
                "#define %s_SIMD __attribute__((target(\"%s\"), min_vector_width(%d)))\n"
                "#else\n"
                "#pragma GCC diagnostic ignored \"-Wpsabi\"\n"
                "#define %s_SIMD __attribute__((target(\"%s\")))\n"
                "#endif\n"
                "#define %s_INLINE static inline __attribute__((always_inline)) %s_SIMD\n\n",
                F->upper, F->target->features, bits, F->upper, F->target->features, F->upper, F->upper);
    }
    if (F->types.n) {
        ac_put_n(to, F->types.text, F->types.n);
        ac_putc(to, '\n');
    }
    ac_put_n(to, F->helpers.text, F->helpers.n);
}
