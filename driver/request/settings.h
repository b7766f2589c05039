/* settings.h - the meaning of the options for a target: computed once, when the target is known. */
#ifndef AC_DRIVER_SETTINGS_H
#define AC_DRIVER_SETTINGS_H
#include "codegen/share_groups.h"
#include "driver/request/options.h"
#include "ir/lower/lowered.h"
#include "ir/lower/target.h"
#include "ir/pass/pass.h"
#include "ir/train/train.h"
#include "planner/graph/planned.h"

typedef struct ac_settings {
    const ac_target *target;
    const ac_target **image; /* of a list of GPUs, by capability: kernels are compiled for each; target is the first */
    int32_t n_images;        /* 0: no list */
    bool gpu;
    bool reference;           /* the plan of TFLite itself */
    bool dead;                /* --dead: pass channels runs */
    bool stripes;             /* steps may work row by row */
    ac_bytes cache;           /* --cache-weights: of copies of weights at a time; 0: none */
    int32_t threads;          /* tasks that a step is cut into; 1: none */
    int32_t tensor_cores;     /* AC_TENSOR_... */
    int32_t winograd;         /* as ac_schedule has it */
    ac_share_price share;     /* --share-kernels */
    ac_reductions reductions; /* requested ones */
} ac_settings;

/* Warns for each option that the target ignores. E0501: unknown target. */
int ac_settings_make(ac_ctx *cx, const ac_options *o, const char *target, ac_settings *out);
/* Samples that a step of training computes at once. */
int64_t ac_settings_micro_batch(const ac_options *o);
/* A step of training by its options, but for the output and the type of the target. optimizer: the option whose word
 * names it. E0501. */
int ac_settings_train(ac_ctx *cx, const ac_options *o, ac_option_id optimizer, ac_train_spec *out);
/* --float-storage: the tensors to store in 16 bits; *out NULL: none. E0501: an unknown word. E0502: it excludes another
 * option. */
int ac_settings_storage(ac_ctx *cx, const ac_options *o, ac_storage **out);
/* --winograd: a note about those of the n steps that do not use it, with reasons. */
void ac_settings_note_winograd(ac_ctx *cx, const ac_settings *s, ac_lowered *const *step, int32_t n);
/* The requested reductions, without those that do not apply to this kind of plan; warns for each. */
ac_reductions ac_settings_reductions(ac_ctx *cx, const ac_options *o, const ac_settings *s, const char *file);

#endif
