/* bundle.c - tensors of a checkpoint by key; see bundle.h. */
#include "import/tf/bundle.h"
#include "base/beside.h"
#include "import/build/params.h"
#include "import/wire/crc32c.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_SHARDS = 99999, MAX_VERSION = 1, DT_STRING = 7, SUM = 4 /* bytes of a checksum */ };

typedef struct shard {
    const char *name;
    ac_span all;
    uint64_t unread; /* bytes that no tensor has taken yet: tensors do not overlap */
    bool open, broken;
} shard;

struct ac_tf_bundle {
    ac_ctx *cx;
    const char *model;
    ac_pb pb; /* of the index */
    ac_sorted_table table;
    ac_crc32c crc;
    int32_t n_shards;
    shard *shard;
};

typedef struct header {
    int64_t shards, big_endian;
    ac_span version;
} header;

typedef struct version {
    int64_t producer, min_consumer;
} version;

typedef struct entry {
    ac_tf_saved saved;
    float crc32c; /* its bits: a fixed32 */
} entry;

static const ac_pb_field HEADER[] = {{1, AC_PB_INT, offsetof(header, shards)},
                                     {2, AC_PB_INT, offsetof(header, big_endian)},
                                     {3, AC_PB_BYTES, offsetof(header, version)},
                                     {0, AC_PB_INT, 0}};
static const ac_pb_field VERSION[] = {
    {1, AC_PB_INT, offsetof(version, producer)}, {2, AC_PB_INT, offsetof(version, min_consumer)}, {0, AC_PB_INT, 0}};
static const ac_pb_field ENTRY[] = {
    {1, AC_PB_INT, offsetof(entry, saved.type)},    {2, AC_PB_BYTES, offsetof(entry, saved.shape)},
    {3, AC_PB_INT, offsetof(entry, saved.shard)},   {4, AC_PB_INT, offsetof(entry, saved.offset)},
    {5, AC_PB_INT, offsetof(entry, saved.size)},    {6, AC_PB_F32, offsetof(entry, crc32c)},
    {7, AC_PB_MANY, offsetof(entry, saved.slices)}, {0, AC_PB_INT, 0},
};

/* ------------------------------------------------------------------ the index */

static int read_header(ac_tf_bundle *b)
{
    const ac_table_entry *e = ac_sorted_table_find(&b->table, "", 0);
    header h = {.shards = 0};
    version v = {.producer = 0};
    if (!e)
        return ac_error(b->cx, (ac_place){.file = b->pb.file}, E0012, "the index has no header (an entry without key)");
    const ac_place at = ac_pb_place(&b->pb, e->value.p);
    if (!ac_pb_read(&b->pb, e->value, HEADER, &h) || !ac_pb_read(&b->pb, h.version, VERSION, &v))
        return AC_FAIL;
    if (h.big_endian)
        return ac_error(b->cx, at, E0017, "the checkpoint was written on a big-endian machine");
    if (v.min_consumer > MAX_VERSION)
        return ac_error(b->cx, at, E0017, "the checkpoint needs version %" PRId64 " of its format; arenac reads %d",
                        v.min_consumer, MAX_VERSION);
    if (h.shards < 1 || h.shards > MAX_SHARDS)
        return ac_error(b->cx, at, E0012, "the checkpoint has %" PRId64 " files of data, expected 1 to %d", h.shards,
                        MAX_SHARDS);
    b->n_shards = (int32_t)h.shards;
    b->shard = AC_NEW_N(b->cx->region, shard, h.shards);
    return AC_OK;
}

ac_tf_bundle *ac_tf_bundle_read(ac_ctx *cx, const char *model, const char *path, ac_span index)
{
    ac_tf_bundle *b = AC_NEW(cx->region, ac_tf_bundle);
    *b = (ac_tf_bundle){.cx = cx, .model = model};
    ac_pb_open(&b->pb, cx, path, index);
    ac_crc32c_init(&b->crc);
    if (ac_sorted_table_read(cx, path, index, &b->table) != AC_OK || read_header(b) != AC_OK)
        return NULL;
    return b;
}

