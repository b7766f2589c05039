/* vec.h - a growable array in a region: { T *item; int32_t n, cap; }. Old storage stays in the region until it closes,
 * so growth by doubling costs at most twice the final size.
 *
 *     AC_VEC(int32_t) steps = {0};
 *     ac_push(region, &steps, 7);              steps.item[0] == 7, steps.n == 1 */
#ifndef AC_BASE_VEC_H
#define AC_BASE_VEC_H
#include "base/region.h"

#include <string.h>

#define AC_VEC(T)       \
    struct {            \
        T *item;        \
        int32_t n, cap; \
    }

#define ac_push(r, v, x)                                                                           \
    do {                                                                                           \
        if ((v)->n == (v)->cap)                                                                    \
            (v)->item = ac_vec_grow((r), (v)->item, &(v)->cap, (size_t)(v)->n, sizeof *(v)->item); \
        (v)->item[(v)->n++] = (x);                                                                 \
    } while (0)

/* Twice the room (at least 8); the old items are copied. */
static inline void *ac_vec_grow(ac_region *r, const void *old, int32_t *cap, size_t n, size_t size)
{
    size_t room = *cap ? (size_t)*cap * 2 : 8;
    if (room > INT32_MAX)
        room = SIZE_MAX; /* ac_alloc_n then reports no memory */
    void *fresh = ac_alloc_n(r, room, size);
    if (n)
        memcpy(fresh, old, n * size);
    *cap = (int32_t)room;
    return fresh;
}

#endif
