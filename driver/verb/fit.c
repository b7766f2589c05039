/* fit.c - the verb fit: boards of boards.def that a model fits on, its options there, the bytes that others lack. */
#include "driver/verb/verbs.h"

#include "base/json_out.h"
#include "driver/request/boards.h"

#include <stdlib.h>
#include <string.h>

typedef struct fitted {
    const ac_board_row *board;
    bool striped, fits; /* with --stripe auto */
    bool planned;       /* false: the model has no plan at all there */
    ac_bytes ram, flash, ram_of, flash_of;
} fitted;

typedef struct trial {
    const char *const *path;
    int32_t n;
    fitted *bare; /* by target: a plan in one memory without a limit */
    int32_t n_bare;
} trial;

static int plan_stage(ac_work *one, void *arg)
{
    const trial *t = arg;
    AC_TRY(ac_open(one, t->path, t->n));
    AC_TRY(ac_read_opened(one));
    return ac_plan_model(one);
}

static void sizes_of(const ac_work *one, fitted *f)
{
    f->ram_of = f->flash_of = 0;
    for (int32_t m = 0; m < one->opt.mem.n; m++)
        *(one->opt.mem.item[m].read_only ? &f->flash_of : &f->ram_of) += one->opt.mem.item[m].bytes;
}

/* Arena and state in all RAM of the board; weights and code in all its flash. */
static void measure(const ac_work *one, fitted *f)
{
    const ac_report *r = one->made.report;
    f->planned = r != NULL;
    sizes_of(one, f);
    if (!r)
        return;
    f->ram = ac_report_bytes(r) + r->state_bytes;
    f->flash = r->weight_bytes + r->code_bytes;
}

/* board: its target alone if `bare` */
static fitted tried(ac_work *w, trial *t, const ac_board_row *board, bool bare, bool striped)
{
    ac_work *one = ac_work_like(w, AC_AS_OTHER);
    fitted f = {.board = board, .striped = striped};
    int status = ac_options_set(&one->opt, bare ? "target" : "board", bare ? board->target : board->name);
    if (status == AC_OK && striped)
        status = ac_options_set(&one->opt, "stripe", "auto");
    if (status == AC_OK)
        status = ac_guard(one, plan_stage, t);
    measure(one, &f);
    f.fits = status == AC_OK && f.planned && f.ram <= f.ram_of && f.flash <= f.flash_of;
    ac_work_close(one);
    return f;
}

static const fitted *bare_of(ac_work *w, trial *t, const ac_board_row *board)
{
    for (int32_t i = 0; i < t->n_bare; i++)
        if (!strcmp(t->bare[i].board->target, board->target))
            return &t->bare[i];
    t->bare[t->n_bare] = tried(w, t, board, true, false);
    return &t->bare[t->n_bare++];
}

/* The same target and memories give the same plan. */
static const fitted *alike(const fitted *row, int32_t n, const ac_board_row *board)
{
    for (int32_t i = 0; i < n; i++)
        if (!strcmp(row[i].board->target, board->target) && !strcmp(row[i].board->memories, board->memories))
            return &row[i];
    return NULL;
}

/* A plan for the memories is made only if flash has room. */
static fitted fit_board(ac_work *w, trial *t, const ac_board_row *board)
{
    ac_work *one = ac_work_like(w, AC_AS_OTHER);
    fitted f = *bare_of(w, t, board), striped;
    if (ac_options_set(&one->opt, "board", board->name) == AC_OK)
        sizes_of(one, &f);
    ac_work_close(one);
    f.fits = false;
    if (f.flash <= f.flash_of && f.planned)
        f = tried(w, t, board, false, false);
    if (f.fits || w->opt.stripe.on || f.flash > f.flash_of)
        return f;
    striped = tried(w, t, board, false, true);
    return striped.fits || !f.planned || (striped.planned && striped.ram < f.ram) ? striped : f;
}

static ac_bytes lacks(const fitted *f)
{
    const ac_bytes ram = f->ram > f->ram_of ? f->ram - f->ram_of : 0;
    return ram + (f->flash > f->flash_of ? f->flash - f->flash_of : 0);
}

/* ------------------------------------------------------------------ output */

/* Those that fit first, with the least RAM before others; then by the bytes they lack. */
static int by_size(const void *a, const void *b)
{
    const fitted *x = a, *y = b;
    const ac_bytes p = x->fits ? x->ram_of : lacks(x), q = y->fits ? y->ram_of : lacks(y);
    if (x->fits != y->fits)
        return x->fits ? -1 : 1;
    return p != q ? (p > q) - (p < q) : strcmp(x->board->name, y->board->name);
}

