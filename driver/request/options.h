/* options.h - the options of one compilation, made of options.def: one field a row.
 *
 *     ac_options o;
 *     ac_options_open(&o, cx);                                   the defaults
 *     AC_TRY(ac_options_set(&o, "target", "cortex-m4"));         E0501 for an unknown name or value
 *     if (o.schedule == AC_OPT_SCHEDULE_SEARCH) ...
 *     if (o.align) ...                                        not given: 0, NULL, false, -1 (numbers), empty
 *
 * Stages read options and never write them; settings.h has their meaning for a target. Memory: texts and lists are
 * copied into the context's region. */
#ifndef AC_DRIVER_OPTIONS_H
#define AC_DRIVER_OPTIONS_H
#include "base/ctx.h"
#include "base/vec.h"

/* --mem NAME:SIZE[@ADDR][,fast|slow][,ro][,align=N] */
typedef struct ac_memory_option {
    const char *name;
    int64_t bytes;
    int64_t address; /* -1: not given */
    int64_t align;   /* of its address; 0: that of the tensors */
    int speed;       /* 1 fast, 0 not given, -1 slow */
    bool read_only;  /* for weights alone */
} ac_memory_option;

/* --pin TENSOR=MEM[@OFFSET]; offset -1: any */
typedef struct ac_pin_option {
    const char *tensor, *memory;
    int64_t offset;
} ac_pin_option;

/* --dim NAME=N, NAME=LO..HI, NAME=scalar (lo 0), NAME=EXPRESSION */
typedef struct ac_dim_option {
    const char *name;
    int64_t lo, hi; /* equal, unless it is a range */
    bool range;
    const char *of; /* a sum or product of other dimensions, which it is; NULL: a number or a range */
} ac_dim_option;

/* --input KEY=FILE: a position, or a tensor's name */
typedef struct ac_key_option {
    const char *key, *path;
} ac_key_option;

/* --budget [NAME=]SIZE */
typedef struct ac_budget_option {
    const char *memory; /* NULL: the first, or all of them */
    bool total;         /* all of them: total=SIZE */
    int64_t bytes;      /* -1: none */
} ac_budget_option;

/* --stripe off|auto|A-B,.. */
typedef struct ac_stripe_option {
    bool on;
    const char *groups; /* "2-5,conv1-pool1"; NULL: those that take least */
} ac_stripe_option;

/* --planner NAME */
typedef struct ac_planner_option {
    const char *name; /* of strategies.def, or "auto" */
    bool automatic;
} ac_planner_option;

/* --from FORMAT */
typedef struct ac_format_option {
    const char *name; /* of an importer, or "csv"; NULL: not given */
    bool intervals;   /* "csv": a problem without a model */
} ac_format_option;

/* --shuffle off|SEED */
typedef struct ac_seed_option {
    bool on;
    int64_t seed;
} ac_seed_option;

typedef struct ac_section_option {
    const char *code, *rodata; /* NULL: the usual one */
} ac_section_option;

/* --lora RANK PATTERN */
typedef struct ac_adapter_option {
    int64_t rank;
    const char *pattern;
} ac_adapter_option;

/* The types of options.def. */
typedef bool ac_opt_flag;        /* given or not */
typedef bool ac_opt_on_off;      /* on or off */
typedef const char *ac_opt_text; /* not empty */
typedef double ac_opt_real;      /* 0 or more, finite; -1: not given */
typedef int64_t ac_opt_number;   /* LO..HI or LO.. of the row (up to 2^31 - 1), else 0 or more; -1: not given */
typedef int64_t ac_opt_power;    /* of two, at most 4096; 0: not given */
typedef int64_t ac_opt_size;     /* bytes, at least 1 MiB */
typedef int64_t ac_opt_amount;   /* bytes, at least 1; 0: not given */
typedef int32_t ac_opt_count;    /* how often it was given */
typedef AC_VEC(const char *) ac_opt_texts; /* all that were given */
typedef AC_VEC(ac_memory_option) ac_opt_memories;
typedef AC_VEC(ac_pin_option) ac_opt_pins;
typedef AC_VEC(ac_dim_option) ac_opt_dims;
typedef AC_VEC(ac_key_option) ac_opt_keys;
typedef AC_VEC(ac_adapter_option) ac_opt_adapters;
typedef ac_budget_option ac_opt_budget;
typedef ac_section_option ac_opt_sections;
typedef ac_stripe_option ac_opt_stripe;
typedef ac_planner_option ac_opt_planner;
typedef ac_format_option ac_opt_format;
typedef ac_seed_option ac_opt_seed;

/* An option of type `word` is an enum: 0 if the option is not given, then the words of its row in their order. */
#define WORD(id)             AC_OPT_##id,
#define WORDS(option, words) typedef enum ac_opt_word_##option{AC_OPT_##option##_none, words} ac_opt_word_##option;
#include "driver/request/options_words.def"
#undef WORDS
#undef WORD

typedef enum ac_option_id {
#define OPT(id, type) AC_OPT_##id,
#include "driver/request/options_fields.def"
#undef OPT
    AC_OPT_COUNT
} ac_option_id;

typedef struct ac_options {
    ac_ctx *cx;
#define OPT(id, type) ac_opt_##type id;
#include "driver/request/options_fields.def"
#undef OPT
    ac_opt_texts given[AC_OPT_COUNT]; /* the values as they were given, in their order; "" for those without one */
} ac_options;

/* Variants of a compilation. The column `own` of options.def has the letters of those that do not inherit the
 * option. */
typedef enum ac_variant {
    AC_AS_PART = 'p',      /* one of several models, or of several sizes */
    AC_AS_INFERENCE = 'i', /* the inference of a step of training */
    AC_AS_LENGTH = 'l',    /* the model for another length of its caches */
    AC_AS_TUNED = 't',     /* a program that bench --tune measures */
    AC_AS_TRAINED = 'w',   /* the model with its new weights, for samples one by one */
    AC_AS_VALIDATED = 'v', /* the same for samples in batches */
    AC_AS_OTHER = 'o'      /* another file, or the same one again */
} ac_variant;

void ac_options_open(ac_options *o, ac_ctx *cx);
/* name: as on the command line, without dashes. value: NULL for an option that takes none, or whose value is left
 * out. */
int ac_options_set(ac_options *o, const char *name, const char *value);
/* The options of `from` that the variant inherits, as they are now. Texts and lists are shared. */
void ac_options_inherit(ac_options *o, const ac_options *from, ac_variant as);
/* The options that generated code depends on, as a command line: "-t generic --align 64". Compiling by these alone
 * gives the same bytes. `target` is the target, also if it is the default. */
const char *ac_options_line(const ac_options *o, const char *target);
/* True if the options have the value of `said`, by default or given: "--schedule search", "--recompute". */
bool ac_options_say(const ac_options *o, const char *said);

/* The value as text, as last given, or the default; NULL if it has neither. */
const char *ac_option_text(const ac_options *o, ac_option_id id);

bool ac_emits(const char *list, const char *kind); /* the kind is in a list such as --emit's; NULL: it is empty */
bool ac_emits_folder(const char *list);            /* a kind that is a folder for a build system is in the list */
bool ac_is(const char *value, const char *word);   /* false for NULL */

#endif
