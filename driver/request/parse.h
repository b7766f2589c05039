/* parse.h - the values of options as text: one parser for each type of options.def.
 *
 *     int64_t bytes;
 *     if (!ac_parse_bytes("64K", &bytes)) ...                  65536; false when malformed, with nothing written
 *
 * A parser stores into the field of its type (options.h); of lists, it appends. arg: the argument column of the row.
 * false: the text is malformed; ac_parse_fault has a reason that is more precise than the argument column: "'fsat' is
 * not a property of a memory". Memory: the context's region. */
#ifndef AC_DRIVER_PARSE_H
#define AC_DRIVER_PARSE_H
#include "driver/request/options.h"

typedef bool ac_parser(ac_ctx *cx, const char *arg, const char *value, void *field);
ac_parser ac_parse_flag, ac_parse_on_off, ac_parse_word, ac_parse_text, ac_parse_number, ac_parse_real, ac_parse_power,
    ac_parse_size, ac_parse_amount, ac_parse_count, ac_parse_texts, ac_parse_memories, ac_parse_pins, ac_parse_dims,
    ac_parse_keys, ac_parse_budget, ac_parse_sections, ac_parse_adapters, ac_parse_stripe, ac_parse_planner,
    ac_parse_format, ac_parse_seed;

/* The fault of a value that `of` refused, as a clause, and a similar word (*near) or NULL. NULL: the argument column of
 * options.def is enough. */
const char *ac_parse_fault(ac_ctx *cx, ac_parser *of, const char *value, const char **near);

bool ac_parse_bytes(const char *text, int64_t *out); /* a whole number, perhaps with K, M or G of 1024 */

#endif
