/* share_pieces.c - merges pieces of a function; see share_pieces.h. */
#include "codegen/share_pieces.h"

#include "ir/loop/builder.h"
#include "ir/loop/ins_fields.h"

typedef struct sharer {
    ac_region *r;
    const ac_share_set *set;
    const ac_share_group **group; /* by piece; NULL: unchanged */
    int32_t *member;              /* its place there */
    int32_t slots;                /* the most of a group */
} sharer;

/* true: some pieces are one */
static bool find(sharer *s)
{
    const ac_share_group *group = ac_share_groups(s->r, s->set);
    s->group = AC_NEW_N(s->r, const ac_share_group *, s->set->n);
    s->member = AC_NEW_N(s->r, int32_t, s->set->n);
    bool found = false;
    for (int32_t f = 0; f < s->set->n; f++)
        for (int32_t k = 0; group[f].n > 1 && k < group[f].n; k++) {
            s->group[group[f].member[k]] = &group[f];
            s->member[group[f].member[k]] = k;
            s->slots = group[f].slots > s->slots ? group[f].slots : s->slots;
            found = true;
        }
    return found;
}

/* Stores the numbers of piece k before its call. */
static void store_numbers(const sharer *s, ac_lb *b, int32_t shape, int32_t k)
{
    const ac_share_group *g = s->group[k];
    const int32_t *word = g ? ac_share_numbers(s->r, g, s->member[k]) : NULL;
    for (int32_t i = 0; g && i < g->slots; i++)
        ac_lb_store(b, shape, ac_lb_i32(b, i), ac_lb_i32(b, word[i]));
}

static const ac_loop_fn *outer_of(const sharer *s, const ac_loop_fn *from)
{
    ac_lb b;
    ac_lb_open_like(&b, s->r, from);
    const int32_t shape = s->slots ? ac_lb_buf(&b, "shape", AC_I32, s->slots, AC_BUF_LOCAL, 4, NULL) : -1;
    ac_x *map = AC_NEW_N(s->r, ac_x, from->code.n);
    int32_t called = 0;
    for (ac_x x = 1; x < from->code.n; x++) {
        ac_ins i = from->code.item[x];
        if (ac_is_piece(from, x))
            store_numbers(s, &b, shape, called++);
        ac_ins_move_values(&i, map);
        map[x] = ac_lb_copy(&b, from, &i);
    }
    return ac_lb_close(&b);
}

/* Replaces its function by that of the group: the numbers, a buffer of outer, are the last parameter. */
static void replace(const sharer *s, ac_piece *p, const ac_share_group *g, const ac_loop_fn *fn, int32_t numbers)
{
    int32_t *buf = AC_NEW_N(s->r, int32_t, fn->buf.n + 1), n = 0, from = 0;
    while (from < p->fn->buf.n && p->fn->buf.item[from].role != AC_BUF_LOCAL)
        buf[n++] = p->buf[from++];
    if (g->slots)
        buf[n++] = numbers;
    while (from < p->fn->buf.n)
        buf[n++] = p->buf[from++];
    p->fn = fn;
    p->buf = buf;
    p->like = g->member[0];
}

ac_pieces ac_share_pieces(ac_ctx *cx, ac_region *r, const ac_loop_fn *fn, const ac_target *t, ac_share_price price,
                          ac_bytes *saved)
{
    ac_pieces p = ac_loop_pieces(cx, r, fn);
    if (p.n < 2 || price == AC_SHARE_NEVER)
        return p;
    const ac_loop_fn **own = AC_NEW_N(r, const ac_loop_fn *, p.n);
    int32_t *calls = AC_NEW_N(r, int32_t, p.n);
    for (int32_t k = 0; k < p.n; k++) {
        own[k] = p.item[k].fn;
        calls[k] = 1;
    }
    const ac_share_set set = {.fn = own, .calls = calls, .n = p.n, .target = t, .price = price};
    sharer s = {.r = r, .set = &set};
    if (!find(&s))
        return p;
    p.outer = outer_of(&s, p.outer);
    for (int32_t f = 0; f < p.n; f++) {
        const ac_share_group *g = s.group[f];
        if (!g || g->member[0] != f)
            continue;
        const ac_loop_fn *one = ac_share_build(r, g);
        for (int32_t k = 0; k < g->n; k++)
            replace(&s, &p.item[g->member[k]], g, one, p.outer->buf.n - 1);
        if (saved)
            *saved += g->saved;
    }
    return p;
}

bool *ac_pieces_restricted(ac_region *r, const ac_pieces *p, int32_t k, const bool *outer)
{
    const ac_loop_fn *fn = p->item[k].fn;
    bool *may = AC_NEW_N(r, bool, fn->buf.n + 1);
    for (int32_t i = 0; i < fn->buf.n; i++) {
        may[i] = outer && fn->buf.item[i].role != AC_BUF_LOCAL;
        for (int32_t j = 0; j < p->n; j++) {
            const int32_t buf = p->item[j].buf[i]; /* arrays on the stack of outer are its own */
            if (p->item[j].like == k && may[i])
                may[i] = p->outer->buf.item[buf].role == AC_BUF_LOCAL || outer[buf];
        }
    }
    return may;
}
