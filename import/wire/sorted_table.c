/* sorted_table.c - reads blocks and entries of a sorted table, and checks every length; see sorted_table.h. */
#include "import/wire/sorted_table.h"
#include "import/wire/crc32c.h"

#include <string.h>

enum { FOOTER = 48, TRAILER = 5, KEYS_PER_BYTE = 16, KEYS_FREE = 4096 };

typedef struct reading {
    ac_ctx *cx;
    const char *file;
    ac_span all;
    int64_t keys;   /* bytes that keys may still take */
    int64_t blocks; /* bytes that blocks may still take: they do not overlap */
    ac_crc32c crc;
} reading;

static int fail(const reading *r, uint64_t at, ac_code code, const char *what)
{
    return ac_error(r->cx, (ac_place){.file = r->file, .byte = 1 + (int64_t)at}, code, "%s", what);
}

/* The position of a block: two varints at *at. */
static int take_place(const reading *r, ac_span in, uint64_t *at, uint64_t *offset, uint64_t *size)
{
    const uint64_t from = (uint64_t)(in.p - r->all.p) + *at;
    if (!ac_span_varint(in, at, offset) || !ac_span_varint(in, at, size))
        return fail(r, from, E0012, "the place of a block is cut off");
    if (!ac_span_has(r->all, *offset, *size) || !ac_span_has(r->all, *offset + *size, TRAILER))
        return ac_error(r->cx, (ac_place){.file = r->file, .byte = 1 + (int64_t)from}, E0010,
                        "a block of %llu bytes at byte %llu is past the end (%zu bytes)", (unsigned long long)*size,
                        (unsigned long long)*offset, r->all.n);
    return AC_OK;
}

/* The entries of the block at `offset`, without its restart points; its checksum is right. */
static int open_block(reading *r, uint64_t offset, uint64_t size, ac_span *entries)
{
    const uint8_t *p = r->all.p + offset;
    uint32_t sum = 0, restarts = 0;
    r->blocks -= (int64_t)size;
    if (r->blocks < 0)
        return fail(r, offset, E0012, "blocks overlap");
    if (p[size] != 0)
        return fail(r, offset + size, E0017, "a block is compressed; arenac reads tables whose blocks are not");
    (void)ac_span_u32(r->all, offset + size + 1, &sum);
    if (ac_crc32c_masked(ac_crc32c_of(&r->crc, 0, p, (size_t)size + 1)) != sum)
        return fail(r, offset, E0012, "the checksum of a block is wrong: the file is damaged; copy or export it again");
    if (size < 4 || !ac_span_u32(r->all, offset + size - 4, &restarts) || restarts > (size - 4) / 4)
        return fail(r, offset, E0012, "a block is too short for its restart points");
    *entries = (ac_span){p, (size_t)(size - 4 - 4 * (uint64_t)restarts)};
    return AC_OK;
}

/* The entry at *at; `key` is the one before, and becomes this one's. */
static int take_entry(reading *r, ac_span in, uint64_t *at, ac_table_entry *e)
{
    const uint64_t from = (uint64_t)(in.p - r->all.p) + *at;
    uint64_t shared, rest, size;
    if (!ac_span_varint(in, at, &shared) || !ac_span_varint(in, at, &rest) || !ac_span_varint(in, at, &size) ||
        !ac_span_has(in, *at, rest) || !ac_span_has(in, *at + rest, size))
        return fail(r, from, E0010, "an entry is past the end of its block");
    if (shared > e->key.n)
        return fail(r, from, E0012, "an entry shares more bytes with the key before than that has");
    r->keys -= (int64_t)(shared + rest);
    if (r->keys < 0)
        return fail(r, from, E0014, "keys take far more bytes than the file's size justifies");
    uint8_t *key = ac_alloc(r->cx->region, (uint64_t)(shared + rest) + 1);
    if (shared)
        memcpy(key, e->key.p, (size_t)shared);
    if (rest)
        memcpy(key + shared, in.p + *at, (size_t)rest);
    e->key = (ac_span){key, (size_t)(shared + rest)};
    e->value = (ac_span){in.p + *at + rest, (size_t)size};
    *at += rest + size;
    return AC_OK;
}

static int compare(ac_span a, const void *p, size_t n)
{
    const int c = a.n && n ? memcmp(a.p, p, a.n < n ? a.n : n) : 0;
    return c ? c : (a.n > n) - (a.n < n);
}

static int read_block(reading *r, uint64_t offset, uint64_t size, ac_sorted_table *out)
{
    ac_span in;
    ac_table_entry e = {{0}, {0}};
    AC_TRY(open_block(r, offset, size, &in));
    for (uint64_t at = 0; at < in.n;) {
        const uint64_t from = offset + at;
        AC_TRY(take_entry(r, in, &at, &e));
        if (out->n && compare(e.key, out->item[out->n - 1].key.p, out->item[out->n - 1].key.n) <= 0)
            return fail(r, from, E0012, "keys are not in rising order");
        ac_push(r->cx->region, out, e);
    }
    return AC_OK;
}

int ac_sorted_table_read(ac_ctx *cx, const char *file, ac_span bytes, ac_sorted_table *out)
{
    static const uint8_t MAGIC[8] = {0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb};
    reading *r = AC_NEW(cx->region, reading);
    uint64_t at = 0, offset, size;
    ac_span index;
    ac_table_entry e = {{0}, {0}};
    *r = (reading){.cx = cx, .file = file, .all = bytes, .blocks = (int64_t)bytes.n};
    r->keys = KEYS_FREE + (int64_t)bytes.n * KEYS_PER_BYTE;
    *out = (ac_sorted_table){0};
    if (bytes.n < FOOTER)
        return fail(r, bytes.n, E0010, "the file is shorter than the footer of a sorted table, 48 bytes");
    if (!ac_span_starts(bytes, bytes.n - sizeof MAGIC, MAGIC, sizeof MAGIC))
        return fail(r, bytes.n - sizeof MAGIC, E0012,
                    "the file does not end like a sorted table: it is truncated, or not one");
    ac_crc32c_init(&r->crc);
    const ac_span footer = {bytes.p + bytes.n - FOOTER, FOOTER - sizeof MAGIC};
    AC_TRY(take_place(r, footer, &at, &offset, &size)); /* of blocks about the table itself: not needed */
    AC_TRY(take_place(r, footer, &at, &offset, &size));
    AC_TRY(open_block(r, offset, size, &index));
    for (at = 0; at < index.n;) {
        uint64_t in_value = 0;
        AC_TRY(take_entry(r, index, &at, &e));
        AC_TRY(take_place(r, e.value, &in_value, &offset, &size));
        AC_TRY(read_block(r, offset, size, out));
    }
    return AC_OK;
}

const ac_table_entry *ac_sorted_table_find(const ac_sorted_table *t, const void *key, size_t n)
{
    int32_t from = 0, to = t->n;
    while (from < to) {
        const int32_t middle = from + (to - from) / 2;
        const int c = compare(t->item[middle].key, key, n);
        if (!c)
            return &t->item[middle];
        if (c < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}
