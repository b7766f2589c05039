/* updates.c - detects the concatenation of x[:i], part and x[j:], which is x with a part replaced, and creates a
 * DYNAMIC_UPDATE_SLICE; see compose_bounded.h. Exporters generate it for the assignment of an array element, and
 * authors of models for that of a row. With a data-dependent i each slice has the maximum size of x, so a concatenation
 * would be twice as long. */
#include "import/build/compose_bounded.h"
#include "import/build/counted.h"
#include "import/build/operands.h"

ac_tensor *ac_make_updated(const ac_maker *b, ac_tensor *const *part, int32_t n, int32_t axis)
{
    int64_t many;
    const ac_cut *head = b->reading && n == 3 ? ac_cut_of(b, part[0], axis) : NULL, *tail;
    if (!head || !(tail = ac_cut_of(b, part[2], axis)) || !tail->begin || head->x != tail->x || part[1]->count ||
        part[1]->dtype != head->x->dtype || (head->x->count && head->x->count_dim != axis))
        return NULL;
    const ac_late_number first = head->begin ? ac_late_number_at(b, head->begin, 0) : (ac_late_number){.known = true};
    const ac_late_number last = ac_late_number_at(b, tail->end, 0);
    const ac_late_number to = ac_late_number_at(b, head->end, 0), from = ac_late_number_at(b, tail->begin, 0);
    if (!first.known || first.value || !last.known || last.value < head->x->dim[axis] ||
        !ac_late_distance(b, &to, &from, &many) || many != part[1]->dim[axis])
        return NULL;
    ac_tensor *x = head->x, *own = x->count, *start[AC_MAX_RANK];
    const int64_t one = 1;
    for (int32_t d = 0; d < x->rank; d++)
        start[d] = d == axis ? ac_make_cast(b, ac_make_reshape(b, to.t, 1, &one), AC_I64)
                             : ac_make_ints(b, 1, (const int64_t[]){0});
    x->count = NULL;
    ac_tensor *in[] = {x, part[1], ac_make_concat(b, start, x->rank, 0)};
    ac_tensor *y = in[2] ? ac_make_op(b, AC_OP_DYNAMIC_UPDATE_SLICE, in, 3, NULL, AC_NONE) : NULL;
    x->count = own;
    return own ? ac_counted_as(y, own, axis) : y;
}
