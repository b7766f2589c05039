/* operator_names.c - the operators that the user of the verb ops has named, here or as in a format. */
#include "driver/verb/list_operators.h"

#include <string.h>

bool ac_op_means(const ac_op_list *l, ac_op op, const char *name)
{
    ac_operator o;
    if (!strcmp(ac_ops[op].text, name))
        return true;
    for (int32_t f = 0; f < l->n_formats; f++)
        for (int32_t i = 0; ac_import_operator(f, i, &o); i++)
            if (!o.reason && o.op == op && !strcmp(o.name, name))
                return true;
    return false;
}

bool ac_op_wanted(const ac_op_list *l, ac_op op)
{
    for (int32_t k = 0; k < l->n_names; k++)
        if (ac_op_means(l, op, l->name[k]))
            return true;
    return !l->n_names;
}

bool ac_op_row_wanted(const ac_op_list *l, const ac_operator *row)
{
    for (int32_t k = 0; k < l->n_names; k++)
        if (!strcmp(row->name, l->name[k]))
            return true;
    return row->op ? ac_op_wanted(l, row->op) : !l->n_names;
}

bool ac_op_tried(const ac_op_list *l, int32_t format)
{
    return !strcmp(l->format[format], "onnx");
}
