/* tune_file.h - tune files: schedules that were measured on a machine, for later compilations of the same model.
 *
 *     arenac-tune 1
 *     version 0.1.0
 *     target x86-64-v4-vnni
 *     model 5d0c...                          sha256 of the model file
 *
 *     # step rows vecs winograd operator name
 *     3 14 2 0 conv_2d layer1.0/conv1        register tile of 14 rows by 2 vectors; the direct sum
 *     4 7 2 4 conv_2d layer1.0/conv2         F(4x4,3x3); read only with --winograd
 *
 * Only steps that are to differ from the cost model's choice have a line; '#' begins a comment. In names, blanks,
 * control characters, '#' and '%' are written as %20 and so on. A file of another model, target or version is
 * ignored with a warning that names the difference; so is a line that fits no step. Schedules do not change a bit of a
 * result, except winograd, which needs its own option. */
#ifndef AC_DRIVER_TUNE_FILE_H
#define AC_DRIVER_TUNE_FILE_H
#include "driver/request/made.h"

/* *hints: the schedules of the n nodes in the file of --tuned; NULL without one. Warnings W0002; errors: E0301,
 * E0021. */
int ac_tune_read(const ac_made *a, const ac_settings *set, ac_node *const *node, int32_t n, const ac_schedule **hints);
/* The text. chosen: one for each step, rows 0: no line. note: a comment for each, or NULL. */
void ac_tune_write(ac_sink *to, const ac_made *a, const ac_lowering *low, const ac_schedule *chosen,
                   const char *const *note);

#endif
