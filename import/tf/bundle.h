/* bundle.h - the checkpoint of a SavedModel, which TensorFlow calls a tensor bundle: tensors by key, in files in
 * the folder of the model. import/wire/sorted_table.h reads the index; its values are BundleEntryProto, and key "" is
 * the header.
 *
 *     variables/variables.index                     key -> type, shape, shard, offset, size, checksum
 *     variables/variables.data-00000-of-00001       shard 0: the elements, dense, one tensor after the other
 *
 *     const ac_tf_bundle *b = ac_tf_bundle_open(r, at);           NULL: reported
 *     ac_tensor *t = ac_tf_bundle_tensor(r, b, key, "w", at, &refused);
 *
 * base/beside.h opens the files, and refuses paths out of the model's folder. A shard is opened for the first tensor
 * read from it, and stays mapped as long as the context; elements stay in it. Every tensor read is checked against its
 * checksum.
 *
 * Cost: the index is read once; a tensor O(log entries + bytes). Errors: E0019 files that are not there, E0301, E0010,
 * E0012, E0014, E0016, E0017; E0101 no such key. Source: tensor_bundle.proto of TensorFlow. */
#ifndef AC_IMPORT_TF_BUNDLE_H
#define AC_IMPORT_TF_BUNDLE_H
#include "import/tf/tf.h"
#include "import/wire/sorted_table.h"

/* The entry of a tensor in the index. */
typedef struct ac_tf_saved {
    int64_t type, shard, offset, size;
    ac_span shape;
    uint32_t crc32c;
    ac_pb_list slices; /* parts of a partitioned variable, which have keys of their own */
} ac_tf_saved;

/* The bytes of an index as a bundle; `model` is the file that names it, `path` the index's own. */
ac_tf_bundle *ac_tf_bundle_read(ac_ctx *cx, const char *model, const char *path, ac_span index);
bool ac_tf_bundle_find(ac_tf_bundle *b, ac_span key, ac_tf_saved *out); /* false: no such key, or reported */
ac_tf_bundle *ac_tf_bundle_open(ac_tf *r, ac_place at);
/* The tensor `key` as a constant of the graph. NULL: reported, or refused (then *refused is the reason). */
ac_tensor *ac_tf_bundle_tensor(ac_tf *r, ac_tf_bundle *b, ac_span key, const char *name, ac_place at,
                               const char **refused);
/* The one string of entry `key`, and *pb to read it as a message. text->p NULL: no such entry. */
int ac_tf_bundle_text(ac_tf_bundle *b, const char *key, ac_place at, ac_pb *pb, ac_span *text);

#endif
