/* list_operators.h - the verb ops in three files: text and Markdown (list_operators.c), JSON (operators_json.c), and
 * the operators that are requested (operator_names.c). */
#ifndef AC_DRIVER_VERB_LIST_OPERATORS_H
#define AC_DRIVER_VERB_LIST_OPERATORS_H
#include "driver/verb/composed.h"
#include "import/import.h"

typedef struct ac_op_list {
    ac_sink *s;                /* the output */
    const char *const *format; /* n_formats names */
    int32_t n_formats;
    const ac_target *target;
    const char *const *name; /* n_names operators that the user named; 0: all */
    int32_t n_names;
} ac_op_list;

bool ac_op_means(const ac_op_list *l, ac_op op, const char *name); /* that of op here or in some format */
bool ac_op_wanted(const ac_op_list *l, ac_op op);                  /* has the user named it, or nothing? */
/* Has the user named this row of a format, or the operator that it becomes, or nothing? */
bool ac_op_row_wanted(const ac_op_list *l, const ac_operator *row);
bool ac_op_tried(const ac_op_list *l, int32_t format); /* its nodes can be tried one by one (composed.h) */

void ac_list_operators_json(ac_op_list *l);

#endif
