/* pieces.c - turns loops marked apart into functions; see pieces.h. */
#include "ir/loop/pieces.h"

#include "ir/loop/builder.h"
#include "ir/loop/ins_fields.h"
#include "ir/loop/plane.h"

enum { MOST_VALUES = 48 };

/* A loop marked apart: instructions begin + 1 .. end - 1. */
typedef struct cut {
    ac_x begin, end;
    ac_x value[MOST_VALUES]; /* of the whole function: the values passed to the piece; variables: their current
                              * values */
    int32_t n_values;
    bool fits;
} cut;

typedef struct cutter {
    ac_ctx *cx;
    ac_region *region;
    const ac_loop_fn *fn;
    cut *cut;
    int32_t n;
    int32_t *home; /* by buffer on the stack: 1 + the cut that uses it; -1: several cuts, or code outside of them */
} cutter;

static bool is_local(const cutter *c, int32_t buf)
{
    return c->fn->buf.item[buf].role == AC_BUF_LOCAL;
}

static void find_cuts(cutter *c)
{
    const ac_loop_fn *fn = c->fn;
    for (ac_x x = 1; x < fn->code.n; x++)
        c->n += ac_is_piece(fn, x);
    c->cut = AC_NEW_N(c->region, cut, c->n + 1);
    c->n = 0;
    for (ac_x x = 1; x < fn->code.n; x++) {
        if (!ac_is_piece(fn, x))
            continue;
        cut *k = &c->cut[c->n++];
        *k = (cut){.begin = x, .fits = true};
        int32_t depth = 1;
        while (depth) {
            const ac_lop op = (ac_lop)fn->code.item[++x].op;
            depth += (op == AC_L_FOR || op == AC_L_IF) - (op == AC_L_END);
        }
        k->end = x;
    }
}

static void find_homes(cutter *c)
{
    c->home = AC_NEW_N(c->region, int32_t, c->fn->buf.n + 1);
    int32_t k = 0;
    for (ac_x x = 1; x < c->fn->code.n; x++) {
        while (k < c->n && c->cut[k].end < x)
            k++;
        const int32_t here = k < c->n && c->cut[k].begin < x ? 1 + k : -1;
        int32_t buf[AC_INS_BUFFERS];
        for (int32_t i = ac_ins_buffers(&c->fn->code.item[x], buf) - 1; i >= 0; i--)
            c->home[buf[i]] = c->home[buf[i]] && c->home[buf[i]] != here ? -1 : here;
    }
}

/* Records that the cut needs value or variable x. */
static void need(const cutter *c, cut *k, ac_x x)
{
    const ac_ins *i = &c->fn->code.item[x];
    if (!x || x > k->begin || (i->op == AC_L_CONST && i->lanes == 1))
        return;
    for (int32_t v = 0; v < k->n_values; v++)
        if (k->value[v] == x)
            return;
    if (i->dtype != AC_I32 || i->lanes != 1 || k->n_values == MOST_VALUES)
        k->fits = false;
    else
        k->value[k->n_values++] = x;
}

static void find_needs(const cutter *c, cut *k)
{
    for (ac_x x = k->begin + 1; x < k->end; x++) {
        const ac_ins *i = &c->fn->code.item[x];
        need(c, k, i->a);
        need(c, k, i->b);
        need(c, k, i->c);
        if (i->op == AC_L_GET)
            need(c, k, i->aux);
        k->fits &= !(i->op == AC_L_SET && i->aux < k->begin) && i->op != AC_L_FAIL_IF;
        int32_t buf[AC_INS_BUFFERS];
        for (int32_t n = ac_ins_buffers(i, buf) - 1; n >= 0; n--)
            k->fits &= !is_local(c, buf[n]) || c->home[buf[n]] > 0;
    }
    need(c, k, c->fn->code.item[k->begin].a);
}

/* ------------------------------------------------------------------ functions */

typedef struct writer {
    const cutter *c;
    ac_lb b;
    ac_x *map;          /* by instruction of the whole function */
    const int32_t *buf; /* by its buffer; NULL: the same */
} writer;

static void copy(writer *w, ac_x x)
{
    const ac_loop_fn *fn = w->c->fn;
    ac_ins i = fn->code.item[x];
    ac_ins_move_values(&i, w->map);
    if (w->buf)
        ac_ins_move_buffers(&i, w->buf);
    w->map[x] = ac_lb_copy(&w->b, fn, &i);
}

/* Buffers that the cut uses, in the order of first use; their number. */
static int32_t buffers_by_use(const writer *w, const cut *k, int32_t *order)
{
    const ac_loop_fn *fn = w->c->fn;
    bool *used = AC_NEW_N(w->c->region, bool, fn->buf.n + 1);
    int32_t found = 0;
    for (ac_x x = k->begin + 1; x < k->end; x++) {
        int32_t list[AC_INS_BUFFERS];
        const int32_t n = ac_ins_buffers(&fn->code.item[x], list);
        for (int32_t i = 0; i < n; i++) {
            if (!used[list[i]])
                order[found++] = list[i];
            used[list[i]] = true;
        }
    }
    return found;
}

/* Buffers that the cut uses, parameters first; buf: of the piece, by those of the function. Equal bodies have equal
 * ones in the same order: operands and results of the whole function are plain windows here. */
