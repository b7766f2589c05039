/* attention_symbols.c - products of attention in MXNet, whose operands have the parts of each head side by side.
 *
 *     selfatt   x [T,N,heads*3*D]: query, key and value of a head
 *     encdec    queries [S,N,heads*D], x [T,N,heads*2*D]: key and value
 *     qk        scores [N*heads,S,T], of queries divided by sqrt(D)
 *     valatt    weights [N*heads,S,T] times values: [S,N,heads*D] */
#include "import/mxnet/symbols.h"

#include <math.h>

#define MAKER (&n->b)
#include "ir/make/formula.h"

/* Part `which` of the `parts` in x: [N*heads,T,D]. NULL: reported. */
static ac_tensor *part(ac_mx_node *n, ac_tensor *x, int64_t parts, int64_t which)
{
    static const int32_t HEADS_FIRST[AC_MAX_RANK] = {1, 2, 0, 3};
    const int64_t heads = ac_attr_int(&n->attrs, A_heads);
    if (x->rank != 3 || x->dim[2] % (heads * parts))
        return (void)ac_bad(&n->b, "'%s' is %s, expected [T,N,C] with C a multiple of %d parts of %d heads", x->name,
                            ac_shape_str(n->r->cx, x), (int)parts, (int)heads),
               NULL;
    const int64_t steps = x->dim[0], items = x->dim[1], size = x->dim[2] / heads / parts;
    ac_tensor *y = ac_make_reshape(&n->b, x, 5, (int64_t[]){steps, items, heads, parts, size});
    y = ac_make_slice(&n->b, y, 3, which, 1);
    y = ac_make_reshape(&n->b, y, 4, (int64_t[]){steps, items, heads, size});
    y = ac_make_transpose(&n->b, y, HEADS_FIRST);
    return ac_make_reshape(&n->b, y, 3, (int64_t[]){items * heads, steps, size});
}

static int scores(ac_mx_node *n, ac_tensor *query, ac_tensor *key)
{
    if (!query || !key)
        return AC_FAIL;
    query = DIV(query, F32(sqrt((double)query->dim[2])));
    return ac_mx_result(n, 0, ac_make_matmul(&n->b, query, key, false, true));
}

static int weighted(ac_mx_node *n, ac_tensor *weights, ac_tensor *value)
{
    static const int32_t STEPS_FIRST[AC_MAX_RANK] = {2, 0, 1, 3};
    const int64_t heads = ac_attr_int(&n->attrs, A_heads);
    if (!value)
        return AC_FAIL;
    ac_tensor *y = ac_make_matmul(&n->b, weights, value, false, false);
    if (!y)
        return AC_FAIL;
    const int64_t items = y->dim[0] / heads, steps = y->dim[1], size = y->dim[2];
    y = ac_make_reshape(&n->b, y, 4, (int64_t[]){items, heads, steps, size});
    y = ac_make_transpose(&n->b, y, STEPS_FIRST);
    return ac_mx_result(n, 0, ac_make_reshape(&n->b, y, 3, (int64_t[]){steps, items, heads * size}));
}

int ac_mx_do_selfatt_qk(ac_mx_node *n)
{
    ac_tensor *query = part(n, n->in[0], 3, 0);
    return query ? scores(n, query, part(n, n->in[0], 3, 1)) : AC_FAIL;
}

int ac_mx_do_selfatt_valatt(ac_mx_node *n)
{
    return weighted(n, n->in[1], part(n, n->in[0], 3, 2));
}

int ac_mx_do_encdec_qk(ac_mx_node *n)
{
    ac_tensor *query = part(n, n->in[0], 1, 0);
    return query ? scores(n, query, part(n, n->in[1], 2, 0)) : AC_FAIL;
}

int ac_mx_do_encdec_valatt(ac_mx_node *n)
{
    return weighted(n, n->in[1], part(n, n->in[0], 2, 1));
}
