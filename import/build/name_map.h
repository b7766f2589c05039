/* name_map.h - from interned names to small numbers: nodes of a file by name.
 *
 *     ac_name_map m = {0};
 *     *ac_name_put(region, &m, name) = 7;        made when new, then -1
 *     ac_name_get(&m, name)                      7; -1: not there
 *
 * Open addressing, keyed by the pointer. Never iterated: the order of pointers does not reach any output. Cost O(1).
 * Memory: the region given, at most four times what the names take. */
#ifndef AC_IMPORT_BUILD_NAME_MAP_H
#define AC_IMPORT_BUILD_NAME_MAP_H
#include "base/region.h"

typedef struct ac_name_map {
    struct ac_name_slot *slot;
    uint32_t cap, n;
} ac_name_map;

int32_t *ac_name_put(ac_region *region, ac_name_map *m, const char *name); /* valid until the next one is made */
int32_t ac_name_get(const ac_name_map *m, const char *name);

#endif
