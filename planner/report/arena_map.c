/* arena_map.c - see arena_map.h: cells, addresses and the legend. */
#include "planner/report/arena_map.h"
#include "planner/report/names.h"
#include "base/visible.h"
#include "planner/pack/place.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 12, COLS = 56, LETTERS = 52, NAME = 18, LINE = 100 };

typedef struct map {
    const ac_report *r;
    int32_t rows, cols, each; /* each: steps of a column */
    ac_bytes arena;
    ac_step steps;
    struct cell {
        double fill; /* how much of the cell its letter fills, in bytes x steps */
        char letter; /* 0: nothing */
    } cell[ROWS][COLS];
} map;

static double common(double a, double b, double c, double d) /* of [a, b) and [c, d) */
{
    double lo = a > c ? a : c, hi = b < d ? b : d;
    return hi > lo ? hi - lo : 0;
}

/* Row 0 of the cells is the top of the arena. */
static void draw_range(map *m, char letter, ac_step t0, ac_step t1, ac_bytes lo, ac_bytes hi)
{
    double height = (double)m->arena / m->rows, width = m->each;
    int32_t c0 = (int32_t)((double)t0 / width), c1 = (int32_t)((double)t1 / width);
    int32_t r0 = (int32_t)((double)lo / height), r1 = (int32_t)((double)hi / height);
    for (int32_t row = r0; row <= r1 && row < m->rows; row++)
        for (int32_t c = c0; c <= c1 && c < m->cols; c++) {
            double fill = common((double)lo, (double)hi, row * height, (row + 1) * height) *
                          common((double)t0, (double)t1, c * width, (c + 1) * width);
            struct cell *at = &m->cell[m->rows - 1 - row][c];
            if (fill > at->fill)
                *at = (struct cell){fill, letter};
        }
}

static void draw_item(map *m, int32_t i, char letter)
{
    const ac_item *it = &m->r->problem->item[i];
    ac_bytes at = m->r->plan->offset[i];
    ac_step t = it->life.begin;
    for (int32_t g = 0; g < it->n_gaps; g++) {
        const ac_gap *x = &it->gaps[g];
        if (x->life.begin > t)
            draw_range(m, letter, t, x->life.begin, at, at + it->size);
        if (x->hi > x->lo)
            draw_range(m, letter, x->life.begin, x->life.end, at + x->lo, at + x->hi);
        t = x->life.end;
    }
    if (it->life.end > t)
        draw_range(m, letter, t, it->life.end, at, at + it->size);
}

static void put_address(ac_sink *to, ac_bytes arena, ac_bytes at)
{
    if (arena < 10 * 1024)
        ac_putf(to, "  %7s", ac_commas(to->cx, at));
    else if (arena < 10 * 1024 * 1024)
        ac_putf(to, "  %6.1fK", (double)at / 1024);
    else
        ac_putf(to, "  %6.1fM", (double)at / (1024 * 1024));
}

static char letter_of(int32_t k)
{
    return (char)(k < 26 ? 'a' + k : k < LETTERS ? 'A' + (k - 26) : '*');
}

/* Items of a memory in order of first use, each with the number of its letter. */
typedef struct lettered {
    int32_t item, letter, order;
    double area; /* bytes x steps */
} lettered;

typedef struct lettered_items {
    lettered *item;
    int32_t n;
    int32_t *named; /* by letter: the item, as many as there are places for names */
} lettered_items;

static int by_area(const void *a, const void *b)
{
    const lettered *x = a, *y = b;
    return x->area != y->area ? (x->area > y->area ? -1 : 1) : (x->order > y->order) - (x->order < y->order);
}

static int by_order(const void *a, const void *b)
{
    const lettered *x = a, *y = b;
    return (x->order > y->order) - (x->order < y->order);
}

/* Letters in order of first use. Of more items than names have places, those with most bytes x steps have the first
 * letters, whose names are listed, the next ones other letters, and the rest share one. */