static void piece_buffers(writer *w, const cut *k, ac_piece *p, int32_t *buf)
{
    const ac_loop_fn *fn = w->c->fn;
    int32_t *order = AC_NEW_N(w->c->region, int32_t, fn->buf.n + 1);
    const int32_t n = buffers_by_use(w, k, order);
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t j = 0; j < n; j++) {
            const int32_t i = order[j];
            const ac_buf *m = &fn->buf.item[i];
            if (is_local(w->c, i) != (pass == 1))
                continue;
            const ac_role role = m->copied                                            ? AC_BUF_CONST
                                 : m->role == AC_BUF_CONST || m->role == AC_BUF_LOCAL ? m->role
                                                                                      : AC_BUF_SCRATCH;
            buf[i] = ac_lb_buf(&w->b, m->name, m->dtype, m->count, role, m->align, m->note);
            p->buf[buf[i]] = i;
        }
        if (pass == 0 && k->n_values)
            p->buf[ac_lb_buf(&w->b, "at", AC_I32, k->n_values, AC_BUF_IN, 4, NULL)] = fn->buf.n;
    }
}

static void copy_number(writer *w, ac_x x)
{
    const ac_ins *i = &w->c->fn->code.item[x];
    if (x > 0 && !w->map[x] && i->op == AC_L_CONST && i->lanes == 1)
        copy(w, x);
}

/* Values from outside that the cut uses, in the order of first use: equal bodies have them in the same order. */
static void copy_numbers(writer *w, const cut *k)
{
    copy_number(w, w->c->fn->code.item[k->begin].a);
    for (ac_x x = k->begin + 1; x < k->end; x++) {
        const ac_ins *i = &w->c->fn->code.item[x];
        copy_number(w, i->a);
        copy_number(w, i->b);
        copy_number(w, i->c);
    }
}

static ac_piece piece_of(const cutter *c, const cut *k)
{
    const ac_loop_fn *fn = c->fn;
    const ac_ins *head = &fn->code.item[k->begin];
    ac_piece p = {.buf = AC_NEW_N(c->region, int32_t, fn->buf.n + 2)};
    int32_t *buf = AC_NEW_N(c->region, int32_t, fn->buf.n + 1);
    writer w = {.c = c, .map = AC_NEW_N(c->region, ac_x, fn->code.n), .buf = buf};
    ac_lb *b = &w.b;
    ac_lb_open(b, c->region, ac_internf(c->cx, "%s_%s", fn->name, head->name),
               ac_strf(c->region, "a part of %s", fn->name));
    piece_buffers(&w, k, &p, buf);
    int32_t at = 0;
    while (k->n_values && p.buf[at] != fn->buf.n)
        at++;
    for (int32_t v = 0; v < k->n_values; v++) {
        const ac_ins *i = &fn->code.item[k->value[v]];
        const ac_x given = ac_lb_load(b, at, ac_lb_i32(b, v), 1);
        w.map[k->value[v]] = i->op == AC_L_VAR ? ac_lb_var(b, i->name, given) : given;
    }
    copy_numbers(&w, k);
    w.map[k->begin] = w.map[head->a];
    for (ac_x x = k->begin + 1; x < k->end; x++)
        if (!w.map[x])
            copy(&w, x);
    ac_loop_fn *made = ac_lb_close(b);
    if (fn->plane && fn->plane->apart) {
        ac_plane *q = made->plane = ac_copy(c->region, fn->plane, sizeof *q);
        q->x = buf[q->x];
        q->w = buf[q->w];
        q->m = buf[q->m];
        q->out = buf[q->out];
        q->apart = false;
    }
    p.fn = made;
    return p;
}

static const ac_loop_fn *outer_of(const cutter *c, int32_t most)
{
    const ac_loop_fn *fn = c->fn;
    writer w = {.c = c, .map = AC_NEW_N(c->region, ac_x, fn->code.n)};
    ac_lb *b = &w.b;
    ac_lb_open_like(b, c->region, fn);
    const int32_t at = ac_lb_buf(b, "at", AC_I32, most ? most : 1, AC_BUF_LOCAL, 4, NULL);
    int32_t k = 0;
    for (ac_x x = 1; x < fn->code.n; x++) {
        if (!ac_is_piece(fn, x)) {
            copy(&w, x);
            continue;
        }
        const cut *m = &c->cut[k++];
        const ac_ins *head = &fn->code.item[x];
        if (!m->fits) {
            w.map[x] = ac_lb_for(b, head->name, w.map[head->a], w.map[head->b], head->k.i, AC_MARK_SERIAL);
            continue;
        }
        for (int32_t v = 0; v < m->n_values; v++) {
            const ac_x value = w.map[m->value[v]];
            const bool var = fn->code.item[m->value[v]].op == AC_L_VAR;
            ac_lb_store(b, at, ac_lb_i32(b, v), var ? ac_lb_get(b, value) : value);
        }
        ac_lb_for(b, head->name, ac_lb_i32(b, 0), ac_lb_i32(b, 1), 1, AC_MARK_APART);
        ac_lb_end(b);
        x = m->end;
    }
    return ac_lb_close(b);
}

ac_pieces ac_loop_pieces(ac_ctx *cx, ac_region *region, const ac_loop_fn *fn)
{
    cutter c = {.cx = cx, .region = region, .fn = fn};
    ac_pieces out = {.outer = fn};
    find_cuts(&c);
    if (!c.n)
        return out;
    find_homes(&c);
    int32_t most = 0;
    out.item = AC_NEW_N(region, ac_piece, c.n);
    for (int32_t k = 0; k < c.n; k++) {
        find_needs(&c, &c.cut[k]);
        if (!c.cut[k].fits)
            continue;
        most = c.cut[k].n_values > most ? c.cut[k].n_values : most;
        out.item[out.n] = piece_of(&c, &c.cut[k]);
        out.item[out.n].like = out.n;
        out.n++;
    }
    out.outer = outer_of(&c, most);
    return out;
}
