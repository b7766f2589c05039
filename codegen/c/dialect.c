/* dialect.c - the dialect of plain C: static functions, returned statuses, arrays on the stack. */
#include "codegen/c/dialect.h"

#include <math.h>
#include <string.h>

/* Compilers inline a function that is called once. `run` then holds the values of all steps, has too few registers, and
 * spills in the innermost loops: a fifth of ResNet8's instructions on a Cortex-M4. Inlining a short function without
 * nested loops costs nothing and saves code; the same holds for one whose loops are pieces. */
bool ac_c_stays_apart(const ac_target *t, const ac_loop_fn *fn)
{
    enum { SHORT = 24 }; /* instructions of the loop IR */
    if (!t->firmware)
        return false;
    int32_t depth = 0, deepest = 0;
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_lop op = (ac_lop)fn->code.item[x].op;
        if (t->rvv && (op == AC_L_TILE || op == AC_L_REQUANT))
            return true; /* the functions that they call have them as well (riscv.c) */
        depth += op == AC_L_FOR || op == AC_L_IF ? 1 : op == AC_L_END ? -1 : 0;
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest > 1 || fn->code.n > SHORT;
}

static const char *head(const ac_cfn *f)
{
    const ac_cfile *F = f->file;
    ac_region *r = F->region;
    const char *section = f->sig->section ? ac_strf(r, "%s ", f->sig->section) : "";
    const char *simd = F->target->vec_bytes ? ac_strf(r, "%s_SIMD ", F->upper) : "";
    const char *apart =
        !f->pieces->n && ac_c_stays_apart(F->target, f->fn) ? ac_strf(r, "%s_NOINLINE\n", F->upper) : "";
    return ac_strf(r, "%s%sstatic %s%s %s(", section, apart, simd, f->fn->fails ? "int" : "void", f->sig->name);
}

static const char *local(const ac_cfn *f, const ac_buf *b, const char *name)
{
    return ac_strf(f->file->region,
                   f->file->target->vec_bytes ? "%s %s[%lld] __attribute__((aligned(%d)));" : "%s %s[%lld];",
                   ac_dtype_c(b->dtype), name, (long long)b->count, b->align > 16 ? b->align : 16);
}

static ac_cexpr special(ac_cfile *F, double v, bool wide)
{
    const char *name = ac_c_helper(F, isnan(v) ? wide ? "nan_f64" : "nan_f32" : wide ? "inf_f64" : "inf_f32");
    ac_cexpr e = ac_c_atom(ac_strf(F->region, "%s.value", name));
    return v < 0 ? ac_c_unary(F->region, '-', e) : e;
}

/* `text` with each @ replaced by the macro that carries the target attribute. */
static void put_helper(ac_cfile *F, const char *name, const char *text)
{
    (void)name;
    for (const char *p; (p = strchr(text, '@')); text = p + 1) {
        ac_put_n(&F->helpers, text, (size_t)(p - text));
        ac_putf(&F->helpers, "%s_SIMD", F->upper);
    }
    ac_put(&F->helpers, text);
    ac_putc(&F->helpers, '\n');
}

static const char *lanes_type(ac_cfile *F, ac_dtype d, int32_t lanes)
{
    return ac_target_halves(F->target) ? "uint32_t" : ac_c_vec_type(F, d, lanes);
}

const ac_dialect ac_dialect_c = {.restrict_word = "restrict",
                                 .form = ac_c_form,
                                 .head = head,
                                 .local = local,
                                 .vector_type = lanes_type,
                                 .special = special,
                                 .put_helper = put_helper};
