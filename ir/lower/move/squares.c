/* squares.c - copies boxes whose neighbours in the source are not neighbours in the result: transposes them in
 * registers, a square of elements at a time.
 *
 *     T vectors are read along the source, T vectors are written along the result; between them
 *         within 16 bytes       rounds of interleaving     a0 a1 a2 a3, c0 c1 c2 c3 -> a0 c0 a1 c1, a2 c2 a3 c3
 *         pieces of 16 bytes    exchanged between vectors  (Eklundh's method)
 *
 * Every vector extension has an instruction for each of them. Whole vectors of both sides are used at once, so cache
 * lines are loaded and evicted once for all strides; copies of single elements would find lines evicted if a stride is
 * a multiple of a page. */
#include "ir/lower/move/move.h"

enum { MOST = 16, PIECE = 16, LONGEST_RUN = 8 }; /* edge of a square; bytes; squares */

int32_t ac_square_edge(const ac_lower *L, ac_dtype d)
{
    const int32_t lanes = d == AC_BOOL || L->target->isa == AC_ISA_CUDA ? 1 : ac_target_lanes(L->target, d);
    return lanes < MOST ? lanes : MOST;
}

int32_t ac_square_axis(const ac_move *m)
{
    if (m->n < 2 || m->dim[m->n - 1].to != 1 || m->dim[m->n - 1].from == 1)
        return -1;
    for (int32_t d = 0; d + 1 < m->n; d++)
        if (m->dim[d].from == 1)
            return d;
    return -1;
}

/* Rounds that transpose the E rows v within each E of their lanes. */
static void interleave(ac_lb *b, ac_x *v, int32_t edge, int32_t e)
{
    for (int32_t round = 1; round < e; round *= 2) {
        ac_x to[MOST];
        int64_t pattern[2][MOST];
        for (int32_t l = 0; l < edge; l++) {
            const int32_t first = l / e * e, j = l % e / 2, of = l % 2 ? edge : 0;
            pattern[0][l] = of + first + j;
            pattern[1][l] = of + first + j + e / 2;
        }
        for (int32_t i = 0; i < e / 2; i++)
            for (int32_t high = 0; high < 2; high++)
                to[2 * i + high] = ac_lb_shuffle(b, v[i], v[i + e / 2], pattern[high], edge);
        for (int32_t i = 0; i < e; i++)
            v[i] = to[i];
    }
}

/* Exchanges pieces of E lanes: piece h of row s and piece s of row h. v: row h is v[h * e]. */
static void exchange(ac_lb *b, ac_x *v, int32_t edge, int32_t e)
{
    for (int32_t bit = 1; bit < edge / e; bit *= 2)
        for (int32_t h = 0; h < edge / e; h++) {
            if (h & bit)
                continue;
            int64_t pattern[2][MOST];
            for (int32_t l = 0; l < edge; l++) {
                const bool high = l / e & bit;
                pattern[0][l] = high ? edge + l - bit * e : l;
                pattern[1][l] = high ? edge + l : l + bit * e;
            }
            const ac_x x = v[h * e], y = v[(h + bit) * e];
            v[h * e] = ac_lb_shuffle(b, x, y, pattern[0], edge);
            v[(h + bit) * e] = ac_lb_shuffle(b, x, y, pattern[1], edge);
        }
}

static void square(ac_lb *b, int32_t src, ac_x from, int64_t from_step, int32_t dst, ac_x to, int64_t to_step,
                   int32_t edge, int32_t e)
{
    ac_x v[MOST];
    for (int32_t i = 0; i < edge; i++)
        v[i] = ac_lb_load(b, src, ac_lb_add(b, from, ac_lb_i32(b, i * from_step)), edge);
    for (int32_t h = 0; h < edge; h += e)
        interleave(b, v + h, edge, e);
    for (int32_t i = 0; i < e; i++)
        exchange(b, v + i, edge, e);
    for (int32_t i = 0; i < edge; i++)
        ac_lb_store(b, dst, ac_lb_add(b, to, ac_lb_i32(b, i * to_step)), v[i]);
}

/* The number of squares along the longer side to transpose in sequence before the next ones across: a row of each is
 * read (or written) as a run of some cache lines, with one TLB lookup. It divides the number of squares, so that one
 * loop suffices. */
static int32_t run_of(int64_t squares)
{
    int32_t n = LONGEST_RUN;
    while (squares % n)
        n--;
    return n;
}

void ac_lo_squares(ac_lower *L, int32_t src, ac_x from, int32_t dst, ac_x to, const ac_move *m, ac_mark mark)
{
    ac_lb *b = &L->b;
    const ac_dtype d = b->fn->buf.item[dst].dtype;
    const int32_t edge = ac_square_edge(L, d), axis = ac_square_axis(m), last = m->n - 1;
    const int32_t piece = PIECE * 8 / ac_dtype_bits(d), e = edge < piece ? edge : piece;
    struct loop {
        const struct ac_move_axis *axis;
        int64_t end, step;
    } loop[AC_MOVE_DIMS + 1];
    int32_t n = 0;
    for (int32_t i = 0; i < last; i++)
        if (i != axis)
            loop[n++] = (struct loop){&m->dim[i], m->dim[i].extent, 1};
    /* the longer side outside: lines that a row of squares writes in part are still cached when the next row completes
     * them */
    const bool longer = m->dim[axis].extent > m->dim[last].extent;
    const struct ac_move_axis *outer = &m->dim[longer ? axis : last], *inner = &m->dim[longer ? last : axis];
    const int32_t run = inner->extent > edge ? run_of(outer->extent / edge) : 1;
    loop[n++] = (struct loop){outer, outer->extent, (int64_t)run * edge};
    loop[n++] = (struct loop){inner, inner->extent, edge};
    if (run > 1)
        loop[n++] = (struct loop){outer, (int64_t)run * edge, edge};
    from = ac_lb_add(b, from, ac_lb_i32(b, m->from));
    to = ac_lb_add(b, to, ac_lb_i32(b, m->to));
    for (int32_t i = 0; i < n; i++) {
        const struct ac_move_axis *a = loop[i].axis;
        const ac_x at = ac_lb_for(b, "i", ac_lb_i32(b, 0), ac_lb_i32(b, loop[i].end), loop[i].step, mark);
        from = ac_lb_add(b, from, ac_lb_mul(b, at, ac_lb_i32(b, a->from)));
        to = ac_lb_add(b, to, ac_lb_mul(b, at, ac_lb_i32(b, a->to)));
    }
    square(b, src, from, m->dim[last].from, dst, to, m->dim[axis].to, edge, e);
    for (int32_t i = 0; i < n; i++)
        ac_lb_end(b);
}
