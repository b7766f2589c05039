/* sample_adjoints.c - gradients of resizing. It is linear along each of two dimensions: y = A_h x A_w', and so is its
 * gradient: A_h' dy A_w. A_h and A_w are what the operator makes of an identity matrix, so they are constants, and
 * whatever it does at corners and borders is in them. */
#include "ir/make/compose_moves.h"
#include "ir/grad/entries.h"
#include "ir/grad/formula.h"

/* The matrix [out, in] of dimension d of the images, 1 or 2. */
static ac_tensor *matrix(const ac_adjoint *a, int32_t d)
{
    const ac_node *n = a->node;
    const ac_tensor *x = n->in[0];
    const int64_t in = x->dim[d], out = n->out[0]->dim[d];
    const int64_t image[4] = {1, d == 1 ? in : 1, d == 1 ? 1 : in, in};
    const int64_t size[2] = {d == 1 ? out : 1, d == 1 ? 1 : out};
    if (in > 1 << 12)
        return (void)ac_no_gradient(a, "dimension %d of its input is %lld", d, (long long)in), NULL;
    uint8_t *data = ac_alloc(a->b.cx->region, (uint64_t)(in * in * ac_dtype_size(x->dtype, 1)));
    for (int64_t i = 0; i < in * in; i++)
        ac_dtype_put_num(x->dtype, data + i * ac_dtype_size(x->dtype, 1), i % (in + 1) == 0);
    ac_tensor *eye =
        ac_tensor_const(a->b.g, ac_strf(a->b.cx->region, "grad_%s_eye", n->out[0]->name), x->dtype, 4, image, data);
    ac_attrs t = n->attrs;
    t.resize.size = ac_make_list(&a->b, 2, size);
    ac_tensor *m = ac_make_op(&a->b, n->op, &eye, 1, &t, AC_NONE);
    return ac_make_reshape(&a->b, m, 2, (int64_t[]){out, in});
}

int ac_gr_resize(ac_adjoint *a)
{
    const ac_tensor *x = a->node->in[0], *y = a->node->out[0];
    ac_tensor *dx = ac_dy(a);
    if (!ac_wants(a, 0))
        return AC_OK;
    if (x->dim[2] != y->dim[2]) { /* [N * OH, OW, C] */
        dx = ac_make_reshape(&a->b, dx, 3, (int64_t[]){y->dim[0] * y->dim[1], y->dim[2], y->dim[3]});
        dx = ac_make_matmul(&a->b, matrix(a, 2), dx, true, false);
    }
    if (x->dim[1] != y->dim[1]) { /* [N, OH, W * C] */
        dx = ac_make_reshape(&a->b, dx, 3, (int64_t[]){y->dim[0], y->dim[1], x->dim[2] * x->dim[3]});
        dx = ac_make_matmul(&a->b, matrix(a, 1), dx, true, false);
    }
    ac_give(a, 0, ac_make_reshape_like(&a->b, dx, x));
    return AC_OK;
}