bool ac_tf_bundle_find(ac_tf_bundle *b, ac_span key, ac_tf_saved *out)
{
    entry found = {.crc32c = 0};
    const ac_table_entry *e = key.n ? ac_sorted_table_find(&b->table, key.p, key.n) : NULL;
    if (!e || !ac_pb_read(&b->pb, e->value, ENTRY, &found))
        return false;
    *out = found.saved;
    memcpy(&out->crc32c, &found.crc32c, sizeof out->crc32c);
    return true;
}

/* ------------------------------------------------------------------ files */

static int open_file(ac_ctx *cx, const char *model, const char *name, ac_place at, ac_file *f)
{
    const ac_beside found = ac_file_beside(cx, model, name, f);
    if (found == AC_BESIDE_OK) {
        ac_file_keep(cx, f);
        return AC_OK;
    }
    const ac_code code = found == AC_BESIDE_OUTSIDE ? E0012 : found == AC_BESIDE_MISSING ? E0019 : E0301;
    ac_error(cx, at, code, "the model's variables are in '%s', which %s", f->path, ac_beside_why(found));
    return ac_help(cx, "a SavedModel is a folder: saved_model.pb and variables/ belong together");
}

ac_tf_bundle *ac_tf_bundle_open(ac_tf *r, ac_place at)
{
    ac_file f = {0};
    const char *model = r->reading->file.path;
    if (open_file(r->cx, model, "variables/variables.index", at, &f) != AC_OK)
        return NULL;
    return ac_tf_bundle_read(r->cx, model, f.path, (ac_span){f.data, f.n});
}

static int open_shard(ac_tf_bundle *b, int64_t k, ac_place at)
{
    shard *s = &b->shard[k];
    ac_file f = {0};
    if (s->open || s->broken)
        return s->open ? AC_OK : AC_FAIL;
    s->broken = true;
    s->name = ac_strf(b->cx->region, "variables/variables.data-%05d-of-%05d", (int)k, (int)b->n_shards);
    AC_TRY(open_file(b->cx, b->model, s->name, at, &f));
    *s = (shard){.name = s->name, .all = {f.data, f.n}, .unread = f.n, .open = true};
    return AC_OK;
}

/* ------------------------------------------------------------------ tensors */

/* The entry's bytes. */
static int find_bytes(ac_tf_bundle *b, const ac_tf_saved *e, const char *shown, ac_place at, ac_span *out)
{
    if (e->shard < 0 || e->shard >= b->n_shards)
        return ac_error(b->cx, at, E0013, "entry '%s' of the checkpoint is in file %" PRId64 " of %d", shown, e->shard,
                        b->n_shards);
    AC_TRY(open_shard(b, e->shard, at));
    shard *s = &b->shard[e->shard];
    if (e->offset < 0 || !ac_span_sub(s->all, (uint64_t)e->offset, (uint64_t)e->size, out))
        return ac_error(b->cx, at, E0016, "entry '%s' takes %" PRId64 " bytes at %" PRId64 " of '%s', which has %zu",
                        shown, e->size, e->offset, s->name, s->all.n);
    if (out->n > s->unread)
        return ac_error(b->cx, at, E0012, "entries of the checkpoint overlap in '%s': '%s' is one of them", s->name,
                        shown);
    s->unread -= out->n;
    return AC_OK;
}

static int check_sum(ac_tf_bundle *b, const ac_tf_saved *e, uint32_t sum, const char *shown, ac_place at)
{
    if (ac_crc32c_masked(sum) == e->crc32c)
        return AC_OK;
    ac_error(b->cx, at, E0012, "the checksum of entry '%s' in '%s' is 0x%08" PRIx32 ", in the index 0x%08" PRIx32,
             shown, b->shard[e->shard].name, ac_crc32c_masked(sum), e->crc32c);
    return ac_help(b->cx, "the file is damaged, or of another export: copy or export the model again");
}