static lettered_items letters_of(const map *m, int32_t mem, int32_t places, ac_region *tmp)
{
    const ac_problem *p = m->r->problem;
    const int32_t *order = ac_order_by(p, NULL, tmp);
    lettered_items v = {AC_NEW_N(tmp, lettered, p->n + 1), 0, AC_NEW_N(tmp, int32_t, places + 1)};
    for (int32_t k = 0; k < p->n; k++) {
        const ac_item *it = &p->item[order[k]];
        if (!it->size || m->r->plan->mem[order[k]] != mem)
            continue;
        v.item[v.n] = (lettered){order[k], v.n, v.n, (double)it->size * (it->life.end - it->life.begin)};
        v.n++;
    }
    const int32_t named = v.n <= places ? v.n : places - 1;
    if (v.n > places) {
        const int32_t lettered_most = v.n < LETTERS ? v.n : LETTERS;
        qsort(v.item, (size_t)v.n, sizeof *v.item, by_area);
        qsort(v.item, (size_t)named, sizeof *v.item, by_order);
        qsort(v.item + named, (size_t)(lettered_most - named), sizeof *v.item, by_order);
        for (int32_t k = 0; k < v.n; k++)
            v.item[k].letter = k;
    }
    for (int32_t k = 0; k < named; k++)
        v.named[k] = v.item[k].item;
    return v;
}

/* The k-th letter and its name, in a column's width. */
static void put_legend(ac_sink *to, const ac_name_list *names, const char *name, int32_t k, int32_t wide)
{
    ac_putf(to, "    %c %-*s", letter_of(k), wide, ac_name_fit(names, name, (size_t)wide));
}

static void trim_line(ac_sink *to)
{
    while (to->n && to->text[to->n - 1] == ' ')
        to->n--;
    ac_putc(to, '\n');
}

void ac_report_map(ac_sink *to, const ac_report *r, int32_t mem)
{
    const ac_problem *p = r->problem;
    map *m = AC_NEW(to->cx->region, map);
    m->r = r;
    m->arena = r->plan->mem_bytes[mem];
    m->steps = p->steps;
    if (!m->arena || !m->steps)
        return;
    m->rows = m->arena < ROWS ? (int32_t)m->arena : ROWS;
    m->each = (m->steps + COLS - 1) / COLS;
    m->cols = (m->steps + m->each - 1) / m->each;
    const int32_t columns = m->cols + 2 * (NAME + 6) + 13 <= LINE ? 2 : 1; /* of names: lines end at 100 */
    const int32_t places = columns * m->rows;
    const lettered_items by = letters_of(m, mem, places, to->cx->region);
    for (int32_t k = 0; k < by.n; k++)
        draw_item(m, by.item[k].item, letter_of(by.item[k].letter));

    /* The last step's number ends above the last column, or one blank after the 0 when the map is too narrow. */
    char *last = ac_strf(to->cx->region, "%d", m->steps - 1);
    int32_t wide = m->cols - 8, least = (int32_t)strlen(last) + 1;
    if (r->n_memories)
        ac_putf(to, "\n   memory %s", ac_visible(to->cx->region, p->mem[mem].name));
    ac_putf(to, "\n   address   step 0%*s", wide > least ? wide : least, last);
    if (m->each > 1)
        ac_putf(to, "   (a column is %d steps)", m->each);
    ac_putc(to, '\n');
    const int32_t most = (LINE - 13 - m->cols) / columns - 6, width = most < 32 ? most : 32;
    const int32_t shown = by.n <= places ? by.n : places - 1; /* the last place shows the number of the others */
    const ac_name_list *names = ac_names_of(to->cx, r);
    for (int32_t y = 0; y < m->rows; y++) {
        put_address(to, m->arena, (ac_bytes)((double)m->arena * (m->rows - y) / m->rows));
        ac_put(to, "  |");
        for (int32_t c = 0; c < m->cols; c++)
            ac_putc(to, m->cell[y][c].letter ? m->cell[y][c].letter : '.');
        ac_putc(to, '|');
        for (int32_t k = y; k < places; k += m->rows)
            if (k < shown)
                put_legend(to, names, p->item[by.named[k]].name, k, width);
            else if (k == places - 1 && by.n > shown)
                ac_putf(to, by.n > LETTERS ? "    * the rest; -v: all %d" : "    -v: all %d", by.n);
        trim_line(to);
    }
}
