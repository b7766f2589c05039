/* json_out.h - writes JSON into a sink; the writer keeps commas, quoting, escapes and indentation right.
 *
 *     ac_json j = ac_json_open(&sink);
 *     ac_json_obj(&j, NULL);                         {
 *     ac_json_int(&j, "arena_bytes", 55296);           "arena_bytes": 55296,
 *     ac_json_arr(&j, "consumers");                    "consumers": [
 *     ac_json_int(&j, NULL, 1);                        1,
 *     ac_json_end(&j); ac_json_end(&j);                ] }
 *
 * Inside arrays the key is NULL. Plain values of an array are on one line, everything else on a line of its own; the
 * outermost end prints a newline. Doubles print with %.9g (floats round-trip); NaN and infinities print as strings.
 * Strings that are not UTF-8 have their bad bytes replaced by U+FFFD. At most 63 levels deep. Memory: the sink's. */
#ifndef AC_BASE_JSON_OUT_H
#define AC_BASE_JSON_OUT_H
#include "base/sink.h"

typedef struct ac_json {
    ac_sink *to;
    int depth;
    bool first;     /* nothing printed yet at this depth */
    bool flat;      /* the newest thing at this depth is a plain array element: the next may follow on its line */
    char close[64]; /* '}' or ']' for each depth */
} ac_json;

ac_json ac_json_open(ac_sink *to);
void ac_json_obj(ac_json *j, const char *key);
void ac_json_arr(ac_json *j, const char *key);
void ac_json_end(ac_json *j);
void ac_json_int(ac_json *j, const char *key, int64_t v);
void ac_json_int_if(ac_json *j, const char *key, int64_t v, bool known); /* else null */
void ac_json_num(ac_json *j, const char *key, double v);
void ac_json_str(ac_json *j, const char *key, const char *v); /* NULL prints null */
void ac_json_bool(ac_json *j, const char *key, bool v);

#endif