static const char *verdict(ac_ctx *cx, const fitted *f)
{
    if (f->fits)
        return f->striped ? "yes, with --stripe auto" : "yes";
    if (!f->planned)
        return "no: no plan for its memories";
    if (f->flash > f->flash_of)
        return ac_strf(cx->region, "no: flash %s B too much", ac_commas(cx, f->flash - f->flash_of));
    if (f->ram > f->ram_of)
        return ac_strf(cx->region, "no: RAM %s B too much", ac_commas(cx, f->ram - f->ram_of));
    return "no: a tensor is larger than each of its memories has left";
}

static void put_text(ac_work *w, ac_sink *to, const fitted *row, int32_t n, int32_t fits)
{
    ac_ctx *cx = &w->cx;
    ac_putf(to, "%s fits on %d of %d boards\n\n", w->source.base, fits, n);
    ac_putf(to, "  %-20s  %13s %13s  %13s %13s  %s\n", "board", "RAM needed", "of", "flash needed", "of", "fits");
    for (int32_t i = 0; i < n; i++) {
        const fitted *f = &row[i];
        ac_putf(to, "  %-20s  %13s %13s  %13s %13s  %s\n", f->board->name, ac_commas(cx, f->ram),
                ac_commas(cx, f->ram_of), ac_commas(cx, f->flash), ac_commas(cx, f->flash_of), verdict(cx, f));
    }
    ac_putf(to,
            "\nBytes. RAM: arena and state, the stack and your program come on top. Flash: weights and code, an "
            "estimate.\nNext: arenac compile %s --board NAME\n",
            w->source.path);
}

static void put_json(ac_work *w, ac_sink *to, const fitted *row, int32_t n)
{
    ac_json j = ac_json_open(to);
    ac_json_obj(&j, NULL);
    ac_json_str(&j, "schema", "arenac-fit/1");
    ac_json_str(&j, "model", w->source.base);
    ac_json_arr(&j, "boards");
    for (int32_t i = 0; i < n; i++) {
        const fitted *f = &row[i];
        ac_json_obj(&j, NULL);
        ac_json_str(&j, "name", f->board->name);
        ac_json_str(&j, "chip", f->board->chip);
        ac_json_str(&j, "target", f->board->target);
        ac_json_bool(&j, "fits", f->fits);
        ac_json_bool(&j, "striped", f->striped);
        ac_json_int(&j, "ram_bytes", f->ram);
        ac_json_int(&j, "ram_size", f->ram_of);
        ac_json_int(&j, "flash_bytes", f->flash);
        ac_json_int(&j, "flash_size", f->flash_of);
        ac_json_end(&j);
    }
    ac_json_end(&j);
    ac_json_end(&j);
}

static int none_fits(ac_work *w, const fitted *nearest, int32_t n)
{
    ac_error(&w->cx, (ac_place){.file = w->source.path}, E0401, "the model fits on none of %d boards", n);
    return ac_help(&w->cx, "%s is the nearest: %s", nearest->board->name, verdict(&w->cx, nearest));
}

int ac_fit(ac_work *w, const char *const *path, int32_t n)
{
    int32_t boards = 0, fits = 0, rows = 0;
    AC_TRY(ac_read(w, path, n));
    AC_TRY(ac_check(w)); /* its faults are reported once */
    while (ac_boards_at(boards))
        boards++;
    fitted *row = AC_NEW_N(w->cx.region, fitted, boards);
    trial t = {.path = path, .n = n, .bare = AC_NEW_N(w->cx.region, fitted, boards)};
    for (int32_t i = 0; i < boards; i++) {
        const ac_board_row *b = ac_boards_at(i);
        if (w->opt.target && strcmp(w->opt.target, b->target))
            continue;
        const fitted *same = alike(row, rows, b);
        row[rows] = same ? *same : fit_board(w, &t, b);
        row[rows].board = b;
        fits += row[rows++].fits;
    }
    if (!rows)
        return ac_error(&w->cx, (ac_place){.file = "arenac"}, E0501, "no board has target '%s'", w->opt.target);
    qsort(row, (size_t)rows, sizeof *row, by_size);
    ac_sink *to = ac_pending_add(&w->out, w->opt.output ? w->opt.output : "-");
    if (w->opt.json)
        put_json(w, to, row, rows);
    else if (!w->opt.quiet)
        put_text(w, to, row, rows, fits);
    return fits ? AC_OK : none_fits(w, row, rows);
}
