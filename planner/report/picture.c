/* picture.c - lays out the picture: rows, panels, labels. svg.c draws it. */
#include "planner/report/section.h"
#include "planner/report/threads.h"

#include <stdlib.h>
#include <string.h>

enum { /* pixels */
       LEFT = 86,
       RIGHT = 22,
       HEAD = 78,
       LEGEND = 14, /* its second line */
       NAME_HEIGHT = 16,
       PLOT = 400,
       PLOT_PAGE = 520,
       GAP = 26,
       LOWEST = 20,
       FEW = 48 /* columns: operators are named up to here */
};

/* ------------------------------------------------------------------ text */

const char *ac_picture_size(ac_ctx *cx, ac_bytes n)
{
    double kib = (double)n / 1024, v = kib < 1024 ? kib : kib / 1024;
    if (n < 1024)
        return ac_strf(cx->region, "%lld B", (long long)n);
    bool whole = v >= 100 || (double)(int64_t)(v * 10 + 0.5) / 10 == (double)(int64_t)v;
    return ac_strf(cx->region, "%.*f %s", whole ? 0 : 1, v, kib < 1024 ? "KiB" : "MiB");
}

/* "dtcm 401,408 B (392 KiB), psram 1,204,224 B (1.1 MiB)", or NULL when one memory holds all tensors. */
static const char *several_memories(ac_ctx *cx, const ac_report *r)
{
    const char *list = NULL;
    int32_t n = 0;
    for (int32_t m = 0; m < r->problem->n_mems; m++) {
        const ac_bytes bytes = r->plan->mem_bytes[m];
        if (r->problem->mem[m].use != AC_MEM_RAM)
            continue;
        n++;
        list =
            ac_strf(cx->region, "%s%s%s %s B%s", list ? list : "", list ? ", " : "", r->problem->mem[m].name,
                    ac_commas(cx, bytes), bytes < 1024 ? "" : ac_strf(cx->region, " (%s)", ac_picture_size(cx, bytes)));
    }
    return n > 1 ? list : NULL;
}

const char *ac_picture_title(ac_ctx *cx, const ac_report *r)
{
    const char *several = several_memories(cx, r);
    if (several)
        return ac_strf(cx->region, "%s: %s", r->file ? r->file : "plan", several);
    ac_bytes arena = r->plan->arena_bytes, bound = ac_report_lower_bound(r);
    const char *gap = arena == bound ? "optimal"
                                     : ac_strf(cx->region, "gap %.*f %%", arena - bound < bound / 1000 ? 4 : 1,
                                               ac_report_percent(arena - bound, bound));
    const char *kib = arena < 1024 ? "" : ac_strf(cx->region, " (%s)", ac_picture_size(cx, arena));
    return ac_strf(cx->region, "%s: arena %s B%s, lower bound %s B, %s", r->file ? r->file : "plan",
                   ac_commas(cx, arena), kib, ac_commas(cx, bound), gap);
}

/* ------------------------------------------------------------------ rows and geometry */

static void fill_rows(ac_ctx *cx, ac_picture *pic)
{
    const ac_problem *p = pic->r->problem;
    int32_t *root = AC_NEW_N(cx->region, int32_t, p->n);
    pic->row = ac_report_rows(cx, pic->r, &pic->n_rows);
    for (int32_t i = 0; i < p->n; i++)
        root[i] = -1;
    for (int32_t t = 0; t < pic->n_rows; t++) {
        const int32_t i = pic->row[t].item;
        if (i >= 0 && (root[i] < 0 || (pic->row[root[i]].alias_of && !pic->row[t].alias_of)))
            root[i] = t;
    }
    pic->root = root;
}

static void fill_label_end(ac_ctx *cx, ac_picture *pic)
{
    const ac_problem *p = pic->r->problem;
    ac_step *end = AC_NEW_N(cx->region, ac_step, p->n);
    for (int32_t i = 0; i < p->n; i++)
        end[i] = p->item[i].life.end;
    for (int32_t t = 0; t < pic->n_rows; t++) {
        const ac_report_tensor *x = &pic->row[t];
        if (x->item >= 0 && pic->root[x->item] != t && ac_picture_labelled(pic, t) && x->first < end[x->item])
            end[x->item] = x->first;
    }
    pic->label_end = end;
}

static void fill_panels(ac_ctx *cx, ac_picture *pic, ac_svg_use use)
{
    const ac_report *r = pic->r;
    bool several = false;
    for (int32_t m = 1; m < r->problem->n_mems; m++)
        several |= r->plan->mem_bytes[m] > 0;
    ac_bytes largest = 1;
    for (int32_t m = 0; m < r->problem->n_mems; m++)
        if (r->plan->mem_bytes[m] > largest)
            largest = r->plan->mem_bytes[m];
    double y = HEAD + (pic->w < 860 ? LEGEND : 0) + (several ? NAME_HEIGHT : 0); /* each panel has its name above */
    const double most = use == AC_SVG_INLINE && !several ? PLOT_PAGE : PLOT;
    pic->panel = AC_NEW_N(cx->region, ac_panel, r->problem->n_mems);
    for (int32_t m = 0; m < r->problem->n_mems; m++) {
        ac_bytes bytes = r->plan->mem_bytes[m];
        if (m && !bytes)
            continue;
        double h = several ? most * (double)bytes / (double)largest : most; /* one scale for all memories */
        ac_panel *at = &pic->panel[pic->n_panels++];
        *at = (ac_panel){.mem = m, .y = y, .h = h < LOWEST ? LOWEST : h};
        bool near = !m && r->budget > bytes && r->budget - bytes <= bytes / 3; /* then its line is shown */
        at->top = (near ? r->budget : bytes) + 1;
        if (h < LOWEST) /* more than the memory has, in the same scale */
            at->top = (ac_bytes)((double)largest * LOWEST / most) + 1;
        at->top += at->top / 32; /* air above the highest line */
        y += at->h + GAP;
    }
    pic->height = y - GAP + (pic->named ? 112 : 26);
}

