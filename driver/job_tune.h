/* job_tune.h - tune files: schedules that were measured on a machine, for later compilations of the same model.
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
 * Only steps that are to differ from the cost model's choice have a line; '#' begins a comment. In names, blanks, control
 * characters, '#' and '%' are written as %20 and so on. A file of another model, target or version is passed over with a
 * warning that says which; so is a line that fits no step. Schedules change no bit of a result (but winograd, which has to be asked
 * for besides). */
#ifndef AC_DRIVER_JOB_TUNE_H
#define AC_DRIVER_JOB_TUNE_H
#include "driver/job.h"

/* What the file of --tuned tells the n nodes, in job->told; NULL without one. Warnings W0002; errors: E0301, E0021. */
int ac_tune_read(arenac_job *job, ac_node *const *node, int32_t n);
/* The text. told: one for each step, rows 0: no line. note: a comment for each, or NULL. */
void ac_tune_write(ac_sink *to, arenac_job *job, ac_node *const *node, const ac_schedule *told, const char *const *note,
                   int32_t n);
/* sha256 of the model file, in hex; made once. */
const char *ac_job_sha256(arenac_job *job);

#endif
