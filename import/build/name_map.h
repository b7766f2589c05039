/* name_map.h - maps interned names to small numbers, for example the names of nodes to their indices.
 *
 *     ac_name_map m = {0};
 *     *ac_name_put(region, &m, name) = 7;        adds the name with -1 if it is new
 *     ac_name_get(&m, name)                      7; -1: unknown name
 *
 * Open addressing, keyed by the pointer. Never iterated: the order of pointers does not reach any output. Cost O(1).
 * Memory: the given region, at most four times the size of the entries. */
#ifndef AC_IMPORT_BUILD_NAME_MAP_H
#define AC_IMPORT_BUILD_NAME_MAP_H
#include "base/region.h"

typedef struct ac_name_map {
    struct ac_name_slot *slot;
    uint32_t cap, n;
} ac_name_map;

int32_t *ac_name_put(ac_region *region, ac_name_map *m, const char *name); /* valid until the next name is added */
int32_t ac_name_get(const ac_name_map *m, const char *name);

#endif
