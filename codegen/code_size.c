/* code_size.c - instructions counted by kind, times weights that were fitted to what compilers make. */
#include "codegen/code_size.h"
#include "codegen/module.h"

/* Tenths of a byte for each instruction of a kind. */
typedef enum kind { INDEX, ARITHMETIC, LOAD, STORE, LOOP, BRANCH, LANES, WIDE, VECTOR, KINDS } kind;
typedef struct weights {
    int16_t of[KINDS];
} weights;

// clang-format off
/*                                 index arith load store loop branch lanes wide vector constant */
static const weights THUMB =   {{  49,   75,   14,   0,   66,  40,    40,   49,  0 }},
                     X86_VEC = {{  30,   40,    0, 230,  180,  40,    30,   35,  130 }},
                     PLAIN =   {{  58,  110,  105,   0,  140,  80,    60,   58,  0 }},
                     OTHER =   {{  47,   47,   47,  47,   47,  47,    47,   47,  47 }};
// clang-format on

static const weights *weights_of(const ac_target *t)
{
    if (t->isa == AC_ISA_ARM)
        return &THUMB;
    if (t->isa == AC_ISA_X86)
        return &X86_VEC;
    return t->isa == AC_ISA_ANY ? &PLAIN : &OTHER;
}

/* KINDS: costs nothing. */
static kind kind_of(const ac_ins *i)
{
    const ac_lop o = (ac_lop)i->op;
    if (o == AC_L_CONST || o == AC_L_CONSTV)
        return i->lanes > 1 ? VECTOR : KINDS;
    if (o == AC_L_LOAD || ac_lop_stores(o))
        return o == AC_L_LOAD ? LOAD : STORE;
    if (o == AC_L_FOR || o == AC_L_IF || o == AC_L_BREAK_IF || o == AC_L_FAIL_IF)
        return o == AC_L_FOR ? LOOP : BRANCH;
    if (o == AC_L_SHUFFLE || o == AC_L_LANE || o == AC_L_SPLAT || o == AC_L_SUMLANES || o == AC_L_MAXLANES)
        return LANES;
    if (o == AC_L_VAR || o == AC_L_GET || o == AC_L_SET || o == AC_L_ELSE || o == AC_L_END || o == AC_L_PREFETCH)
        return KINDS;
    if (i->dtype == AC_I64 || i->dtype == AC_U64 || i->dtype == AC_F64)
        return WIDE;
    return i->dtype == AC_I32 && i->lanes == 1 ? INDEX : ARITHMETIC;
}

ac_bytes ac_code_bytes(const ac_loop_fn *fn, const ac_target *t)
{
    const weights *w = weights_of(t);
    ac_bytes tenths = 0;
    for (ac_x x = 1; x < fn->code.n; x++) {
        const kind k = kind_of(&fn->code.item[x]);
        tenths += k < KINDS ? w->of[k] : 0;
    }
    return tenths / 10;
}

ac_bytes ac_code_add(ac_code_estimate *all, ac_region *r, const ac_loop_fn *fn, const ac_target *t)
{
    const ac_bytes bytes = ac_code_bytes(fn, t);
    const uint64_t hash = ac_fn_hash(fn);
    for (int32_t i = 0; i < all->fn.n; i++)
        if (all->hash.item[i] == hash && ac_fn_same(all->fn.item[i], fn))
            return bytes;
    ac_push(r, &all->fn, fn);
    ac_push(r, &all->hash, hash);
    all->bytes += bytes;
    return bytes;
}
