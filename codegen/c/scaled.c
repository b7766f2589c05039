/* scaled.c - prints the product of requantisation as one function in C for firmware: the high word of a number times a
 * multiplier, plus a constant.
 *
 *     %1 = cast i64 %acc   %2 = cast i64 %m   %3 = mul %1 %2   %4 = add %3 %c   %5 = shr %4 32   %6 = cast i32 %5
 *  ->
 *     scaled_i32(acc, m, c)
 *
 * Intermediate values are not printed: each has one use, or only such products use it. Without c, but with a word added
 * afterwards, it is one instruction of Arm's DSP extension: high_sum_i32. */
#include "codegen/c/printer.h"
#include "ir/loop/builder.h"

static bool joins(const ac_cfn *f, ac_x x)
{
    return x > 0 && f->use[x].live && f->use[x].join && c_ins(f, x)->lanes <= 1;
}

/* The i32 that x widens to i64, 0: none. Several products may share it. */
static ac_x widened(const ac_cfn *f, ac_x x)
{
    const ac_ins *in = c_ins(f, x);
    const bool is = f->use[x].live && in->op == AC_L_CAST && in->dtype == AC_I64 && c_ins(f, in->a)->dtype == AC_I32;
    return is && c_ins(f, in->a)->lanes <= 1 ? in->a : 0;
}

static bool match(const ac_cfn *f, ac_x x, ac_cscaled *s, ac_x between[5])
{
    const ac_ins *in = c_ins(f, x), *shr = in->op == AC_L_CAST && in->dtype == AC_I32 ? c_ins(f, in->a) : NULL;
    if (!shr || in->lanes > 1 || !joins(f, in->a) || shr->op != AC_L_SHR || shr->dtype != AC_I64 ||
        !c_is_const(f, shr->b) || c_ins(f, shr->b)->k.i != 32 || !joins(f, shr->a))
        return false;
    ac_x mul = shr->a;
    s->add = 0;
    if (c_ins(f, mul)->op == AC_L_ADD) {
        const ac_ins *add = c_ins(f, mul);
        const bool left = c_ins(f, add->a)->op == AC_L_MUL && joins(f, add->a);
        mul = left ? add->a : add->b;
        s->add = left ? add->b : add->a;
    }
    const ac_ins *product = c_ins(f, mul);
    if (product->op != AC_L_MUL || !joins(f, mul) || product->flags & AC_F_WRAP)
        return false;
    s->a = widened(f, product->a);
    s->b = widened(f, product->b);
    between[0] = in->a;
    between[1] = shr->a;
    between[2] = mul;
    between[3] = product->a;
    between[4] = product->b;
    return s->a && s->b;
}

/* A word added to a high word. */
static void match_sum(ac_cfn *f, ac_x x)
{
    const ac_ins *in = c_ins(f, x);
    if (in->op != AC_L_ADD || in->dtype != AC_I32 || in->lanes > 1)
        return;
    const ac_x operand[2] = {in->a, in->b};
    for (int k = 0; k < 2; k++) {
        const ac_cscaled *high = &f->scaled[operand[k]];
        if (!high->a || high->add || high->sum || !joins(f, operand[k]) || operand[0] == operand[1])
            continue;
        f->scaled[x] = (ac_cscaled){.a = high->a, .b = high->b, .sum = operand[1 - k]};
        f->scaled[operand[k]] = (ac_cscaled){.inside = true};
        return;
    }
}

/* The users of each instruction's value, except products that print it themselves. */
static int32_t *count_users(const ac_cfn *f)
{
    int32_t *users = AC_NEW_N(f->file->region, int32_t, f->fn->code.n);
    for (ac_x x = 1; x < f->fn->code.n; x++) {
        const ac_ins *in = c_ins(f, x);
        const ac_x operand[] = {in->a, in->b, in->c};
        for (int32_t i = 0; i < ac_lop_arity((ac_lop)in->op) && f->use[x].live; i++)
            users[operand[i]] += operand[i] > 0;
    }
    return users;
}

/* A widened number that several products share: they use its operand, which then has a name. */
static void share(ac_cfn *f, ac_x wide, int32_t *users)
{
    f->scaled[c_ins(f, wide)->a].named = true;
    f->scaled[wide].inside = --users[wide] == 0;
}

void ac_c_find_scaled(ac_cfn *f)
{
    int32_t *users = count_users(f);
    f->scaled = AC_NEW_N(f->file->region, ac_cscaled, f->fn->code.n);
    for (ac_x x = 1; x < f->fn->code.n; x++) {
        ac_cscaled s = {0};
        ac_x between[5];
        if (!f->use[x].live)
            continue;
        if (f->file->target->dsp)
            match_sum(f, x);
        if (!match(f, x, &s, between))
            continue;
        f->scaled[x] = s;
        for (int i = 0; i < 3; i++)
            f->scaled[between[i]].inside = true;
        for (int i = 3; i < 5; i++)
            if (f->use[between[i]].join)
                f->scaled[between[i]].inside = true;
            else
                share(f, between[i], users);
    }
}

/* GCC has no intrinsic for SMMLA. */
static const char *sum_helper(ac_cfile *F)
{
    const char *name = "high_sum_i32";
    if (!ac_c_have(F, name))
        ac_putf(&F->helpers,
                "/* The high word of x * m, plus c: requantisation. */\n"
                "static inline int32_t high_sum_i32(int32_t x, int32_t m, int32_t c)\n"
                "{\n"
                "#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__) && !defined(__clang__) && !defined(%s_NO_ASM)\n"
                "    int32_t y;\n"
                "    __asm__(\"smmla %%0, %%1, %%2, %%3\" : \"=r\"(y) : \"r\"(x), \"r\"(m), \"r\"(c));\n"
                "    return y;\n"
                "#else\n"
                "    return (int32_t)(((int64_t)x * (int64_t)m) >> 32) + c;\n"
                "#endif\n"
                "}\n\n",
                F->upper);
    return name;
}

ac_cexpr ac_c_scaled(ac_cfn *f, ac_x x)
{
    ac_cfile *F = f->file;
    const ac_cscaled *s = &f->scaled[x];
    if (s->sum)
        return ac_c_call3(F->region, sum_helper(F), f->val[s->a].e, f->val[s->b].e, f->val[s->sum].e);
    const char *name = s->add ? "scaled_i32" : "high_i32";
    if (!ac_c_have(F, name))
        ac_put(&F->helpers, s->add ? "/* The high word of x * m + c: requantisation. */\n"
                                     "static inline int32_t scaled_i32(int32_t x, int32_t m, int64_t c)\n"
                                     "{\n"
                                     "    return (int32_t)(((int64_t)x * (int64_t)m + c) >> 32);\n"
                                     "}\n\n"
                                   : "/* The high word of x * m: requantisation. */\n"
                                     "static inline int32_t high_i32(int32_t x, int32_t m)\n"
                                     "{\n"
                                     "    return (int32_t)(((int64_t)x * (int64_t)m) >> 32);\n"
                                     "}\n\n");
    ac_region *r = F->region;
    return s->add ? ac_c_call3(r, name, f->val[s->a].e, f->val[s->b].e, f->val[s->add].e)
                  : ac_c_call2(r, name, f->val[s->a].e, f->val[s->b].e);
}
