/* branches.c - a product with a weight that has a lora becomes two: with the weight, and with the thin matrices one
 * after the other. So neither their product nor the gradient of the weight is ever made.
 *
 * before:  %p = batch_matmul %b %a   %s = add %w %p   %y = fully_connected %x %s %bias
 * after:   %h = fully_connected %x %a   %d = fully_connected %h %b   %c = fully_connected %x %w %bias   %y = add %c %d
 *
 * The same for conv_2d, whose second product is one of single pixels. A transpose between weight and product is made of
 * each part. If the sum has other readers, or the product is another operator, it stays. */
#include "ir/train/make.h"

#include <string.h>

typedef struct branch {
    ac_node *product, *move; /* move: the node between the sum and the product; NULL: none */
    ac_tensor *fixed, *b, *a;
    bool swapped; /* the sum is transposed: rows are columns */
} branch;

/* True if n keeps the rows of the sum as rows, or (*swapped) as columns. */
static bool moves_rows(ac_ctx *cx, const ac_node *n, bool *swapped)
{
    ac_ints perm;
    if (n->op == AC_OP_RESHAPE)
        return n->out[0]->rank > 0 && n->out[0]->dim[0] == n->in[0]->dim[0];
    if (n->op != AC_OP_TRANSPOSE || ac_node_ints(cx, n, 1, n->attrs.perm.perm, &perm) != AC_OK || perm.n < 2)
        return false;
    *swapped = perm.n == 2 && perm.v[0] == 1;
    return perm.v[0] == 0 || *swapped;
}

static bool is_product(const ac_node *n, const ac_tensor *w)
{
    const ac_tensor *x = n->in[0];
    return !n->n_fused && n->n_in > 1 && n->in[1] == w && x->dtype == AC_F32 &&
           ((n->op == AC_OP_FULLY_CONNECTED && w->rank == 2) ||
            (n->op == AC_OP_CONV_2D && w->rank == 4 && x->dim[3] == w->dim[3]));
}

static bool find(ac_ctx *cx, const ac_graph *g, const ac_train_step *s, const ac_train_lora *l, branch *to)
{
    *to = (branch){.b = s->weight.item[l->factors].state, .a = s->weight.item[l->factors + 1].state};
    const ac_node *n = ac_train_only_reader(g, to->b);
    n = n ? ac_train_only_reader(g, n->out[0]) : NULL;
    if (n && n->op == AC_OP_RESHAPE)
        n = ac_train_only_reader(g, n->out[0]);
    if (!n || n->op != AC_OP_ADD || n->in[0]->dim[0] != to->b->dim[0])
        return false;
    ac_tensor *w = n->out[0];
    to->fixed = n->in[0];
    to->product = ac_train_only_reader(g, w);
    if (to->product && moves_rows(cx, to->product, &to->swapped)) {
        to->move = to->product;
        w = to->move->out[0];
        to->product = ac_train_only_reader(g, w);
    }
    return to->product && is_product(to->product, w);
}

/* The factor that meets the operand first, in the shape of the weight but for its rows. */
static ac_tensor *first_factor(const ac_maker *m, const branch *f)
{
    const int64_t rank = f->a->dim[0];
    int64_t dim[AC_MAX_RANK];
    const ac_tensor *like = f->move && f->move->op == AC_OP_RESHAPE ? f->move->out[0] : f->fixed;
    if (f->swapped)
        return ac_make_op(m, AC_OP_TRANSPOSE, &f->b, 1, &f->move->attrs, AC_NONE);
    memcpy(dim, like->dim, sizeof dim);
    dim[0] = rank;
    ac_tensor *a = like->rank == 2 ? f->a : ac_make_reshape(m, f->a, like->rank, dim);
    return f->move && f->move->op == AC_OP_TRANSPOSE ? ac_make_op(m, AC_OP_TRANSPOSE, &a, 1, &f->move->attrs, AC_NONE)
                                                     : a;
}

static ac_tensor *second_factor(const ac_maker *m, const branch *f)
{
    if (f->swapped)
        return ac_make_op(m, AC_OP_TRANSPOSE, &f->a, 1, &f->move->attrs, AC_NONE);
    return f->product->op == AC_OP_CONV_2D ? ac_make_reshape(m, f->b, 4, (int64_t[]){f->b->dim[0], 1, 1, f->b->dim[1]})
                                           : f->b;
}

static int take_apart(ac_ctx *cx, ac_graph *g, const branch *f)
{
    ac_node *n = f->product;
    const ac_maker m = ac_train_maker(g, n->name, 0);
    ac_tensor *y = n->out[0];
    const ac_act act = ac_node_act(n);
    ac_node_set_act(n, AC_ACT_NONE);
    ac_attrs second = n->attrs;
    if (n->op == AC_OP_CONV_2D)
        ac_attrs_init(n->op, &second);
    ac_tensor *h = ac_make_op(&m, n->op, (ac_tensor *[]){n->in[0], first_factor(&m, f)}, 2, &n->attrs, AC_NONE);
    ac_tensor *d = ac_make_op(&m, n->op, (ac_tensor *[]){h, second_factor(&m, f)}, 2, &second, AC_NONE);
    n->in[1] = f->fixed;
    if (f->move) {
        f->move->in[0] = f->fixed;
        n->in[1] = f->move->out[0];
    }
    n->out[0] = ac_tensor_new(g, ac_internf(cx, "%s_fixed", y->name), y->dtype, y->rank, y->dim);
    n->out[0]->def = n;
    ac_push(g->region, &g->node, n);
    ac_tensor *v = ac_train_activated(&m, act, ac_make_2(&m, AC_OP_ADD, n->out[0], d));
    if (!v)
        return AC_FAIL;
    ac_train_take_place(v, y);
    return AC_OK;
}

int ac_train_branches(ac_ctx *cx, ac_graph *g, const ac_train_step *s)
{
    const int32_t n = g->node.n;
    branch *found = AC_NEW_N(cx->region, branch, s->lora.n + 1);
    ac_node **old = ac_copy(cx->region, g->node.item, (size_t)(n + 1) * sizeof *old);
    int32_t n_found = 0;
    for (int32_t i = 0; i < s->lora.n; i++)
        n_found += find(cx, g, s, &s->lora.item[i], &found[n_found]);
    g->node.n = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t k = 0;
        while (k < n_found && found[k].product != old[i])
            k++;
        if (k < n_found)
            AC_TRY(take_apart(cx, g, &found[k]));
        else
            ac_push(g->region, &g->node, old[i]);
    }
    return AC_OK;
}
