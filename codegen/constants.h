/* constants.h - the constants of a module: their bytes, their offsets in one block, and the blob.
 *
 * Constants are computed when code is printed (a weight may be a transformed one, see ac_const), so compute them before
 * reading their bytes. Printers put them into the code or use one block:
 *
 *     AC_TRY(ac_consts_make(m));
 *     ac_consts_layout(m, offset, &total);          constant i is at offset[i] of the block
 *     AC_TRY(ac_blob_bytes(m, &bytes, &total));     the block itself, all of it little-endian
 *
 * Cost: linear in the bytes; a hash finds equal constants. Memory: the context's region. Errors: AC_FAIL with a
 * diagnostic if a constant cannot be computed. */
#ifndef AC_CODEGEN_CONSTANTS_H
#define AC_CODEGEN_CONSTANTS_H
#include "codegen/module.h"

int ac_consts_make(const ac_module *m);                       /* all data present, or AC_FAIL */
int32_t *ac_consts_twins(const ac_module *m, bool same_type); /* of each: the first constant with the same bytes */
ac_bytes ac_consts_bytes(const ac_module *m);                 /* of all, equal ones once */
ac_weights ac_module_weights(const ac_module *m);             /* AC_WEIGHTS_AUTO: rodata up to 1 MiB, else asm */

/* Layout of the constants in one block (blob and asm): offset of each, total. Alignment of each is respected; the block
 * begins with the header of the blob (magic, version, total bytes, checksum). */
void ac_consts_layout(const ac_module *m, ac_bytes *offset, ac_bytes *total);

enum { AC_BLOB_HEADER = 64, AC_BLOB_CHECKED = 32 };                      /* bytes; the first that identify the blob */
int ac_blob_head(const ac_module *m, uint8_t header[AC_BLOB_HEADER]);    /* of the module's blob */
int ac_blob_crc32(const ac_module *m, uint32_t *sum);                    /* of its header and constants */
int ac_blob_bytes(const ac_module *m, uint8_t **bytes, ac_bytes *total); /* header and constants */
/* The same, to a sink that refers to the constants without copying them: they must stay until it is committed. */
int ac_blob_write(const ac_module *m, ac_sink *to);
/* The same, to memory of the size that ac_consts_layout gives; large constants are freed on the way, so that memory
 * never holds everything twice. */
int ac_blob_move(const ac_module *m, uint8_t *to);

/* merge_consts.c: merges equal constants of n modules. Constants in the text of code are defined by the first module
 * that has them and get a name for all; blocks become one, with the constants of all modules and the name of the first
 * one (ac_module.block). With AC_WEIGHTS_AUTO, all modules use the block if one of them does. objects: the modules
 * become objects, which hold all constants except those of a blob. */
typedef struct ac_merged {
    ac_bytes kept, saved; /* bytes left; bytes saved */
} ac_merged;
int ac_module_merge_consts(ac_module *const *m, int32_t n, bool objects, ac_merged *sum);
/* The same for modules that are merged into one, `to`: it gets all constants, and a constant that is the beginning of
 * another one is merged with it; m[b]->in_block maps those of each module. The last module usually has the longest
 * ones. */
int ac_module_pool_consts(ac_module *const *m, int32_t n, ac_module *to, ac_merged *sum);

#endif
