/* constants.c - computes the constants of a module, lays them out in one block, and writes the blob.
 *
 * A blob is one file: a header of 64 bytes, then each constant at its alignment.
 *
 *     0   8   "arnblob" and a 0
 *     8   4   version, 1          12  4   bytes of the header, 64
 *     16  8   bytes of the blob   24  8   a hash of everything after the header
 *     32  32  0                   all numbers little-endian, as the constants are */
#include "base/file.h"
#include "base/hash/crc32.h"
#include "base/hash/hash.h"
#include "codegen/constants.h"

#include <string.h>

/* ------------------------------------------------------------------ making */

typedef struct makers {
    const ac_module *m;
    ac_making w;
    int status;
} makers;

/* Each once; of those known to be equal, only the first is computed. */
static void make_all(void *arg)
{
    enum {
        MOST = 16 << 20
    }; /* bytes: the constants that several are computed from stay that long, and so do pages
                               * read from the file */
    ac_bytes read = 0;
    makers *x = arg;
    const ac_module *m = x->m;
    const int32_t *twin = ac_consts_twins(m, false);
    ac_making_begin(m->cx, &x->w);
    for (int32_t i = 0; i < m->n_konst && x->status == AC_OK; i++) {
        ac_const *k = m->konst[i], *first = m->konst[twin[i]];
        if (!k->data && first != k) {
            k->data = first->data;
            k->twin = first;
        } else if (!ac_const_data_for(m->cx, &x->w, k)) {
            x->status = AC_FAIL;
        }
        ac_making_again(&x->w, MOST);
        read += ac_const_bytes(k);
        if (read > MOST) {
            ac_files_rest(m->cx);
            read = 0;
        }
    }
    ac_making_end(&x->w);
}

int ac_consts_make(const ac_module *m)
{
    makers x = {.m = m, .status = AC_OK};
    bool made = true;
    for (int32_t i = 0; i < m->n_konst; i++)
        made &= m->konst[i]->data != NULL;
    if (made)
        return AC_OK;
    if (!ac_heap_guard(&m->cx->heap, make_all, &x)) {
        ac_making_forget(&x.w);
        ac_heap_give_up(&m->cx->heap);
    }
    return x.status;
}

/* Constants that share the bytes of another one, which may be freed. */
static void drop_twins(const ac_module *m)
{
    for (int32_t i = 0; i < m->n_konst; i++)
        if (m->konst[i]->twin) {
            m->konst[i]->data = NULL;
            m->konst[i]->twin = NULL;
        }
}

/* ------------------------------------------------------------------ places */

int32_t *ac_consts_twins(const ac_module *m, bool same_type)
{
    return ac_const_twins(m->cx->region, m->konst, m->n_konst, same_type);
}

/* Those of m alone. */
static void layout(const ac_module *m, ac_bytes *offset, ac_bytes *total)
{
    int32_t *twin = ac_consts_twins(m, false), *align = AC_NEW_N(m->cx->region, int32_t, m->n_konst + 1);
    ac_bytes at = AC_BLOB_HEADER;
    for (int32_t i = 0; i < m->n_konst; i++) /* for all that are one */
        align[twin[i]] = m->konst[i]->align > align[twin[i]] ? m->konst[i]->align : align[twin[i]];
    for (int32_t i = 0; i < m->n_konst; i++) {
        if (twin[i] < i) {
            offset[i] = offset[twin[i]];
            continue;
        }
        offset[i] = at = ac_align_up(at, align[i]);
        at += ac_const_bytes(m->konst[i]);
    }
    *total = at;
}

void ac_consts_layout(const ac_module *m, ac_bytes *offset, ac_bytes *total)
{
    if (!m->block) {
        layout(m, offset, total);
        return;
    }
    ac_bytes *all = AC_NEW_N(m->cx->region, ac_bytes, m->block->n_konst + 1);
    layout(m->block, all, total);
    for (int32_t i = 0; i < m->n_konst; i++)
        offset[i] = all[m->in_block[i]];
}

/* The module whose constants the blob of m holds. */
static const ac_module *in_blob(const ac_module *m)
{
    return m->block ? m->block : m;
}

ac_bytes ac_consts_bytes(const ac_module *m)
{
    ac_bytes *offset = AC_NEW_N(m->cx->region, ac_bytes, m->n_konst + 1), total;
    ac_consts_layout(m, offset, &total);
    return total - AC_BLOB_HEADER;
}

ac_weights ac_module_weights(const ac_module *m)
{
    if (m->weights != AC_WEIGHTS_AUTO)
        return m->weights;
    return ac_consts_bytes(m) > 1 << 20 ? AC_WEIGHTS_ASM : AC_WEIGHTS_RODATA;
}

/* The blob. */

static void put_le(uint8_t *to, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(v >> (8 * i));
}

