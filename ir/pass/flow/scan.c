/* scan.c - SCAN: a loop over the elements of sequences. Part of pass infer.
 *
 *     stays      its subgraph is copied for the shapes of the operands; constants that all steps read become constants
 *                of the copy
 *     unrolled   into a copy of the subgraph for each step, if there is only one, or if the caller of the passes needs
 *                nodes (gradients, other formats): slices of the sequences go in, and a concatenation collects
 *
 *     before   %h %y = scan %h0 %x (body %h1 = tanh %h + %x)
 *     after    %x0 = slice %x 0   %h1 = tanh %h0 + %x0   %x1 = slice %x 1   %h2 = tanh %h1 + %x1 ..
 *              %y = concat %h1 %h2 .. */
#include "ir/make/clones.h"
#include "ir/make/maker.h"
#include "ir/ops/shape/shape.h"
#include "ir/pass/flow/inline.h"

#include <inttypes.h>
#include <string.h>

/* ------------------------------------------------------------------ stays */

/* An element of sequence x: its type, and its shape without the first dimension. */
static ac_tensor *element_of(ac_inline *s, const ac_node *n, const ac_tensor *x)
{
    if (x->quant && x->quant->n > 1)
        return (void)ac_error(s->cx, n->at, E0108, "sequence '%s' has a scale for each index of a dimension", x->name),
               NULL;
    ac_tensor *t = AC_NEW(s->cx->region, ac_tensor);
    *t = (ac_tensor){.name = x->name, .dtype = x->dtype, .rank = x->rank - 1, .quant = x->quant};
    for (int32_t d = 0; d < t->rank; d++)
        t->dim[d] = x->dim[1 + d];
    return t;
}

int ac_scan_roles(ac_inline *s, const ac_node *n, const ac_scan *c, ac_flow_role *as, ac_tensor **arg)
{
    for (int32_t i = 0; i < n->n_in; i++) {
        const bool sequence = i >= c->states && i < c->states + c->sequences;
        as[i] = i < c->states                                    ? AC_FLOW_CARRIED
                : !sequence && ac_is_made_of_constants(n->in[i]) ? AC_FLOW_FIXED
                                                                 : AC_FLOW_READ;
        arg[i] = sequence ? element_of(s, n, n->in[i]) : n->in[i];
        if (!arg[i])
            return AC_FAIL;
    }
    return AC_OK;
}

/* Collected result i has room for `parts` elements in each step. */
static int set_collected(ac_inline *s, ac_node *n, const ac_scan *c, int32_t i, ac_tensor *const *element)
{
    int64_t dim[AC_MAX_RANK] = {c->steps};
    const ac_tensor *first = element[0];
    if (first->rank >= AC_MAX_RANK || (c->parts > 1 && first->rank < 1))
        return ac_error(s->cx, n->at, E0108, "it collects elements '%s' of %d dimensions", first->name, first->rank);
    for (int32_t d = 0; d < first->rank; d++)
        dim[1 + d] = first->dim[d];
    for (int32_t k = 1; k < c->parts; k++) {
        const ac_tensor *t = element[k];
        bool fits = t->dtype == first->dtype && t->rank == first->rank && ac_quant_equal(t->quant, first->quant);
        for (int32_t d = 1; d < t->rank && fits; d++)
            fits = t->dim[d] == first->dim[d];
        if (!fits || !ac_add_ok(dim[1], t->dim[0], &dim[1]))
            return ac_error(s->cx, n->at, E0104, "it collects '%s' %s and '%s' %s in one result", first->name,
                            ac_tensor_str(s->cx, first), t->name, ac_tensor_str(s->cx, t));
    }
    return ac_shape_set_like(s->cx, n, i, first, first->rank + 1, dim);
}

/* Measured on x86-64: LSTMs of 32 units are faster unrolled by 18 % with 2 steps, 8 % with 4, 3 % with 8 (their first
 * product is with zeros). */
