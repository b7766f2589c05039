/* attention.c - lowers attention: softmax(scale * q k' + mask) v, row after row.
 *
 *     scores     sums over the columns of q in order, times scale; then the mask
 *     weights    e^(score - max), whose sum divides the weighted sums of v; with --exact, the weights themselves
 *
 * GPUs: tiles of rows, see ir/lower/gpu/attention.h. Scratch: the scores of a row. */
#include "ir/lower/entries.h"
#include "ir/lower/gpu/attention.h"
#include "ir/lower/map/map.h"

typedef struct attention {
    ac_lower *L;
    ac_attend g;
    int32_t e; /* scratch: scores, then weights, of a row */
    ac_x batch, group, head, row;
} attention;

/* Element (key, column) of k or v, or of those of the past. */
static ac_x of_key(attention *v, int32_t i, ac_x key, ac_x column)
{
    const ac_attention *a = &v->g.a;
    ac_lb *b = &v->L->b;
    const ac_x zero = ac_lb_i32(b, 0);
    if (!a->past)
        return ac_attend_load(&v->g, i, ac_attend_at(&v->g, i, v->batch, v->group, zero, key, column));
    const int32_t old = i == AC_ATTENTION_K ? AC_ATTENTION_PAST_K : AC_ATTENTION_PAST_V;
    const ac_x past = ac_lb_i32(b, a->past), is_old = ac_lb_lt(b, key, past);
    const ac_x before = ac_lb_min(b, key, ac_lb_i32(b, a->past - 1)),
               since = ac_lb_max(b, ac_lb_sub(b, key, past), zero);
    const ac_x x = ac_attend_load(&v->g, old, ac_attend_at(&v->g, old, v->batch, v->group, zero, before, column)),
               y = ac_attend_load(&v->g, i, ac_attend_at(&v->g, i, v->batch, v->group, zero, since, column));
    return ac_lb_select(b, is_old, x, y);
}

/* Stores the row's scores and returns their maximum. */
static ac_x scores(attention *v)
{
    ac_lb *b = &v->L->b;
    const ac_attention *a = &v->g.a;
    const ac_x max = ac_lb_var(b, "max", ac_lb_f32(b, AC_ATTEND_LEAST));
    const ac_x key = ac_lb_for_n(b, "key", a->keys), sum = ac_lb_var(b, "score", ac_lb_f32(b, 0));
    const ac_x d = ac_lb_for_n(b, "d", a->depth);
    const ac_x q = ac_attend_load(&v->g, AC_ATTENTION_Q,
                                  ac_attend_at(&v->g, AC_ATTENTION_Q, v->batch, v->group, v->head, v->row, d));
    ac_lb_set(b, sum, ac_lo_madd(v->L, q, of_key(v, AC_ATTENTION_K, key, d), ac_lb_get(b, sum)));
    ac_lb_end(b);
    const ac_x score = ac_attend_masked(&v->g, ac_lb_get(b, sum), v->batch, v->group, v->head, v->row, key);
    ac_lb_store(b, v->e, key, score);
    ac_lb_set(b, max, ac_lb_max(b, score, ac_lb_get(b, max)));
    ac_lb_end(b);
    return ac_lb_get(b, max);
}

/* Scores become weights; returns the inverse of their sum, or 1 if they are divided by it. */
static ac_x weights(attention *v, ac_x max)
{
    ac_lb *b = &v->L->b;
    const ac_x sum = ac_lb_var(b, "sum", ac_lb_f32(b, 0));
    ac_x key = ac_lb_for_n(b, "key", v->g.a.keys);
    const ac_x e = ac_lo_exp_falling(v->L, ac_lb_sub(b, ac_lb_load(b, v->e, key, 1), max));
    ac_lb_store(b, v->e, key, e);
    ac_lb_set(b, sum, ac_lb_add(b, ac_lb_get(b, sum), e));
    ac_lb_end(b);
    if (!v->L->exact)
        return ac_lb_div(b, ac_lb_f32(b, 1), ac_lb_get(b, sum));
    key = ac_lb_for_n(b, "key", v->g.a.keys);
    ac_lb_store(b, v->e, key, ac_lb_div(b, ac_lb_load(b, v->e, key, 1), ac_lb_get(b, sum)));
    ac_lb_end(b);
    return ac_lb_f32(b, 1);
}

static void values(attention *v, ac_x scale)
{
    ac_lb *b = &v->L->b;
    ac_x idx[AC_MAX_RANK];
    const ac_x c = ac_lb_for_n(b, "c", v->g.a.width), sum = ac_lb_var(b, "value", ac_lb_f32(b, 0));
    const ac_x key = ac_lb_for_n(b, "key", v->g.a.keys);
    ac_lb_set(b, sum,
              ac_lo_madd(v->L, ac_lb_load(b, v->e, key, 1), of_key(v, AC_ATTENTION_V, key, c), ac_lb_get(b, sum)));
    ac_lb_end(b);
    ac_attend_index(&v->g, v->batch, v->group, v->head, v->row, c, idx);
    ac_lo_result(v->L, ac_lb_mul(b, ac_lb_get(b, sum), scale), idx, 1);
    ac_lb_end(b);
}

int ac_lo_attention(ac_lower *L)
{
    attention v = {.L = L, .g = {.L = L}};
    ac_lb *b = &L->b;
    ac_lo_result_buf(L);
    AC_TRY(ac_attention_of(L->cx, L->node, &v.g.a));
    ac_attend_open(&v.g);
    if (ac_gpu_attention_fits(&v.g))
        return ac_gpu_attention_tiles(&v.g);
    const ac_attention *a = &v.g.a;
    v.e = ac_lo_scratch(L, "e", AC_F32, a->keys);
    v.batch = ac_lb_for_each(b, "b", a->batch);
    v.group = ac_lb_for_each(b, "g", a->groups);
    v.head = ac_lb_for_each(b, "h", a->heads);
    v.row = ac_lb_for_each(b, "row", a->rows);
    values(&v, weights(&v, scores(&v)));
    for (int32_t k = 0; k < 4; k++)
        ac_lb_end(b);
    return AC_OK;
}
