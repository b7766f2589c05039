/* options.h - the rows of driver/request/options.def, and the words of an option, as numbers: for the options that the
 * command line handles itself. arenac.h has them as texts, by the same numbers: arenac_option_at(AC_OPT_help). */
#ifndef AC_CLI_OPTIONS_H
#define AC_CLI_OPTIONS_H

typedef enum ac_option_id {
#define OPT(id, type) AC_OPT_##id,
#include "driver/request/options_fields.def"
#undef OPT
    AC_OPT_COUNT
} ac_option_id;

/* 0: not given. */
#define WORD(id)             AC_OPT_##id,
#define WORDS(option, words) typedef enum ac_opt_word_##option{AC_OPT_##option##_none, words} ac_opt_word_##option;
#include "driver/request/options_words.def"
#undef WORDS
#undef WORD

#endif
