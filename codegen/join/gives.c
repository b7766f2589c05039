/* gives.c - see gives.h. */
#include "codegen/join/gives.h"

#include "ir/loop/access/visit.h"
#include "ir/loop/gpu_loops.h"

#include <string.h>

enum { NOBODY = -1, SEVERAL = -2 };

/* Which block stores which element. */
typedef struct owners {
    int32_t buf;
    ac_x grid; /* 0: none */
    int64_t each, flat, count;
    int8_t *of; /* by element */
} owners;

static bool is_result(const ac_visit *r, ac_x x)
{
    const owners *o = r->with;
    const ac_ins *i = &r->fn->code.item[x];
    return i->op == AC_L_STORE && i->aux == o->buf;
}

static bool note_owner(ac_visit *r, ac_x x)
{
    owners *o = r->with;
    const ac_ins *i = &r->fn->code.item[x];
    const int64_t g = o->grid ? r->value[o->grid] : 0, lanes = r->fn->code.item[i->b].lanes, at = r->value[i->a];
    const int64_t block = o->flat ? g / o->flat % AC_CLUSTER_BLOCKS : g / o->each;
    if (!r->known[i->a] || at < 0 || at + lanes > o->count)
        return false;
    for (int64_t k = at; k < at + lanes; k++)
        o->of[k] = (int8_t)(o->of[k] == NOBODY || o->of[k] == block ? block : SEVERAL);
    return true;
}

/* The words of all blocks, by owner; false: the elements of one are not of one block. */
static bool owners_of_words(const owners *o, int32_t width, int64_t words, int8_t *of)
{
    for (int64_t w = 0; w < words; w++) {
        of[w] = o->of[w * width];
        for (int64_t k = w * width; k < (w + 1) * width && k < o->count; k++)
            if (o->of[k] != of[w] || of[w] < 0)
                return false;
    }
    return true;
}

static int64_t first_of(const int8_t *of, int64_t words, int8_t block)
{
    int64_t w = 0;
    while (w < words && of[w] != block)
        w++;
    return w;
}

static int64_t word_at(const ac_gives *g, int64_t block, int64_t j)
{
    return block / g->columns * g->row + block % g->columns * g->column + j / g->run * g->pitch + j % g->run;
}

/* The form that the words of the first blocks suggest. */
static void guess(ac_gives *g, const int8_t *of, int64_t words)
{
    int64_t first = first_of(of, words, 0), end = first;
    g->n = g->run = 0;
    for (int64_t w = first; w < words; w++)
        g->n += of[w] == 0;
    while (end < words && of[end] == 0)
        end++;
    g->run = end - first;
    g->pitch = g->run;
    for (int64_t w = end; w < words; w++)
        if (of[w] == 0) {
            g->pitch = w - first;
            break;
        }
    g->columns = AC_CLUSTER_BLOCKS;
    g->row = 0;
    g->column = first_of(of, words, 1) < words ? first_of(of, words, 1) : g->n;
    for (int8_t b = 1; b < AC_CLUSTER_BLOCKS; b++) {
        const int64_t at = first_of(of, words, b);
        if (at < words && at != b * g->column) {
            g->columns = b;
            g->row = at;
            break;
        }
    }
}

/* Does the form hold for all blocks, each word being of one? *part: the words of a copy. */
static bool holds(ac_region *region, const ac_gives *g, const int8_t *of, int64_t words, int64_t *part)
{
    *part = words;
    if (!g->n || !g->run)
        return false;
    for (int64_t b = 0; b < AC_CLUSTER_BLOCKS; b++) {
        const int64_t last = word_at(g, b, g->n - 1) + 1;
        *part = last > *part ? last : *part;
    }
    int8_t *seen = AC_NEW_N(region, int8_t, *part + 1);
    memset(seen, NOBODY, (size_t)*part);
    for (int64_t b = 0; b < AC_CLUSTER_BLOCKS; b++)
        for (int64_t j = 0; j < g->n; j++) {
            const int64_t w = word_at(g, b, j);
            if (seen[w] != NOBODY || (w < words && of[w] != b))
                return false;
            seen[w] = (int8_t)b;
        }
    for (int64_t w = 0; w < words; w++)
        if (seen[w] != of[w])
            return false;
    return true;
}

