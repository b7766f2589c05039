/* layers.c - layers of Caffe nets: the table and the common part of all layers. */
#include "import/caffe/layers.h"
#include "import/build/builders.h"
#include "import/build/reasons.h"

#include <inttypes.h>
#include <string.h>

static const ac_operator ROWS[] = {
#define ROW(type, imin, imax, omin, omax, make, becomes) \
    {.name = #type, .min_in = imin, .max_in = imax, .min_out = omin, .max_out = omax, make, .op = AC_OP_##becomes},
#define CAF(type, imin, imax, omin, omax, fn, becomes) \
    ROW(type, imin, imax, omin, omax, .run = AC_ADAPTER(ac_caf_do_##fn), becomes)
#define CAFB(type, imin, imax, omin, omax, fn, becomes) \
    ROW(type, imin, imax, omin, omax, .build = ac_built_##fn, becomes)
#define WHY(type, why) {.name = #type, AC_WHY(why)},
#include "import/caffe/layers.def"
#undef ROW
#undef CAF
#undef CAFB
#undef WHY
};

const ac_operators ac_caf_operators = {ROWS, sizeof ROWS / sizeof *ROWS, NULL};

int ac_caf_layer_known(ac_caf_layer *l)
{
    l->row = ac_caf_custom(l);
    l->row = l->row ? l->row : ac_operator_find(&ac_caf_operators, "", l->type, 0);
    if (l->row)
        return AC_OK;
    if (!*l->type)
        return ac_error(l->r->cx, l->at, E0012, "a layer has no type");
    return ac_reading_refuse(l->r->reading, l->at, "", l->type, l->type);
}

static int run(ac_caf_layer *l)
{
    const ac_operator *row = l->row;
    return row->build ? ac_caf_result(l, 0, row->build(&l->b, row->op, l->in, l->n_in)) : ((ac_caf_fn *)row->run)(l);
}

int ac_caf_layer_add(ac_caf_layer *l)
{
    const ac_said before = ac_said_now(&l->b);
    AC_TRY(ac_caf_layer_known(l));
    l->op = l->row->op;
    AC_TRY(ac_operand_count(&l->b, l->row, l->n_in, "bottoms"));
    if (l->n_out < l->row->min_out || l->n_out > l->row->max_out)
        return ac_error(l->r->cx, l->at, E0102, "has %d tops, expected %d to %d", l->n_out, l->row->min_out,
                        l->row->max_out);
    AC_TRY(ac_said_outcome(&l->b, before, run(l)));
    for (int32_t i = 0; i < l->n_out; i++)
        if (l->out[i] && l->out[i]->rank > AC_MAX_RANK)
            return ac_cannot(&l->b, "its result has %d dimensions", l->out[i]->rank);
    return ac_caf_check_fields(l);
}
