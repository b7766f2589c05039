/* chunk_bytes.c - bounds the elements that a part of a loop touches, in one pass of interval arithmetic over the
 * code. */
#include "ir/lower/node/chunk_bytes.h"

#include "ir/loop/access/moving.h"
#include "ir/loop/ins_fields.h"
#include "ir/loop/tiles.h"

static bool is_integer(const ac_loop_fn *fn, const ac_ins *i)
{
    const ac_x from[] = {i->a, i->b, i->c};
    const ac_dtype d = (ac_dtype)i->dtype;
    bool integer = i->lanes <= 1 && d != AC_U64 && (ac_dtype_is_int(d) || d == AC_BOOL);
    for (int32_t k = 0; k < 3; k++) /* comparisons of floats, casts from them */
        integer = integer && !(from[k] && ac_dtype_is_float((ac_dtype)fn->code.item[from[k]].dtype));
    return integer;
}

/* The values of a loop's variable; unknown if its bounds are. */
static ac_moving variable(const ac_ins *i, ac_moving lo, ac_moving hi)
{
    if (!lo.known || !hi.known)
        return AC_MOVING_UNKNOWN;
    return i->k.i > 0 ? (ac_moving){lo.lo, hi.hi - 1, 0, true} : (ac_moving){hi.lo + 1, lo.hi, 0, true};
}

static void touch(const ac_buf *b, ac_moving at, int64_t lanes, ac_span *all)
{
    const int64_t lo = at.known && at.lo > 0 ? at.lo : 0, hi = at.known ? at.hi + lanes : b->count;
    all->lo = all->lo < all->hi && all->lo < lo ? all->lo : lo;
    all->hi = all->hi > hi ? all->hi : hi < b->count ? hi : b->count;
}

void ac_chunk_bytes(ac_region *tmp, const ac_loop_fn *fn, const int32_t *end, ac_x loop, int64_t from, int64_t to,
                    ac_span *touched)
{
    ac_moving *value = AC_NEW_N(tmp, ac_moving, fn->code.n);
    ac_moving_in in = {0};
    for (int32_t b = 0; b < fn->buf.n; b++)
        touched[b] = (ac_span){0, 0};
    for (ac_x x = 1; x < end[loop] && from < to; x++) {
        const ac_ins *i = &fn->code.item[x];
        int32_t buf[AC_INS_BUFFERS];
        const ac_moving first = value[i->a];
        if (x == loop && first.known)
            value[x] = (ac_moving){first.lo + from * i->k.i, first.lo + (to - 1) * i->k.i, 0, true};
        else if (i->op == AC_L_FOR)
            value[x] = variable(i, first, value[i->b]);
        else if (is_integer(fn, i) && !ac_ins_buffers(i, buf))
            value[x] = ac_moving_of(&in, i, first, value[i->b], value[i->c]);
        const bool plain = i->op == AC_L_LOAD || i->op == AC_L_STORE;
        if (i->op == AC_L_TILE && x > loop && ac_ins_tile(i).form == AC_TILE_MATRIX) { /* some rows by all of w */
            const ac_tile t = ac_ins_tile(i);
            touch(&fn->buf.item[t.x], first, (int64_t)t.rows * t.pitch, &touched[t.x]);
            touch(&fn->buf.item[t.w], AC_MOVING_UNKNOWN, 1, &touched[t.w]);
            continue;
        }
        for (int32_t k = x < loop || i->op == AC_L_PREFETCH ? 0 : ac_ins_buffers(i, buf); k > 0; k--)
            touch(&fn->buf.item[buf[k - 1]], plain ? first : AC_MOVING_UNKNOWN, i->lanes > 1 ? i->lanes : 1,
                  &touched[buf[k - 1]]);
    }
}
