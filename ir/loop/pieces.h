/* pieces.h - loops marked apart: code of its own, called where the loop was.
 *
 *     before   for tick .. { if (..) { for 0 .. 1 apart { conv: x -> rows } } else { for 0 .. 1 apart { .. } } }
 *     after    piece: { conv: x -> rows }        outer: for tick .. { if (..) { at[0] = next; piece } else { .. } }
 *
 * A function of many bodies (strip.h) is too large for a compiler of firmware: it keeps what is computed from all the
 * bodies' addresses in one frame, and spills in the inner loops. Printers of firmware print the pieces as functions.
 *
 * In `outer` such a loop is empty, and means a call of the next piece in order. A piece has the buffers that it uses as
 * parameters, and as the last one, where it needs any, the values from outside: i32, which `outer` stores in a local
 * array before. A loop whose body needs more than that (a variable of outside that it sets, an array on the stack that
 * others use, other types) stays where it is, and is no piece.
 *
 *     const ac_pieces p = ac_loop_pieces(cx, region, fn);        p.n: 0, and p.outer is fn, where nothing is apart
 *
 * Cost: linear for each piece. Memory: the region given. */
#ifndef AC_IR_LOOP_PIECES_H
#define AC_IR_LOOP_PIECES_H
#include "ir/loop/loop.h"

typedef struct ac_piece {
    const ac_loop_fn *fn;
    int32_t *buf; /* by its parameter: buffer of outer */
    int32_t like; /* the first piece with this function; its own place: none before it */
} ac_piece;

typedef struct ac_pieces {
    const ac_loop_fn *outer;
    ac_piece *item;
    int32_t n;
} ac_pieces;

ac_pieces ac_loop_pieces(ac_ctx *cx, ac_region *region, const ac_loop_fn *fn);
/* Is instruction x of outer the call of a piece? Its END is the next instruction. */
static inline bool ac_is_piece(const ac_loop_fn *outer, ac_x x)
{
    return outer->code.item[x].op == AC_L_FOR && outer->code.item[x].aux == AC_MARK_APART;
}

#endif
