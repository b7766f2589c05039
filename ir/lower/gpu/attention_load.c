/* attention_load.c - loads of queries, keys and values of an attention into shared memory, and its results. */
#include "ir/lower/gpu/attention_parts.h"

/* Blocks of a group. */
static int64_t blocks_of(const ac_attention *a)
{
    return ac_align_up(a->heads * a->rows, ROWS) / ROWS;
}

int64_t ac_attend_blocks(const ac_attention *a)
{
    return a->batch * a->groups * blocks_of(a);
}

void ac_attend_open_grid(tiles *s)
{
    const ac_attention *a = &s->v->a;
    const int64_t blocks = blocks_of(a);
    const ac_x block = ac_lb_for(s->b, "g", num(s, 0), num(s, ac_attend_blocks(a)), 1, AC_MARK_GRID),
               matrix = over(s, block, blocks);
    s->row = times(s, rest(s, block, blocks), ROWS);
    s->group = rest(s, matrix, a->groups);
    s->batch = over(s, matrix, a->groups);
}

bool ac_attend_by_quads(const tiles *s, int32_t i, int64_t columns)
{
    const ac_attention_at *at = &s->v->a.at[i];
    const int64_t all = at->first | at->batch | at->group | at->head | at->row | columns;
    return at->column == 1 && all % QUAD == 0 &&
           ac_lo_align(s->L, at->t) >= QUAD * ac_dtype_bits(s->L->b.fn->buf.item[s->v->buf[i]].dtype) / 8;
}

bool ac_attend_copies(const tiles *s, int32_t i, int64_t columns)
{
    const ac_tensor *t = s->v->a.at[i].t;
    return t && !t->narrowed && s->L->b.fn->buf.item[s->v->buf[i]].dtype == AC_F32 && ac_attend_by_quads(s, i, columns);
}

void ac_attend_quad(const tiles *s, int32_t i, ac_x head, ac_x row, ac_x column, int64_t columns, int32_t buf, ac_x to,
                    bool late)
{
    ac_lb *b = s->b;
    if (ac_attend_by_quads(s, i, columns)) {
        const ac_x at = ac_attend_at(s->v, i, s->batch, s->group, head, row, column),
                   x = ac_lb_load_flags(b, s->v->buf[i], at, QUAD, AC_F_ALIGNED);
        if (ac_lb_dtype(b, x) == AC_F32) {
            (late && ac_attend_copies(s, i, columns) ? ac_lb_store_late : ac_lb_store)(b, buf, to, x);
            return;
        }
        for (int32_t l = 0; l < QUAD; l++)
            ac_lb_store(b, buf, plus(s, to, l), ac_lb_cast(b, ac_lb_lane(b, x, l), AC_F32));
        return;
    }
    for (int32_t l = 0; l < QUAD; l++) {
        const ac_x c = plus(s, column, l), inside = ac_lb_lt(b, c, num(s, columns));
        const ac_x at = ac_attend_at(s->v, i, s->batch, s->group, head, row, ac_lb_min(b, c, num(s, columns - 1)));
        ac_lb_store(b, buf, plus(s, to, l), ac_lb_select(b, inside, ac_attend_load(s->v, i, at), ac_lb_f32(b, 0)));
    }
}

void ac_attend_key(const tiles *s, int32_t i, ac_x key, ac_x column, int64_t columns, int32_t buf, ac_x to, bool late)
{
    ac_lb *b = s->b;
    const int64_t past = s->v->a.past;
    if (!past) {
        ac_attend_quad(s, i, 0, key, column, columns, buf, to, late);
        return;
    }
    const int32_t old = i == AC_ATTENTION_K ? AC_ATTENTION_PAST_K : AC_ATTENTION_PAST_V;
    ac_lb_if(b, ac_lb_lt(b, key, num(s, past)));
    ac_attend_quad(s, old, 0, key, column, columns, buf, to, late);
    ac_lb_else(b);
    ac_attend_quad(s, i, 0, plus(s, key, -past), column, columns, buf, to, late);
    ac_lb_end(b);
}

void ac_attend_split(const tiles *s, ac_x row, ac_x *head, ac_x *of_head)
{
    const ac_attention *a = &s->v->a;
    *head = a->heads > 1 ? over(s, row, a->rows) : num(s, 0);
    *of_head = a->heads > 1 ? rest(s, row, a->rows) : row;
}

ac_x ac_attend_row(const tiles *s, ac_x row)
{
    return ac_lb_min(s->b, ac_lb_add(s->b, s->row, row), num(s, s->rows - 1));
}

/* Results that a thread stores at once. */
static int32_t stored(const tiles *s)
{
    const ac_tensor *out = s->L->node->out[0];
    return s->v->a.width % QUAD == 0 && out->dtype == AC_F32 && !ac_lo_by_table(s->L) ? QUAD : 1;
}

void ac_attend_finish(const tiles *s, int32_t from, int32_t factors)
{
    ac_lb *b = s->b;
    const ac_attention *a = &s->v->a;
    const int32_t lanes = stored(s);
    const int64_t wide = (int64_t)s->width * s->parts, n = ROWS * a->width / lanes;
    const ac_x t = open_phase(s), pass = open_passes(s, n), piece = open_piece(s, t, pass, n);
    const ac_x r = over(s, piece, a->width / lanes), c = times(s, rest(s, piece, a->width / lanes), lanes),
               row = ac_lb_add(b, s->row, r);
    ac_x head, of_head, idx[AC_MAX_RANK];
    ac_lb_if(b, s->rows % ROWS ? ac_lb_lt(b, row, num(s, s->rows)) : ac_lb_int(b, AC_BOOL, 1));
    ac_attend_split(s, row, &head, &of_head);
    ac_attend_index(s->v, s->batch, s->group, head, of_head, c, idx);
    const ac_x at = ac_lb_add(b, times(s, r, wide), c);
    ac_x sum = shared(s, from, at, lanes);
    for (int32_t k = 1; k < s->slices; k++)
        sum = ac_lb_add(b, sum, shared(s, from, plus(s, at, k * ROWS * wide), lanes));
    const ac_x factor = shared(s, s->part, plus(s, r, factors), 1);
    ac_lo_result(s->L, ac_lb_mul(b, sum, ac_lb_splat(b, factor, lanes)), idx, lanes);
    for (int32_t k = 0; k < 3; k++)
        ac_lb_end(b);
    close_phase(s);
}
