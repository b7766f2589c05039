/* labels.c - classes and scores of ai.onnx.ml (labels.h). */
#include "import/onnx/ml/labels.h"
#include "ir/make/compose_math.h"
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/texts.h"

#include <inttypes.h>
#include <string.h>

int ac_onx_labels(ac_onx_node *n, ac_labels *out)
{
    const ac_ints numbers = ac_attr_ints(&n->attrs, A_classlabels_ints),
                  wide = ac_attr_ints(&n->attrs, A_classlabels_int64s);
    if (n->b.bad)
        return AC_FAIL;
    *out = (ac_labels){.number = numbers.n ? numbers : wide};
    const ac_onx_attr *names = ac_onx_attr_of(n, "classlabels_strings");
    out->names = names && names->strings.n;
    if (out->names) {
        int64_t *code = AC_NEW_N(n->r->cx->region, int64_t, names->strings.n);
        AC_TRY(ac_onx_text_codes(n->r, n->at, names->strings, code));
        out->number = (ac_ints){(int32_t)names->strings.n, code};
    }
    out->n = out->number.n;
    return out->n ? AC_OK : ac_error(n->r->cx, n->at, E0103, "it has no class labels");
}

ac_tensor *ac_onx_labelled(ac_onx_node *n, const ac_labels *labels, ac_tensor *index)
{
    bool same = true;
    for (int32_t i = 0; i < labels->number.n; i++)
        same &= labels->number.v[i] == i;
    if (index && labels->names && same)
        return ac_onx_text(n->r, ac_make_cast(&n->b, index, AC_I32), false);
    if (same || !index)
        return index;
    ac_tensor *in[] = {labels->names ? ac_onx_coded(n, labels->n, labels->number.v)
                                     : ac_make_ints(&n->b, labels->n, labels->number.v),
                       index};
    ac_tensor *y = ac_make_op(&n->b, AC_OP_GATHER, in, 2, NULL, AC_NONE);
    return labels->names ? ac_onx_text(n->r, y, false) : y;
}

ac_tensor *ac_onx_greatest(ac_onx_node *n, ac_tensor *scores)
{
    ac_attrs a;
    const int64_t axis = 1;
    ac_attrs_init(AC_OP_ARG_MAX, &a);
    a.arg.out_type = AC_I64;
    ac_tensor *in[] = {scores, ac_make_reshape(&n->b, ac_make_ints(&n->b, 1, &axis), 0, NULL)};
    return scores ? ac_make_op(&n->b, AC_OP_ARG_MAX, in, 2, &a, AC_I64) : NULL;
}

ac_tensor *ac_onx_second(ac_onx_node *n, ac_tensor *scores, double at)
{
    if (!scores)
        return NULL;
    ac_tensor *x = ac_make_slice(&n->b, scores, 1, scores->dim[1] - 1, 1);
    x = x ? ac_make_cast(&n->b, GREATER(x, NUM(x, at)), AC_I64) : NULL;
    return ac_make_reshape(&n->b, x, 1, scores->dim);
}

/* Numbers within 1e-7 of 0 stay as they are, but for the common factor. */
static ac_tensor *softmax_zero(ac_onx_node *n, ac_tensor *x)
{
    ac_tensor *most = ac_make_reduce(&n->b, AC_OP_REDUCE_MAX, x, 1u << (x->rank - 1), true);
    ac_tensor *least = NUM(x, 1e-7), *far = GREATER(ABS(x), least);
    ac_tensor *e = EXP(SUB(x, most)), *shrunk = MUL(x, EXP(NEG(most)));
    ac_tensor *sum = ac_make_reduce(&n->b, AC_OP_SUM, WHERE(far, e, NUM(x, 0)), 1u << (x->rank - 1), true);
    return DIV(WHERE(far, e, shrunk), sum);
}

/* The inverse of the normal distribution, by ONNX Runtime's approximation of the inverse of erf. */
static ac_tensor *probit(ac_onx_node *n, ac_tensor *x)
{
    ac_tensor *one = NUM(x, 1), *t = SUB(MUL(x, NUM(x, 2)), one), *more = ADD(NUM(x, 1), t);
    ac_tensor *log = LOG(MUL(SUB(NUM(x, 1), t), more)), *half = MUL(NUM(x, 0.5), log);
    ac_tensor *v = ADD(NUM(x, 2 / (3.14159 * 0.147)), half);
    ac_tensor *w = MUL(NUM(x, 1 / 0.147), log);
    ac_tensor *root = SQRT(SUB(SQUARE(v), w));
    ac_tensor *y = SQRT(SUB(root, v));
    ac_tensor *sign = SIGN(t);
    return MUL(MUL(NUM(x, 1.41421356), sign), y);
}

ac_tensor *ac_onx_post(ac_onx_node *n, const char *post, ac_tensor *x)
{
    if (!x || !strcmp(post, "NONE"))
        return x;
    if (!strcmp(post, "LOGISTIC"))
        return OP1(LOGISTIC, x);
    if (!strcmp(post, "SOFTMAX"))
        return OP1(SOFTMAX, x);
    if (!strcmp(post, "SOFTMAX_ZERO"))
        return softmax_zero(n, x);
    if (!strcmp(post, "PROBIT"))
        return probit(n, x);
    return (void)ac_error(n->r->cx, n->at, E0103, "post_transform is '%s'", post), NULL;
}

ac_tensor *ac_onx_post_targets(ac_onx_node *n, const char *post, ac_tensor *x)
{
    return x && x->dim[x->rank - 1] == 1 && strcmp(post, "PROBIT") != 0 ? x : ac_onx_post(n, post, x);
}