bool ac_scan_is_long(const ac_scan *c, const ac_graph *body)
{
    enum { STEPS = 8, SHORT = 1 << 15 };
    return c->steps > STEPS || ac_flow_cost(body) > SHORT / c->steps;
}

int ac_flow_keep_scan(ac_inline *s, ac_node *n, const ac_scan *c, const ac_flow_role *as, ac_graph *body)
{
    for (int32_t i = 0; i < c->states; i++) {
        const ac_tensor *from = body->input.item[i], *to = body->output.item[i];
        if (!ac_tensor_same_kind(from, to))
            return ac_error(s->cx, n->at, E0203, "'%s' is %s, but %s after a step", from->name,
                            ac_tensor_str(s->cx, from), ac_tensor_str(s->cx, to));
        AC_TRY(ac_inline_passes(s, n, from, n->out[i]));
        ac_tensor_become(n->out[i], from);
    }
    for (int32_t i = c->states, at = c->states; i < n->n_out; i++, at += c->parts)
        AC_TRY(set_collected(s, n, c, i, body->output.item + at));
    int32_t count = c->states + c->sequences;
    for (int32_t i = count; i < n->n_in; i++)
        if (as[i] == AC_FLOW_READ)
            n->in[count++] = n->in[i];
    n->n_in = count;
    body->carried = c->states;
    n->attrs.scan.first = ac_flow_add_subgraph(s, body);
    return AC_OK;
}

/* ------------------------------------------------------------------ unrolled */

static ac_maker maker_of(const ac_inline *s, const ac_node *n)
{
    ac_maker b = ac_maker_at(s->g, n);
    b.at.op = NULL;
    return b;
}

static ac_tensor *step_of(const ac_inline *s, const ac_node *n, ac_tensor *x, int64_t t)
{
    const ac_maker b = maker_of(s, n);
    ac_tensor *y = ac_make_slice(&b, x, 0, t, 1);
    return ac_make_reshape(&b, y, x->rank - 1, x->dim + 1);
}

int ac_scan_step(ac_inline *s, const ac_node *n, const ac_scan *c, int64_t t, ac_tensor *const *state, ac_tensor **arg)
{
    memcpy(arg, n->in, (size_t)n->n_in * sizeof *arg);
    memcpy(arg, state, (size_t)c->states * sizeof *arg);
    for (int32_t i = 0; i < c->sequences; i++) {
        ac_tensor **x = &arg[c->states + i];
        *x = step_of(s, n, *x, ac_scan_goes_back(n, i) ? c->steps - 1 - t : t);
        if (!*x)
            return AC_FAIL;
    }
    return AC_OK;
}

int ac_scan_collect(ac_inline *s, const ac_node *n, const ac_scan *c, int32_t i, ac_tensor *const *element)
{
    const ac_maker b = maker_of(s, n);
    ac_tensor **step = AC_NEW_N(s->cx->region, ac_tensor *, c->steps + 1),
              **part = AC_NEW_N(s->cx->region, ac_tensor *, c->parts + 1);
    for (int32_t k = 0; k < c->parts; k++) {
        const int32_t e = i * c->parts + k;
        for (int64_t t = 0; t < c->steps; t++) {
            const int64_t at = ac_scan_goes_back(n, c->sequences + e) ? c->steps - 1 - t : t;
            ac_tensor *x = element[at * c->elements + e];
            int64_t dim[AC_MAX_RANK] = {1};
            if (x->rank >= AC_MAX_RANK)
                return ac_error(s->cx, n->at, E0108, "it collects elements '%s' of %d dimensions", x->name, x->rank);
            memcpy(dim + 1, x->dim, (size_t)x->rank * sizeof *dim);
            step[t] = ac_make_reshape(&b, x, x->rank + 1, dim);
        }
        part[k] = c->steps == 1 ? step[0] : ac_make_concat(&b, step, (int32_t)c->steps, 0);
    }
    ac_tensor *y = c->parts == 1 ? part[0] : ac_make_concat(&b, part, c->parts, 1);
    return y ? ac_inline_rename(s, n, y, n->out[c->states + i]) : AC_FAIL;
}
