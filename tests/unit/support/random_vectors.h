/* random_vectors.h - random graphs of operators on vectors, for tests of orders and live ranges.
 *
 *     ac_graph *g = random_graph(cx, 4 + draw(7));      after the passes; NULL: reported
 *
 * Memory: the context's region. */
#ifndef AC_TESTS_UNIT_SUPPORT_RANDOM_VECTORS_H
#define AC_TESTS_UNIT_SUPPORT_RANDOM_VECTORS_H
#include "ir/lower/node/node.h"
#include "ir/pass/run/run.h"

#include <stdio.h>
#include <string.h>

static uint64_t seed = 88172645463325252ull;
static int32_t draw(int32_t below) /* xorshift64: the same graphs everywhere */
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int32_t)((seed >> 33) % (uint64_t)below);
}

enum { MAX_VALUES = 64 };

/* A graph of vectors: relu keeps a size, concat adds two up, slice halves, softmax cannot run in place. */
static ac_graph *random_graph(ac_ctx *cx, int32_t n_ops)
{
    ac_sink s;
    int32_t size[MAX_VALUES], n = 0;
    bool read[MAX_VALUES] = {false};
    ac_sink_open(&s, cx);
    ac_put(&s, "graph g {\n");
    for (int32_t n_in = 1 + draw(2); n < n_in; n++)
        ac_putf(&s, "  input t%d: f32[%d]\n", n, size[n] = 4 + 4 * draw(6));
    for (int32_t k = 0; k < n_ops; k++, n++) {
        int32_t a = draw(3) ? n - 1 - draw(n < 4 ? n : 4) : draw(n), b = draw(n), kind = draw(5);
        read[a] = true;
        size[n] = size[a];
        if (kind == 0) {
            ac_putf(&s, "  t%d = relu(t%d)\n", n, a);
        } else if (kind == 1 && size[a] + size[b] < 200) {
            ac_putf(&s, "  t%d = concatenation(t%d, t%d) axis=0\n", n, a, b);
            size[n] = size[a] + size[b];
            read[b] = true;
        } else if (kind == 2 && size[a] > 8) {
            size[n] = size[a] / 2;
            ac_putf(&s, "  const b%d: i32[1] = [%d]\n  const s%d: i32[1] = [%d]\n  t%d = slice(t%d, b%d, s%d)\n", n,
                    draw(2) * size[n], n, size[n], n, a, n, n);
        } else if (kind == 3 && size[b] == size[a]) {
            ac_putf(&s, "  t%d = add(t%d, t%d)\n", n, a, b);
            read[b] = true;
        } else {
            ac_putf(&s, "  t%d = softmax(t%d)\n", n, a);
        }
    }
    ac_put(&s, "  output ");
    for (int32_t k = 0, any = 0; k < n; k++)
        if (!read[k] && k >= n - n_ops)
            ac_putf(&s, "%st%d", any++ ? ", " : "", k);
    ac_put(&s, "\n}\n");
    ac_graph *g = NULL;
    ac_passes run;
    ac_pass_options opt = {.views = true};
    const char *text = ac_sink_text(&s);
    if (ac_graph_read_text(cx, "random.ag", text, strlen(text), NULL, &g) == AC_OK)
        g->promise = ac_lower_promise;
    if (!g || ac_pass_run(&run, cx, g, &opt)) {
        ac_diags_print(&cx->diags, stdout, false);
        printf("%s", text);
        return NULL;
    }
    return g;
}
#endif
