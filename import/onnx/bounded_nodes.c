/* bounded_nodes.c - ONNX operators one of whose sizes may be computed at run time: Range, Expand, Slice (and
 * ConstantOfShape in shape_nodes.c, scans of Loop in loop_nodes.c). Their results are as long as they may become, with
 * a count (import/build/bounds.h). */
#include "import/build/bounds.h"
#include "import/build/compose_bounded.h"
#include "import/build/operands.h"
#include "import/onnx/proto/nodes.h"

const char *ac_onx_result_name(const ac_onx_node *n, int32_t i)
{
    return i < n->n_out && n->out[i] ? n->out[i]->name : NULL;
}

int ac_onx_do_range(ac_onx_node *n)
{
    ac_tensor *y = NULL;
    AC_TRY(ac_make_range(&n->b, n->in, ac_onx_result_name(n, 0), &y));
    return ac_onx_result(n, 0, y);
}

/* ------------------------------------------------------------------ Expand */

/* Both sides broadcast: a 1 in the new shape keeps the input's size. */
int ac_onx_do_expand(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    ac_late_sizes s;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_late_sizes_of(&n->b, &n->in[1], ac_onx_result_name(n, 0), &s));
    const int32_t rank = s.n > x->rank ? s.n : x->rank, at = rank - s.n + s.at;
    if (rank > AC_MAX_RANK)
        return ac_refuse(n->r->reading, n->at, E0205, n->type, "the result has more than 8 dimensions", NULL);
    for (int32_t d = 0; d < rank; d++) {
        const int32_t i = d - (rank - x->rank), k = d - (rank - s.n);
        const int64_t own = i < 0 ? 1 : x->dim[i], want = k < 0 ? 1 : s.dim[k];
        dim[d] = want == 1 ? own : want;
        if (s.count && d == at && own != 1) {
            /* the size is that of x, or 1: x keeps its own */
            dim[d] = own;
            s.count = NULL;
        }
    }
    if (s.count && x->count)
        return ac_operand_late(&n->b, n->in[1]);
    ac_tensor *y = ac_make_broadcast(&n->b, x, rank, dim);
    return ac_onx_result(n, 0, s.count ? ac_bounded(&n->b, y == x ? NULL : y, s.count, at) : y);
}

/* ------------------------------------------------------------------ Slice */

bool ac_onx_is_late_slice(ac_onx_node *n)
{
    if (n->version < 10 || !n->r->reading->again)
        return false;
    (void)ac_bound_of(&n->b, ac_onx_result_name(n, 0));
    for (int32_t i = 1; i < 5; i++)
        if (ac_onx_in(n, i) && ac_tensor_count(n->in[i]) != 1)
            return false;
    return n->n_in > 2 && n->in[1] && n->in[2] &&
           (!ac_operand_known(&n->b, &n->in[1]) || !ac_operand_known(&n->b, &n->in[2]));
}

int ac_onx_late_slice(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t axis = 0, step = 1;
    int32_t d;
    if (ac_onx_in(n, 3))
        AC_TRY(ac_operand_int(&n->b, &n->in[3], &axis));
    if (ac_onx_in(n, 4))
        AC_TRY(ac_operand_int(&n->b, &n->in[4], &step));
    AC_TRY(ac_operand_axis(&n->b, axis, x->rank, &d));
    double from = -1;
    int64_t most;
    if (step == 1 && x->count && d == x->count_dim && ac_known_element(&n->b, n->in[1], 0, &from) && from == 0 &&
        ac_count_behind(&n->b, n->in[2], &most) == x->count)
        return ac_onx_result(n, 0, x); /* all that have a meaning */
    if (step != 1 || x->count)
        return ac_operand_late(&n->b, ac_tensor_is_const(n->in[1]) ? n->in[2] : n->in[1]);
    return ac_onx_result(n, 0, ac_make_late_slice(&n->b, x, d, n->in[1], n->in[2], ac_onx_result_name(n, 0)));
}
