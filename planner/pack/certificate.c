/* certificate.c - prints the trace of a failed search, see certificate.h. Without recursion: proofs are thousands of
 * nodes deep. */
#include "planner/pack/certificate.h"

typedef struct printer {
    ac_sink *to;
    const ac_exact *x;
    const int32_t *word; /* the trace */
    int32_t *uses; /* per node (its place in the trace): how often it is needed; after printing: minus its number */
    ac_words todo; /* stack of nodes to print: a node, or -1 - an item to try, or NOBODY */
    ac_region *tmp;
    int32_t labels;
} printer;

enum { NOBODY = INT32_MIN };

/* Pushes the parts of a node, last first. */
static void push_parts(printer *w, int32_t node, bool tries)
{
    const int32_t *v = &w->word[node];
    switch ((ac_trace_kind)v[0]) {
    case AC_TRACE_OVER:
    case AC_TRACE_FIXED:
    case AC_TRACE_FREE:
        break;
    case AC_TRACE_LIFT:
        ac_push(w->tmp, &w->todo, v[2]);
        break;
    case AC_TRACE_KEEP:
        ac_push(w->tmp, &w->todo, v[3]);
        break;
    case AC_TRACE_BRANCH:
        for (int32_t k = v[2] - 1; k >= 0; k--) {
            ac_push(w->tmp, &w->todo, v[4 + 2 * k]);
            if (tries)
                ac_push(w->tmp, &w->todo, v[3 + 2 * k] == INT32_MAX ? NOBODY : -1 - v[3 + 2 * k]);
        }
        break;
    }
}

static void count_uses(printer *w)
{
    ac_push(w->tmp, &w->todo, w->x->root);
    while (w->todo.n) {
        int32_t node = w->todo.item[--w->todo.n];
        if (!w->uses[node]++)
            push_parts(w, node, false);
    }
}

static void print_node(printer *w, int32_t node)
{
    const int32_t *v = &w->word[node], *origin = w->x->origin;
    if (w->uses[node] < 0) {
        ac_putf(w->to, "same %d\n", -w->uses[node]);
        return;
    }
    switch ((ac_trace_kind)v[0]) {
    case AC_TRACE_OVER:
        ac_putf(w->to, "over %d\n", v[1]);
        break;
    case AC_TRACE_FIXED:
        ac_putf(w->to, "fixed %d\n", origin[v[1]]);
        break;
    case AC_TRACE_FREE:
        ac_putf(w->to, "free %d\n", origin[v[1]]);
        break;
    case AC_TRACE_LIFT:
        ac_put(w->to, "lift");
        for (int32_t k = 0; k < v[1]; k++)
            ac_putf(w->to, " %d", origin[v[3 + k]]);
        ac_putc(w->to, '\n');
        break;
    case AC_TRACE_BRANCH:
        ac_putf(w->to, "node %d %d\n", v[1], v[2]);
        break;
    case AC_TRACE_KEEP:
        if (w->uses[node] > 1) {
            w->uses[node] = -++w->labels;
            ac_putf(w->to, "keep %d %d %d\n", w->labels, v[1], v[2]);
        }
        break;
    }
    push_parts(w, node, true);
}

void ac_certificate_write(ac_sink *to, const ac_exact *x)
{
    ac_region *tmp = ac_region_open(&to->cx->heap);
    printer w = {.to = to, .x = x, .word = x->trace.item, .uses = AC_NEW_N(tmp, int32_t, x->trace.n), .tmp = tmp};
    ac_putf(to, "arenac-certificate 1\nitems %d\ncapacity %lld\n", x->p->n, (long long)x->capacity);
    count_uses(&w);
    ac_push(tmp, &w.todo, x->root);
    while (w.todo.n) {
        int32_t next = w.todo.item[--w.todo.n];
        if (next >= 0)
            print_node(&w, next);
        else if (next == NOBODY)
            ac_put(to, "none\n");
        else
            ac_putf(to, "try %d\n", x->origin[-1 - next]);
    }
    ac_put(to, "end\n");
    ac_region_close(tmp);
}
