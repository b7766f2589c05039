/* cuts.c - records which tensors are slices of another; see cuts.h. */
#include "import/build/cuts.h"
#include "import/build/reading.h"

/* t without the slices that keep all elements. */
static ac_tensor *whole_of(ac_tensor *t)
{
    while (t->def && (t->def->op == AC_OP_SLICE || t->def->op == AC_OP_STRIDED_SLICE) &&
           ac_tensor_same_shape(t, t->def->in[0]) && t->count == t->def->in[0]->count) {
        const ac_ints *step = &t->def->attrs.strided.strides;
        for (int32_t i = 0; t->def->op == AC_OP_STRIDED_SLICE && i < step->n; i++)
            if (step->v[i] != 1)
                return t;
        if (t->def->op == AC_OP_STRIDED_SLICE && !step->n)
            return t;
        t = t->def->in[0];
    }
    return t;
}

void ac_note_cut(const ac_maker *b, const ac_tensor *y, ac_tensor *x, int32_t dim, ac_tensor *begin, ac_tensor *end)
{
    ac_cut *c = AC_NEW(b->cx->region, ac_cut);
    *c = (ac_cut){.next = b->reading->cuts, .y = y, .x = whole_of(x), .begin = begin, .end = end, .dim = dim};
    b->reading->cuts = c;
}

const ac_cut *ac_cut_of(const ac_maker *b, const ac_tensor *y, int32_t dim)
{
    const ac_cut *c = b->reading->cuts;
    while (c && (c->y != y || c->dim != dim))
        c = c->next;
    return c;
}
