/* memory.h - the memory of a walk: blocks of bytes with known and unknown bits, and a journal that undoes writes.
 *
 *     ac_mem m = {.region = r};
 *     ac_mem_block *b = ac_mem_add(&m, 0x20000000, 4096);           zero and known
 *     if (!ac_mem_load(&m, address, 4, &value, &unknown))           ... no such address
 *     const int32_t mark = ac_mem_mark(&m);                         from here on writes can be undone
 *     ... ac_mem_store(&m, address, 4, value, 0) ...
 *     ac_mem_changes a = ac_mem_undo(&m, mark);                     as at the mark; a: the undone bytes
 *     ... another way ...
 *     ac_mem_join(&m, &a, mark);                                    bits that differ between the two are unknown
 *
 * A load or store is within one block. Memory: the region; undo and join use a scratch region of their own. */
#ifndef AC_TIMING_MEMORY_H
#define AC_TIMING_MEMORY_H
#include "base/vec.h"

typedef struct ac_mem_block {
    uint32_t at, bytes;
    uint8_t *data, *unknown; /* unknown: bits of each byte; NULL: none */
    bool writable, code, slow /* has wait states */;
    uint32_t *decoded; /* code: by halfword, an index of the walk; NULL: no code */
} ac_mem_block;

enum { AC_MEM_BLOCKS = 24 };

/* One byte: before it was written or, in the result of an undo, after it. */
typedef struct ac_mem_change {
    uint32_t at;
    uint8_t byte, unknown;
} ac_mem_change;

typedef AC_VEC(ac_mem_change) ac_mem_changes;

typedef struct ac_mem {
    ac_region *region;
    ac_mem_block block[AC_MEM_BLOCKS];
    int32_t n, last;
    int32_t marks; /* open ones; 0: nothing is written down */
    ac_mem_changes journal;
} ac_mem;

/* NULL: too many blocks, or it overlaps another one or the end of addresses. */
ac_mem_block *ac_mem_add(ac_mem *m, uint32_t at, uint64_t bytes);
void ac_mem_forget(ac_mem *m, ac_mem_block *b); /* all of its bytes are unknown; not within a mark */
ac_mem_block *ac_mem_find(ac_mem *m, uint32_t at, uint32_t bytes);
bool ac_mem_load(ac_mem *m, uint32_t at, uint32_t bytes, uint32_t *value, uint32_t *unknown);
bool ac_mem_store(ac_mem *m, uint32_t at, uint32_t bytes, uint32_t value, uint32_t unknown);
/* A store that may or may not happen: bits that it would change are unknown. */
bool ac_mem_maybe_store(ac_mem *m, uint32_t at, uint32_t bytes, uint32_t value, uint32_t unknown);

int32_t ac_mem_mark(ac_mem *m);
ac_mem_changes ac_mem_undo(ac_mem *m, int32_t mark, ac_region *r); /* sorted by address, one entry a byte */
void ac_mem_join(ac_mem *m, const ac_mem_changes *a, int32_t mark, ac_region *r);

#endif
