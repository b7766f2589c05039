/* blocks.c - which vectors a GPU's loops keep (ac_loop_blocks): aligned blocks of 8 or 16 bytes that are loaded or
 * stored at once, and the values of late stores. Everything else becomes scalars (legalise.c). */
#include "ir/loop/builder.h"
#include "ir/loop/halves.h"

static bool is_block(const ac_ins *i)
{
    const int32_t bits = ac_dtype_bits((ac_dtype)i->dtype) * i->lanes;
    return i->flags & AC_F_ALIGNED && i->lanes > 1 && i->dtype != AC_BOOL && (bits == 64 || bits == 128);
}

bool *ac_blocks_kept(const ac_loop_fn *fn, ac_region *region)
{
    bool *kept = AC_NEW_N(region, bool, fn->code.n);
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        if (i->op != AC_L_LOAD && i->op != AC_L_STORE)
            continue;
        kept[x] = is_block(i);
        const ac_ins *v = &fn->code.item[i->b];
        if (i->op == AC_L_STORE && i->flags & AC_F_LATE && kept[x] && v->op == AC_L_SELECT)
            kept[i->b] = kept[v->c] = true;
    }
    return kept;
}