static int64_t grid_of(const ac_loop_fn *fn)
{
    ac_x x = 1;
    while (x < fn->code.n && !ac_gpu_is_loop(fn, x, AC_MARK_GRID))
        x++;
    return x < fn->code.n ? x : 0;
}

bool ac_gives_of(ac_region *region, const ac_loop_fn *fn, int32_t buf, int64_t flat, ac_gives *to)
{
    const ac_buf *b = &fn->buf.item[buf];
    const int32_t size = (int32_t)ac_dtype_size(b->dtype, 1);
    owners o = {.buf = buf, .grid = (ac_x)grid_of(fn), .count = b->count, .flat = flat};
    o.each = o.grid ? (ac_gpu_trips(fn, o.grid) + AC_CLUSTER_BLOCKS - 1) / AC_CLUSTER_BLOCKS : 1;
    o.of = AC_NEW_N(region, int8_t, b->count + 1);
    memset(o.of, NOBODY, (size_t)b->count);
    ac_visit r = {.fn = fn, .seeks = is_result, .found = note_owner, .with = &o};
    if ((b->dtype != AC_I8 && b->dtype != AC_U8 && b->dtype != AC_F32) || !ac_visit_all(region, &r))
        return false;
    for (int32_t bytes = 16; bytes >= 4; bytes -= 12) {
        const int32_t width = bytes / size;
        const int64_t words = (b->count + width - 1) / width;
        int8_t *of = AC_NEW_N(region, int8_t, words + 1);
        int64_t part;
        *to = (ac_gives){.dtype = b->dtype, .width = width};
        if (!owners_of_words(&o, width, words, of))
            continue;
        guess(to, of, words);
        to->lone = to->n == words;
        if (!holds(region, to, of, words, &part))
            continue;
        to->part = (part * width * size + 15) / 16 * 16 / size;
        return true;
    }
    return false;
}

static ac_x num(ac_lb *b, int64_t v)
{
    return ac_lb_i32(b, v);
}

ac_x ac_gives_at(ac_lb *b, const ac_gives *g, ac_x r, ac_x index)
{
    return ac_lb_add(b, ac_lb_mul(b, r, num(b, g->part)), index);
}

/* x / columns * row + x % columns * column, x < n */
static ac_x place(ac_lb *b, ac_x x, int64_t columns, int64_t row, int64_t column, int64_t n)
{
    if (columns >= n)
        return ac_lb_mul(b, x, num(b, column));
    return ac_lb_add(b, ac_lb_mul(b, ac_lb_div(b, x, num(b, columns)), num(b, row)),
                     ac_lb_mul(b, ac_lb_mod(b, x, num(b, columns)), num(b, column)));
}

void ac_gives_give(ac_lb *b, const ac_gives *g, int32_t buf, ac_x r, ac_x t, int64_t threads)
{
    const int64_t items = g->n * (AC_CLUSTER_BLOCKS - 1), rounds = (items + threads - 1) / threads;
    const ac_x k = ac_lb_for(b, "k", num(b, 0), num(b, rounds), 1, AC_MARK_UNROLL);
    const ac_x item = ac_lb_add(b, t, ac_lb_mul(b, k, num(b, threads)));
    const bool some = items % threads != 0;
    if (some)
        ac_lb_if(b, ac_lb_lt(b, item, num(b, items)));
    const ac_x away = ac_lb_add(b, ac_lb_div(b, item, num(b, g->n)), num(b, 1)), j = ac_lb_mod(b, item, num(b, g->n));
    const ac_x to = ac_lb_mod(b, ac_lb_add(b, r, away), num(b, AC_CLUSTER_BLOCKS));
    const ac_x first = place(b, r, g->columns, g->row, g->column, AC_CLUSTER_BLOCKS),
               at = ac_lb_mul(b, ac_lb_add(b, first, place(b, j, g->run, g->pitch, 1, g->n)), num(b, g->width));
    const ac_x v = ac_lb_load_flags(b, buf, ac_gives_at(b, g, r, at), g->width, AC_F_ALIGNED);
    ac_lb_store_flags(b, buf, ac_gives_at(b, g, to, at), v, AC_F_ALIGNED);
    if (some)
        ac_lb_end(b);
    ac_lb_end(b);
}