const char *ac_picture_kind(const ac_picture *pic, int32_t row)
{
    const ac_report_tensor *x = &pic->row[row];
    if (x->item >= 0 && pic->r->problem->item[x->item].kind == AC_ITEM_SCRATCH)
        return "scratch";
    return x->state ? "state" : x->output ? "out" : x->input ? "in" : "act";
}

bool ac_picture_labelled(const ac_picture *pic, int32_t row)
{
    int32_t root = pic->row[row].item >= 0 ? pic->root[pic->row[row].item] : -1;
    return root == row || (root >= 0 && strcmp(ac_picture_kind(pic, row), ac_picture_kind(pic, root)) != 0);
}

int32_t ac_picture_pieces(ac_ctx *cx, const ac_picture *pic, int32_t row, const ac_piece **piece)
{
    const ac_report_tensor *x = &pic->row[row];
    const ac_item *it = &pic->r->problem->item[x->item];
    ac_bytes at = pic->r->plan->offset[x->item];
    ac_piece *list = AC_NEW_N(cx->region, ac_piece, 2 * it->n_gaps + 1);
    int32_t n = 0;
    *piece = list;
    if (pic->root[x->item] != row) {
        list[n++] = (ac_piece){x->first, x->last + 1, at + x->delta, at + x->delta + x->bytes};
        return n;
    }
    ac_step t = it->life.begin;
    for (int32_t g = 0; g < it->n_gaps; g++) {
        const ac_gap *gap = &it->gaps[g];
        if (gap->life.begin > t)
            list[n++] = (ac_piece){t, gap->life.begin, at, at + it->size};
        if (gap->hi > gap->lo)
            list[n++] = (ac_piece){gap->life.begin, gap->life.end, at + gap->lo, at + gap->hi};
        t = gap->life.end;
    }
    if (it->life.end > t)
        list[n++] = (ac_piece){t, it->life.end, at, at + it->size};
    return n;
}

typedef struct placed {
    ac_piece at;
    int32_t item;
} placed;

static int by_begin(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    return x->at.begin != y->at.begin ? (x->at.begin > y->at.begin) - (x->at.begin < y->at.begin)
                                      : (x->item > y->item) - (x->item < y->item);
}

/* Finds the bytes that two items use at the same time (--overlap). */
static void fill_overlaps(ac_ctx *cx, const ac_picture *pic, ac_panel *at)
{
    AC_VEC(ac_piece) found = {0};
    const ac_problem *p = pic->r->problem;
    int32_t n = 0, n_open = 0;
    for (int32_t i = 0; i < p->n; i++)
        n += p->item[i].n_gaps * 2 + 1;
    placed *all = AC_NEW_N(cx->region, placed, n);
    int32_t *open = AC_NEW_N(cx->region, int32_t, n);
    n = 0;
    for (int32_t i = 0; i < p->n; i++) {
        const ac_piece *q;
        for (int32_t k = pic->r->plan->mem[i] == at->mem ? ac_picture_pieces(cx, pic, pic->root[i], &q) : 0; k--;)
            all[n++] = (placed){q[k], i};
    }
    qsort(all, (size_t)n, sizeof *all, by_begin);
    for (int32_t k = 0; k < n; k++) {
        const ac_piece *x = &all[k].at;
        int32_t kept = 0;
        for (int32_t o = 0; o < n_open; o++) {
            const ac_piece *y = &all[open[o]].at;
            if (y->end <= x->begin)
                continue;
            open[kept++] = open[o];
            const ac_piece both = {x->begin, x->end < y->end ? x->end : y->end, x->lo > y->lo ? x->lo : y->lo,
                                   x->hi < y->hi ? x->hi : y->hi};
            if (both.lo < both.hi && all[open[o]].item != all[k].item)
                ac_push(cx->region, &found, both);
        }
        n_open = kept;
        open[n_open++] = k;
    }
    at->overlap = found.item;
    at->n_overlaps = found.n;
}

ac_picture *ac_picture_of(ac_ctx *cx, const ac_report *r, ac_svg_use use)
{
    ac_picture *pic = AC_NEW(cx->region, ac_picture);
    ac_step steps = r->problem->steps > 0 ? r->problem->steps : 1;
    double w = 24.0 * steps;
    *pic = (ac_picture){.r = r, .x = LEFT, .steps = steps, .named = r->n_steps && steps <= FEW};
    pic->w = w < 640 ? 640 : w > 1000 ? 1000 : w;
    pic->width = LEFT + pic->w + RIGHT;
    pic->names = ac_names_of(cx, r);
    fill_rows(cx, pic);
    fill_label_end(cx, pic);
    fill_panels(cx, pic, use);
    for (int32_t k = 0; k < pic->n_panels; k++)
        fill_overlaps(cx, pic, &pic->panel[k]);
    if (use == AC_SVG_FILE)
        pic->height += ac_report_threads_height(r);
    return pic;
}
