/* code_size.c - counts instructions by kind, times weights fitted to the output of compilers. */
#include "codegen/code_size.h"
#include "codegen/module.h"
#include "ir/loop/plane.h"

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

/* Firmware, gcc -O2: other weights for kernels, run by its calls, and the functions of libgcc that they need. */
typedef struct firmware_weights {
    int16_t of[KINDS];
    int16_t f32, f64;               /* tenths: more for each instruction on floats */
    int16_t tile, requant;          /* tenths: for each TILE, each REQUANT */
    int16_t buffer, function;       /* tenths: for each parameter and local, for each function */
    int16_t step, run;              /* bytes of run and init: for each call, for the rest */
    int16_t tiles;                  /* bytes, once: the function that all TILEs call */
    int16_t div32, mul64, div64;    /* bytes of libgcc, once */
    int16_t soft32, more32, soft64; /* sums, products and comparisons; quotients and conversions; all of doubles */
} firmware_weights;

// clang-format off
/* index arith load store loop branch lanes wide vector | f32 f64 tile requant | buffer fn | step run tiles | libgcc */
static const firmware_weights
V7M = {{25, 39, 0, 0, 205, 0, 38, 67, 0}, 50, 123, 300, 39, 0, 0, 16, 20, 560, 0, 0, 700, 1000, 900, 2000},
MVE = {{43, 20, 0, 0, 198, 12, 20, 18, 0}, 63, 63, 603, 1151, 53, 0, 16, 20, 0, 0, 0, 700, 1000, 900, 2000},
V6M = {{46, 46, 0, 0, 122, 116, 140, 96, 0}, 41, 116, 272, 34, 78, 241, 21, 20, 300, 470, 94, 700, 1900, 1700, 6300},
RV32 = {{30, 20, 0, 102, 145, 0, 20, 140, 490}, 105, 202, 1430, 20, 0, 206, 26, 20, 0, 0, 0, 1100, 1250, 2150, 5300};
// clang-format on

static const firmware_weights *firmware_weights_of(const ac_target *t)
{
    return t->isa != AC_ISA_ARM ? &RV32 : t->mul == AC_MUL_LOW ? &V6M : t->mve ? &MVE : &V7M;
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

static ac_bytes firmware_bytes(const ac_loop_fn *fn, const ac_target *t)
{
    enum { PLANE = 240 }; /* a kernel of codegen/dsp/planes.h, and its call */
    const firmware_weights *w = firmware_weights_of(t);
    if (t->dsp && fn->plane && !fn->plane->apart)
        return PLANE;
    ac_bytes tenths = w->function + (ac_bytes)fn->buf.n * w->buffer;
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        const kind k = kind_of(i);
        tenths += i->op == AC_L_TILE ? w->tile : i->op == AC_L_REQUANT ? w->requant : k < KINDS ? w->of[k] : 0;
        if (k < KINDS)
            tenths += i->dtype == AC_F32 ? w->f32 : i->dtype == AC_F64 ? w->f64 : 0;
    }
    return tenths / 10;
}

/* The functions of the compiler's library that the function uses. */
static uint32_t library_uses(const ac_loop_fn *fn)
{
    uint32_t uses = 0;
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        const bool wide = i->dtype == AC_I64 || i->dtype == AC_U64, divides = i->op == AC_L_DIV || i->op == AC_L_MOD;
        uses |= i->op == AC_L_TILE ? AC_CODE_TILES : 0;
        if (kind_of(i) == KINDS || i->op == AC_L_LOAD || i->op == AC_L_STORE)
            continue; /* bytes are moved, not computed */
        uses |= i->dtype == AC_F32 ? AC_CODE_F32 : i->dtype == AC_F64 ? AC_CODE_F64 : 0;
        uses |= i->dtype == AC_F32 && (divides || i->op == AC_L_CAST) ? AC_CODE_MORE32 : 0;
        uses |= divides && wide ? AC_CODE_DIV64 : divides && i->dtype == AC_I32 ? AC_CODE_DIV32 : 0;
        uses |= wide && i->op == AC_L_MUL ? AC_CODE_MUL64 : 0;
    }
    return uses;
}

ac_bytes ac_code_around(const ac_code_estimate *all, int32_t steps, const ac_target *t)
{
    const firmware_weights *w = firmware_weights_of(t);
    if (!t->firmware)
        return 0;
    ac_bytes bytes = (ac_bytes)steps * w->step + w->run;
    bytes += all->uses & AC_CODE_TILES ? w->tiles : 0;
    bytes += all->uses & AC_CODE_DIV32 ? w->div32 : 0;
    bytes += all->uses & AC_CODE_MUL64 ? w->mul64 : 0;
    bytes += all->uses & AC_CODE_DIV64 ? w->div64 : 0;
    bytes += all->uses & AC_CODE_F32 && !t->fp ? w->soft32 : 0;
    bytes += all->uses & AC_CODE_MORE32 && !t->fp ? w->more32 : 0;
    bytes += all->uses & AC_CODE_F64 && !(t->fp & AC_FP_SQRT64) ? w->soft64 : 0;
    return bytes;
}

ac_bytes ac_code_bytes(const ac_loop_fn *fn, const ac_target *t)
{
    if (t->firmware && !t->vec_bytes)
        return firmware_bytes(fn, t);
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
    all->uses |= library_uses(fn);
    for (int32_t i = 0; i < all->fn.n; i++)
        if (all->hash.item[i] == hash && ac_fn_same(all->fn.item[i], fn)) {
            all->calls.item[i]++;
            return bytes;
        }
    ac_push(r, &all->fn, fn);
    ac_push(r, &all->hash, hash);
    ac_push(r, &all->calls, 1);
    all->bytes += bytes;
    return bytes;
}
