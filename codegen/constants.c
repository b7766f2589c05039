/* constants.c - the constants of a module: made, laid out in one block, merged between modules, written as a blob.
 *
 * A blob is one file: a header of 64 bytes, then each constant at its alignment.
 *
 *     0   8   "arnblob" and a 0
 *     8   4   version, 1          12  4   bytes of the header, 64
 *     16  8   bytes of the blob   24  8   FNV-1a of everything after the header
 *     32  32  0                   all numbers little-endian, as the constants are */
#include "codegen/constants.h"

#include <string.h>

static ac_bytes size_of(const ac_const *k)
{
    return ac_dtype_size(k->dtype, k->count);
}

int ac_consts_make(const ac_module *m)
{
    for (int32_t i = 0; i < m->n_konst; i++)
        if (!ac_const_data(m->cx, m->konst[i]))
            return AC_FAIL;
    return AC_OK;
}

int32_t *ac_consts_twins(const ac_module *m, bool same_type)
{
    return ac_const_twins(m->cx->region, m->konst, m->n_konst, same_type);
}

void ac_consts_layout(const ac_module *m, ac_bytes *offset, ac_bytes *total)
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
        at += size_of(m->konst[i]);
    }
    *total = at;
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

/* What sharing needs to know of one module. */
typedef struct sharer {
    ac_module *m;
    int32_t *twin;
    bool text; /* its constants are C text */
} sharer;

/* The first module before `last` with the same bytes as constant k, and which constant it is there. */
static int32_t find_equal(const sharer *s, int32_t last, const ac_const *k, int32_t *index)
{
    for (int32_t a = 0; a < last; a++)
        for (int32_t i = 0; i < s[a].m->n_konst && s[a].text; i++) {
            const ac_const *o = s[a].m->konst[i];
            if (s[a].twin[i] == i && o->dtype == k->dtype && o->count == k->count &&
                !memcmp(o->data, k->data, (size_t)size_of(k))) {
                *index = i;
                return a;
            }
        }
    return -1;
}

int ac_module_merge_consts(ac_module *const *m, int32_t n, ac_bytes *saved)
{
    enum { WORTH = 16 }; /* bytes */
    sharer *s = n ? AC_NEW_N(m[0]->cx->region, sharer, n) : NULL;
    *saved = 0;
    for (int32_t b = 0; b < n; b++) {
        m[b]->konst_name = AC_NEW_N(m[b]->cx->region, const char *, m[b]->n_konst + 1);
        m[b]->konst_extern = AC_NEW_N(m[b]->cx->region, bool, m[b]->n_konst + 1);
        AC_TRY(ac_consts_make(m[b]));
        s[b] = (sharer){m[b], ac_consts_twins(m[b], true), ac_module_weights(m[b]) == AC_WEIGHTS_RODATA};
        for (int32_t i = 0; i < m[b]->n_konst && s[b].text; i++) {
            const ac_const *k = m[b]->konst[i];
            int32_t j = 0;
            const int32_t a = s[b].twin[i] < i || size_of(k) < WORTH ? -1 : find_equal(s, b, k, &j);
            if (a < 0)
                continue;
            if (!m[a]->konst_name[j])
                m[a]->konst_name[j] = ac_strf(m[a]->cx->region, "%s_shared_%d", m[a]->name, j);
            if (m[a]->konst[j]->align < k->align)
                m[a]->konst[j]->align = k->align;
            m[b]->konst_name[i] = m[a]->konst_name[j];
            m[b]->konst_extern[i] = true;
            *saved += size_of(k);
        }
    }
    return AC_OK;
}

/* The blob. */

static void put_le(uint8_t *to, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(v >> (8 * i));
}

void ac_blob_header(uint8_t header[AC_BLOB_HEADER], const uint8_t *bytes, ac_bytes total)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (ac_bytes i = AC_BLOB_HEADER; i < total; i++)
        h = (h ^ bytes[i]) * UINT64_C(1099511628211);
    memset(header, 0, AC_BLOB_HEADER);
    memcpy(header, "arnblob", 7);
    put_le(header + 8, 1, 4);
    put_le(header + 12, AC_BLOB_HEADER, 4);
    put_le(header + 16, (uint64_t)total, 8);
    put_le(header + 24, h, 8);
}

int ac_blob_bytes(const ac_module *m, uint8_t **bytes, ac_bytes *total)
{
    AC_TRY(ac_consts_make(m));
    ac_bytes *offset = AC_NEW_N(m->cx->region, ac_bytes, m->n_konst + 1);
    ac_consts_layout(m, offset, total);
    *bytes = ac_alloc(m->cx->region, (size_t)*total);
    for (int32_t i = 0; i < m->n_konst; i++)
        if (size_of(m->konst[i]))
            memcpy(*bytes + offset[i], m->konst[i]->data, (size_t)size_of(m->konst[i]));
    ac_blob_header(*bytes, *bytes, *total);
    return AC_OK;
}

int ac_blob_write(const ac_module *m, ac_sink *to)
{
    uint8_t *bytes;
    ac_bytes total;
    AC_TRY(ac_blob_bytes(m, &bytes, &total));
    ac_put_n(to, bytes, (size_t)total);
    return AC_OK;
}
