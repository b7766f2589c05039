/* npz.h - NumPy's .npz files: .npy arrays in a ZIP archive, written stored (numpy.savez), and read also if they are
 * compressed by DEFLATE (numpy.savez_compressed).
 *
 *     ac_npz z;
 *     ac_npz_begin(&z, to);
 *     ac_npz_add(&z, "fc.weight", AC_F32, 2, dim, data);
 *     ac_npz_end(&z);
 *
 *     AC_TRY(ac_npz_read(cx, "w.npz", &file, &list));          list.item[i].name, .array
 *
 * A reader of foreign files: every length and every CRC-32 is checked; a damaged archive is refused (E0304). Arrays
 * point into the file, which ac_file_close ends, or are in the context's region. At most 65535 arrays, 4 GiB
 * together. */
#ifndef AC_HOST_NPZ_H
#define AC_HOST_NPZ_H
#include "host/npy.h"

typedef struct ac_npz {
    ac_sink *to;
    ac_sink directory;
    int32_t n;
} ac_npz;

void ac_npz_begin(ac_npz *z, ac_sink *to);
void ac_npz_add(ac_npz *z, const char *name, ac_dtype d, int32_t rank, const int64_t *dim, const void *data);
void ac_npz_end(ac_npz *z);

typedef struct ac_npz_entry {
    const char *name; /* without ".npy" */
    ac_npy array;
} ac_npz_entry;
typedef AC_VEC(ac_npz_entry) ac_npz_list;
int ac_npz_read(ac_ctx *cx, const char *path, ac_file *file, ac_npz_list *list);

#endif
