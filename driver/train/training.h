/* training.h - the verb train: its options, samples, the loop over steps, and the files at the end. For driver/train/
 * only. */
#ifndef AC_DRIVER_TRAIN_TRAINING_H
#define AC_DRIVER_TRAIN_TRAINING_H
#include "driver/verb/verbs.h"
#include "ir/train/train.h"
#include "runtime/arn_tree.h"

/* An array of samples, and the input of the step that takes `batch` of its rows. */
typedef struct ac_samples {
    ac_npy array;
    const char *option; /* as messages call it */
    int32_t input;      /* of the model's graph; -1: the target */
    const ac_io *io;    /* after compile */
    int64_t row_bytes;
} ac_samples;

typedef struct ac_training {
    ac_work *w;
    const char *const *path; /* of the model and its weights */
    int32_t n_paths;
    ac_train_spec spec;
    ac_train_step step;
    ac_samples *samples;
    int32_t n_samples;
    int64_t rows, batch, micro, steps, first; /* micro: samples computed at once; first: the step that comes next */
    double rate;
    const ac_io *rate_io, *sums_io; /* sums: NULL unless updates are late */
    struct arn_tree tree;           /* over the micro-batches of step `now` */
    int64_t now;
    struct arn_ranks *ranks;                         /* --mpi; NULL: this process is alone */
    bool stopped;                                    /* rank 0 has found something wrong */
    const ac_io **weight_io, **slot_io, **random_io; /* by weight, slot and random state of the step */
    ac_sink *log;
    double loss, seconds;
    int64_t done;   /* steps of this run */
    int64_t saved;  /* the step after the last checkpoint that this run has written; 0: none */
    int64_t *order; /* of the samples in this epoch; NULL: the file's */
    uint64_t seed;  /* of the orders */
    int64_t epoch;  /* that `order` is of; -1: none */
} ac_training;

int ac_training_options(ac_training *t); /* training_options.c: E0501 for missing ones */
int ac_samples_open(ac_training *t);     /* samples.c */
int ac_samples_bind(ac_training *t);     /* after compile */
/* Is every id of targets one of the output's classes? y: of the type and shape of the step's target. E0304 */
int ac_samples_check_classes(ac_training *t, const ac_npy *y, const char *option);
void ac_samples_fill(ac_training *t,
                     int64_t first); /* sample `first` and those after it, as many as are computed at once */
void ac_samples_close(ac_training *t);
int ac_steps_open(ac_training *t); /* steps.c: weights and what the optimizer keeps, as they begin */
int ac_steps_one(ac_training *t, int64_t step);
int ac_ranks_open(ac_training *t);              /* ranks.c: --mpi */
int ac_ranks_agree(ac_training *t, int status); /* all go on, or none */
int ac_ranks_fail(ac_training *t, int status);  /* a step failed: ends all */
void ac_ranks_close(ac_training *t);            /* rank 0 goes on alone; the others have nothing to say */
static inline bool ac_ranks_first(const ac_training *t)
{
    return !t->ranks || !t->ranks->rank;
}
int ac_training_run(ac_training *t);                   /* loop.c */
int ac_training_parts(ac_training *t);                 /* --per-op */
void ac_training_sum_up(ac_training *t);               /* the last line */
int ac_checkpoint_write(ac_training *t, int64_t next); /* checkpoint.c; next: the step that comes after it */
int ac_checkpoint_read(ac_training *t);                /* --resume */
const char *ac_checkpoint_path(ac_training *t);
int ac_validation_check(ac_training *t); /* validate.c, before the first step: do the files of --validate fit? */
int ac_training_validate(ac_training *t);
int ac_trained_check(ac_work *w); /* trained.c: the ending of -o */
int ac_trained_write(ac_training *t);
/* A variant for the same file, whose constants are the weights as they are now. AC_AS_TRAINED: its batch is the file's;
 * AC_AS_VALIDATED: that
 * of the training, and dropout keeps all elements. */
ac_work *ac_trained_model(ac_training *t, ac_variant as);

#endif
