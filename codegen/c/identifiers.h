/* identifiers.h - manages C identifiers: reserved words, and the names in scope.
 *
 *     ac_c_names_open(&names, cx, "kws");
 *     ac_c_name_take(&names, "oc")         "oc"; while that is in use "oc_1", "oc_2", ...
 *     ac_c_name_number(&names, "w")        "w0", "w1", ...
 *     ac_c_name_drop(&names, "oc")         its scope ends: it is available again
 *
 * Names are made valid identifiers. Keywords, and names that helpers or the model's own symbols could have, get an
 * underscore. Cost: a hash table. Memory: names are interned in the context, the table is in its region. */
#ifndef AC_CODEGEN_C_IDENTIFIERS_H
#define AC_CODEGEN_C_IDENTIFIERS_H
#include "base/ctx.h"

typedef struct ac_cnames {
    ac_ctx *cx;
    const char *prefix; /* of the model's own symbols */
    struct ac_cname *slot;
    int32_t n, cap;
} ac_cnames;

void ac_c_names_open(ac_cnames *n, ac_ctx *cx, const char *prefix);
const char *ac_c_name_take(ac_cnames *n, const char *base);
const char *ac_c_name_number(ac_cnames *n, const char *base);
/* Takes exactly this name, a valid identifier; false: it is in use. */
bool ac_c_name_claim(ac_cnames *n, const char *name);
void ac_c_name_drop(ac_cnames *n, const char *name);

const char *ac_c_upper(ac_region *r, const char *name); /* "KWS", for macros */
bool ac_c_reserved(const char *word); /* a word reserved by C, C++ or the headers that generated code includes */
/* Would a header of this name, without .h, hide one of the system? */
bool ac_c_is_header(const char *stem);

#endif
