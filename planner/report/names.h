/* names.h - short names of tensors, for people.
 *
 * Names of converted models run to hundreds of characters, and most of them say the same in every name. A short name is
 * the shortest run of parts (between '/' and ';') that no other name of the list has:
 *
 *     net/block_1_relu/Relu6;net/block_1_bn/add;net/block_1_conv/convolution      block_1_relu
 *     /features/block1/layer6/Concat_output_0                                     layer6/Concat_output_0
 *
 *     ac_name_list *names = ac_names_of(cx, r);
 *     const char *s = ac_name_fit(names, x->name, 24);        at most 24 characters
 *
 * Cost: O(m log m) once, m: runs of parts in all names; only if there is a name that is long. Memory: the context's
 * region. */
#ifndef AC_PLANNER_REPORT_NAMES_H
#define AC_PLANNER_REPORT_NAMES_H
#include "planner/report/report.h"

typedef struct ac_name_list ac_name_list;

enum { AC_NAME_LONG = 18 }; /* up to this, every name is shown as it is */

ac_name_list *ac_names_of(ac_ctx *cx, const ac_report *r);                  /* of tensors, items and steps */
ac_name_list *ac_names_new(ac_ctx *cx, const char *const *name, int32_t n); /* of any */
/* The short name; `name` itself if it is not long, or if no run of its parts is its own. "rows of " stays in front. */
const char *ac_name_short(const ac_name_list *names, const char *name);
/* The short name, with ".." in its middle if it is longer than `width` (8 or more). */
const char *ac_name_fit(const ac_name_list *names, const char *name, size_t width);

#endif