int ac_tf_bundle_text(ac_tf_bundle *b, const char *key, ac_place at, ac_pb *pb, ac_span *text)
{
    ac_tf_saved e;
    ac_span all;
    uint64_t from = 0, n = 0;
    *text = (ac_span){0};
    if (!ac_tf_bundle_find(b, (ac_span){(const uint8_t *)key, strlen(key)}, &e) || e.type != DT_STRING)
        return b->pb.failed ? AC_FAIL : AC_OK;
    AC_TRY(find_bytes(b, &e, key, at, &all));
    if (!ac_span_varint(all, &from, &n) || n > UINT32_MAX || !ac_span_has(all, from, SUM) ||
        n != all.n - from - SUM) /* the string's length, a checksum of the lengths, the string */
        return ac_error(b->cx, at, E0016, "entry '%s' of the checkpoint is not a single text", key);
    const uint8_t size[] = {(uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16), (uint8_t)(n >> 24)};
    const uint32_t sizes = ac_crc32c_of(&b->crc, 0, size, sizeof size);
    AC_TRY(check_sum(b, &e, ac_crc32c_of(&b->crc, sizes, all.p + from, all.n - (size_t)from), key, at));
    *text = (ac_span){all.p + from + SUM, (size_t)n};
    ac_pb_open(pb, b->cx, b->shard[e.shard].name, *text);
    return AC_OK;
}

ac_tensor *ac_tf_bundle_tensor(ac_tf *r, ac_tf_bundle *b, ac_span key, const char *name, ac_place at,
                               const char **refused)
{
    ac_tf_saved e;
    ac_span bytes;
    int64_t dim[AC_MAX_RANK], count;
    int32_t rank;
    const char *shown = ac_pb_name(&r->pb, key);
    *refused = NULL;
    if (!shown)
        return NULL;
    if (!ac_tf_bundle_find(b, key, &e))
        return b->pb.failed
                   ? NULL
                   : ((void)ac_error(b->cx, at, E0101, "the checkpoint has no entry '%s', which '%s' is restored from",
                                     shown, name),
                      NULL);
    const ac_dtype d = ac_tf_dtype(e.type);
    if (d == AC_NONE)
        *refused = ac_strf(r->cx->region, "its elements are of type %s", ac_tf_dtype_name(r->cx, e.type));
    if (e.slices.n)
        *refused = "it is partitioned: the checkpoint has it in slices";
    if (*refused || ac_tf_shape(&b->pb, e.shape, &rank, dim, refused) != AC_OK)
        return NULL;
    if (rank < 0 || !ac_dims_fit(rank, dim, &count))
        return (void)ac_error(b->cx, at, E0015, "entry '%s' of the checkpoint has no shape, or a huge one", shown),
               NULL;
    if (e.size != ac_dtype_size(d, count))
        return (void)ac_error(b->cx, at, E0016,
                              "entry '%s' of the checkpoint is %s %s, %" PRId64 " bytes, but takes %" PRId64, shown,
                              ac_dtype_name(d), ac_dims_str(b->cx, rank, dim), ac_dtype_size(d, count), e.size),
               NULL;
    if (find_bytes(b, &e, shown, at, &bytes) != AC_OK ||
        check_sum(b, &e, ac_crc32c_of(&b->crc, 0, bytes.p, bytes.n), shown, at) != AC_OK)
        return NULL;
    for (size_t i = 0; d == AC_BOOL && i < bytes.n; i++)
        if (bytes.p[i] > 1)
            return (void)ac_error(b->cx, at, E0012, "entry '%s' has a bool that is neither 0 nor 1", shown), NULL;
    ac_tensor *t = ac_tensor_const(r->g, name, d, rank, dim, NULL);
    ac_param_place(t, bytes.p);
    return t;
}