static void put_header(uint8_t header[AC_BLOB_HEADER], uint64_t h, ac_bytes total)
{
    memset(header, 0, AC_BLOB_HEADER);
    memcpy(header, "arnblob", 7);
    put_le(header + 8, 1, 4);
    put_le(header + 12, AC_BLOB_HEADER, 4);
    put_le(header + 16, (uint64_t)total, 8);
    put_le(header + 24, h, 8);
}

/* Calls f for the parts of the blob after its header, in order: padding, and each constant at its offset. */
typedef void part_fn(void *with, const uint8_t *bytes, ac_bytes n);
static void each_part(const ac_module *m, const ac_bytes *offset, part_fn *f, void *with)
{
    static const uint8_t ZERO[AC_BLOB_HEADER];
    ac_bytes at = AC_BLOB_HEADER;
    for (int32_t i = 0; i < m->n_konst; i++) {
        if (offset[i] < at) /* written before, for another one */
            continue;
        for (; at < offset[i]; at += offset[i] - at < AC_BLOB_HEADER ? offset[i] - at : AC_BLOB_HEADER)
            f(with, ZERO, offset[i] - at < AC_BLOB_HEADER ? offset[i] - at : AC_BLOB_HEADER);
        f(with, m->konst[i]->data, ac_const_bytes(m->konst[i]));
        at += ac_const_bytes(m->konst[i]);
    }
}

/* A hash of the offsets and the hashes of all constants. ac_consts_layout has computed these hashes to find equal
 * constants. */
static uint64_t checksum(const ac_module *m, const ac_bytes *offset)
{
    uint64_t h = 0;
    for (int32_t i = 0; i < m->n_konst; i++) {
        const uint64_t pair[] = {(uint64_t)offset[i], m->konst[i]->sum};
        h = ac_bytes_hash(pair, sizeof pair) + 3 * h;
    }
    return h;
}

int ac_blob_head(const ac_module *of, uint8_t header[AC_BLOB_HEADER])
{
    const ac_module *m = in_blob(of);
    ac_bytes *offset = AC_NEW_N(m->cx->region, ac_bytes, m->n_konst + 1), total;
    AC_TRY(ac_consts_make(m));
    ac_consts_layout(m, offset, &total);
    put_header(header, checksum(m, offset), total);
    return AC_OK;
}

/* Calls f for the header of the blob and for its parts, in order. */
static int whole_blob(const ac_module *of, part_fn *f, void *with)
{
    const ac_module *m = in_blob(of);
    ac_bytes *offset = AC_NEW_N(m->cx->region, ac_bytes, m->n_konst + 1), total;
    uint8_t header[AC_BLOB_HEADER];
    AC_TRY(ac_blob_head(m, header));
    ac_consts_layout(m, offset, &total);
    f(with, header, sizeof header);
    each_part(m, offset, f, with);
    return AC_OK;
}

static void add_to_sum(void *with, const uint8_t *bytes, ac_bytes n)
{
    uint32_t *sum = with;
    *sum = ac_crc32(*sum, bytes, (size_t)n);
}

int ac_blob_crc32(const ac_module *m, uint32_t *sum)
{
    *sum = 0;
    return whole_blob(m, add_to_sum, sum);
}

int ac_blob_bytes(const ac_module *of, uint8_t **bytes, ac_bytes *total)
{
    const ac_module *m = in_blob(of);
    ac_bytes *offset = AC_NEW_N(m->cx->region, ac_bytes, m->n_konst + 1);
    AC_TRY(ac_consts_make(m));
    ac_consts_layout(m, offset, total);
    *bytes = ac_alloc(m->cx->region, (uint64_t)*total);
    for (int32_t i = 0; i < m->n_konst; i++)
        if (ac_const_bytes(m->konst[i]))
            memcpy(*bytes + offset[i], m->konst[i]->data, (size_t)ac_const_bytes(m->konst[i]));
    put_header(*bytes, checksum(m, offset), *total);
    return AC_OK;
}

int ac_blob_move(const ac_module *m, uint8_t *to)
{
    ac_bytes *offset = AC_NEW_N(m->cx->region, ac_bytes, m->n_konst + 1), total, at = 0;
    AC_TRY(ac_blob_head(m, to));
    ac_consts_layout(m, offset, &total);
    drop_twins(m);
    for (int32_t i = 0; i < m->n_konst; i++) {
        ac_const *k = m->konst[i];
        if (offset[i] >= at && k->data && ac_const_bytes(k)) {
            memcpy(to + offset[i], k->data, (size_t)ac_const_bytes(k));
            at = offset[i] + ac_const_bytes(k);
        }
        ac_const_drop(k);
    }
    return AC_OK;
}

static void add_part(void *with, const uint8_t *bytes, ac_bytes n)
{
    enum { FEW = 4096 };
    if (n < FEW)
        ac_put_n(with, bytes, (size_t)n);
    else
        ac_put_lasting(with, bytes, (size_t)n);
}

int ac_blob_write(const ac_module *m, ac_sink *to)
{
    return whole_blob(m, add_part, to);
}
