/* sorted_table.h - LevelDB's sorted tables, as TensorFlow's checkpoints use them, read from bytes that may be hostile.
 *
 *     ac_sorted_table t;
 *     AC_TRY(ac_sorted_table_read(cx, "variables.index", bytes, &t));
 *     for (int32_t i = 0; i < t.n; i++)
 *         ... t.item[i].key, t.item[i].value ...              keys in rising order of their bytes, none twice
 *     const ac_table_entry *e = ac_sorted_table_find(&t, key, n);          NULL: no such key
 *
 * The file, from its end (LevelDB, doc/table_format.md): 48 bytes of footer with the places of two blocks and a magic
 * number; the index block, whose values are places of data blocks; data blocks of entries.
 *
 *     block   entries | restart points u32[n] | n u32         then, not included in its size: compression u8 | checksum
 *                                                             u32
 *     entry   shared, unshared, value size (varints) | unshared bytes of the key | value
 *
 * A key begins with `shared` bytes of the key before. Every block's checksum (crc32c.h) is compared. Compressed blocks
 * are refused: TensorFlow writes none.
 *
 * Cost O(size). Memory: keys are copied into the context's region, at most 16 times the file's size; values stay in the
 * file's bytes. Errors: E0010, E0012, E0014, E0017 with the byte. */
#ifndef AC_IMPORT_WIRE_SORTED_TABLE_H
#define AC_IMPORT_WIRE_SORTED_TABLE_H
#include "base/bytes.h"
#include "base/ctx.h"
#include "base/vec.h"

typedef struct ac_table_entry {
    ac_span key, value;
} ac_table_entry;

typedef AC_VEC(ac_table_entry) ac_sorted_table;

int ac_sorted_table_read(ac_ctx *cx, const char *file, ac_span bytes, ac_sorted_table *out);
const ac_table_entry *ac_sorted_table_find(const ac_sorted_table *t, const void *key, size_t n);

#endif
