/* intern.h - names: one copy each, so equal names are equal pointers. Cost O(length). Owned by the context's region. */
#ifndef AC_BASE_INTERN_H
#define AC_BASE_INTERN_H
#include "base/region.h"

typedef struct ac_names {
    struct ac_name **slot; /* open hash table, power of two */
    uint32_t n, cap;
    uint64_t key[2]; /* of the hash: names of a file cannot be chosen to collide */
} ac_names;

struct ac_ctx;
const char *ac_intern(struct ac_ctx *cx, const char *s);               /* s ends in NUL */
const char *ac_intern_n(struct ac_ctx *cx, const char *s, size_t len); /* s may hold any bytes but NUL */
void ac_intern_room(struct ac_ctx *cx, uint32_t more);                 /* a table for so many more names at once */
const char *ac_internf(struct ac_ctx *cx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
