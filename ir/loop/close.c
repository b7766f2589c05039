/* close.c - finishes a function: removes dead code and renumbers.
 *
 * ac_lb_close removes, once: unused values, variables never read, blocks without statements, loops without iterations
 * and the marks of loops with one, branches decided by constants. The remaining instructions are renumbered densely, in
 * order.
 *
 * Cost: O(instructions), times the few rounds until no variable loses its last reader. */
#include "ir/loop/builder.h"
#include "ir/loop/ins_fields.h"

enum { LIVE = 1, GONE = 2 }; /* GONE: unreachable, or a redundant mark */

typedef struct sweep {
    ac_loop_fn *fn;
    uint8_t *state;  /* by instruction */
    int32_t *other;  /* FOR, IF: their END; ELSE: its IF; END: its FOR or IF; IF with else: see `middle` */
    int32_t *middle; /* IF: its ELSE, or 0 */
    bool *read;      /* VAR: some live GET reads it */
} sweep;

static const ac_ins *const_of(const sweep *s, ac_x x)
{
    const ac_ins *i = &s->fn->code.item[x];
    return i->op == AC_L_CONST ? i : NULL;
}

static void match(sweep *s, ac_region *r)
{
    AC_VEC(int32_t) open = {0};
    for (int32_t i = 1; i < s->fn->code.n; i++) {
        char cls = ac_lop_class((ac_lop)s->fn->code.item[i].op);
        if (cls == 'O') {
            ac_push(r, &open, i);
        } else if (cls == 'E') {
            s->other[i] = open.item[open.n - 1];
            s->middle[open.item[open.n - 1]] = i;
        } else if (cls == 'C') {
            int32_t o = open.item[--open.n];
            s->other[i] = o;
            s->other[o] = i;
        }
    }
}

static void drop(sweep *s, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to; i++)
        s->state[i] = GONE;
}

/* Blocks whose fate constants decide. */
static void decide(sweep *s)
{
    for (int32_t i = 1; i < s->fn->code.n; i++) {
        const ac_ins *x = &s->fn->code.item[i];
        if (s->state[i] == GONE)
            continue;
        if (x->op == AC_L_FOR && (x->flags & AC_F_ONCE)) {
            s->state[i] = s->state[s->other[i]] = GONE;
        } else if (x->op == AC_L_FOR) {
            const ac_ins *lo = const_of(s, x->a), *hi = const_of(s, x->b);
            if (lo && hi && (x->k.i > 0 ? lo->k.i >= hi->k.i : lo->k.i <= hi->k.i))
                drop(s, i, s->other[i] + 1);
        } else if (x->op == AC_L_IF && const_of(s, x->a)) {
            int32_t end = s->other[i], mid = s->middle[i] ? s->middle[i] : end;
            if (const_of(s, x->a)->k.i) {
                s->state[i] = GONE;
                drop(s, mid, end + 1);
            } else {
                drop(s, i, mid + 1);
                s->state[end] = GONE;
            }
        }
    }
}

static void use(sweep *s, ac_x x)
{
    if (x && s->state[x] != GONE)
        s->state[x] = LIVE;
}

static void use_operands(sweep *s, const ac_ins *x)
{
    use(s, x->a);
    use(s, x->b);
    use(s, x->c);
}

/* A block is live when a statement in it is; then so are its ends. Walking backwards, all users come before their
 * operands. */
static void mark(sweep *s, ac_region *r)
{
    AC_VEC(bool) live = {0};  /* of the blocks around i, innermost last; for ELSE parts too */
    AC_VEC(bool) other = {0}; /* was the ELSE part live? */
    ac_push(r, &live, true);
    ac_push(r, &other, false);
    for (int32_t i = s->fn->code.n - 1; i > 0; i--) {
        const ac_ins *x = &s->fn->code.item[i];
        if (s->state[i] == GONE)
            continue;
        char cls = ac_lop_class((ac_lop)x->op);
        if (cls == 'C') {
            ac_push(r, &live, false);
            ac_push(r, &other, false);
        } else if (cls == 'E') {
            other.item[other.n - 1] = live.item[live.n - 1];
            live.item[live.n - 1] = false;
            s->state[i] = other.item[other.n - 1] ? LIVE : 0;
        } else if (cls == 'O') {
            const bool call = x->op == AC_L_FOR && x->aux == AC_MARK_APART; /* empty: of a piece */
            bool any = live.item[live.n - 1] || other.item[other.n - 1] || call;
            live.n--;
            other.n--;
            if (any) {
                s->state[i] = s->state[s->other[i]] = LIVE;
                use_operands(s, x);
                live.item[live.n - 1] = true;
            }
        } else if (cls == 'S') {
            bool dead = (x->op == AC_L_VAR && !s->read[i]) || (x->op == AC_L_SET && !s->read[x->aux]);
            if (dead)
                continue;
            s->state[i] = LIVE;
            use_operands(s, x);
            if (x->op != AC_L_VAR)
                live.item[live.n - 1] = true;
        } else if (s->state[i] == LIVE) {
            use_operands(s, x);
        }
    }
}

static void compact(sweep *s, ac_region *r)
{
    ac_loop_fn *fn = s->fn;
    int32_t *to = AC_NEW_N(r, int32_t, fn->code.n);
    int32_t n = 1;
    for (int32_t i = 1; i < fn->code.n; i++) {
        if (s->state[i] != LIVE)
            continue;
        ac_ins x = fn->code.item[i];
        ac_ins_move_values(&x, to);
        if (x.op == AC_L_VAR)
            x.k.i = 0;
        to[i] = n;
        fn->code.item[n++] = x;
    }
    fn->code.n = n;
}

void ac_lb_sweep(ac_loop_fn *fn, ac_region *region)
{
    size_t n = (size_t)fn->code.n;
    sweep s = {fn, AC_NEW_N(region, uint8_t, n), AC_NEW_N(region, int32_t, n), AC_NEW_N(region, int32_t, n),
               AC_NEW_N(region, bool, n)};
    match(&s, region);
    decide(&s);
    for (size_t i = 0; i < n; i++)
        s.read[i] = true;
    for (bool again = true; again;) {
        for (size_t i = 0; i < n; i++)
            s.state[i] = s.state[i] == GONE ? GONE : 0;
        mark(&s, region);
        bool *read = AC_NEW_N(region, bool, n);
        again = false;
        for (int32_t i = 1; i < fn->code.n; i++)
            if (fn->code.item[i].op == AC_L_GET && s.state[i] == LIVE)
                read[fn->code.item[i].aux] = true;
        for (int32_t i = 1; i < fn->code.n; i++)
            again |= fn->code.item[i].op == AC_L_VAR && s.state[i] == LIVE && !read[i];
        s.read = read;
    }
    compact(&s, region);
}
