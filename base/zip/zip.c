/* zip.c - ZIP archives; see zip.h. */
#include "base/zip/zip.h"

#include "base/hash/crc32.h"
#include "base/zip/inflate.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOCAL = 0x04034b50,   /* before each member */
    CENTRAL = 0x02014b50, /* its entry in the directory */
    END = 0x06054b50,     /* of the directory */
    END_64 = 0x06064b50,  /* the same with numbers of 64 bits */
    LOCATOR = 0x07064b50, /* where that is */
    LOCAL_BYTES = 30,
    CENTRAL_BYTES = 46,
    END_BYTES = 22,
    LOCATOR_BYTES = 20,
    WIDE = 1, /* an extra field: numbers of 64 bits */
    ENCRYPTED = 1,
    STORED = 0,
    DEFLATED = 8,
};
#define ELSEWHERE UINT32_MAX /* in a field of 32 bits: the value is in the extra field, in 64 bits */

typedef struct directory {
    uint64_t at, n;
} directory;

static const char DAMAGED[] = "its directory is damaged", OUTSIDE[] = "a member lies outside of it";

/* The end of the archive may be followed by a comment. */
static bool find_end(ac_span s, uint64_t *at)
{
    for (uint64_t back = END_BYTES; back <= s.n && back <= END_BYTES + 65535; back++) {
        uint32_t magic;
        if (ac_span_u32(s, s.n - back, &magic) && magic == END) {
            *at = s.n - back;
            return true;
        }
    }
    return false;
}

static const char *find_directory(ac_span s, directory *d)
{
    uint64_t end, wide;
    uint32_t begin, magic;
    uint16_t count, part;
    if (!find_end(s, &end))
        return "it has no directory";
    if (!ac_span_u16(s, end + 4, &part) || !ac_span_u16(s, end + 10, &count) || !ac_span_u32(s, end + 16, &begin))
        return DAMAGED;
    *d = (directory){begin, count};
    const bool has_locator = end >= LOCATOR_BYTES && ac_span_u32(s, end - LOCATOR_BYTES, &magic) && magic == LOCATOR;
    if (has_locator && (!ac_span_u64(s, end - LOCATOR_BYTES + 8, &wide) || !ac_span_u32(s, wide, &magic) ||
                        magic != END_64 || !ac_span_u64(s, wide + 32, &d->n) || !ac_span_u64(s, wide + 48, &d->at)))
        return DAMAGED;
    if (part && part != UINT16_MAX)
        return "it is one part of several";
    return NULL;
}

/* Numbers that the entry leaves to the extra field, in this order: bytes unpacked, bytes packed, place. */
static const char *widen(ac_span extra, uint64_t *v[3])
{
    uint64_t at = 0, from;
    uint16_t id = 0, n = 0;
    while (ac_span_u16(extra, at, &id) && ac_span_u16(extra, at + 2, &n) && id != WIDE)
        at += 4u + n;
    from = at + 4;
    for (int i = 0; i < 3; i++) {
        if (*v[i] != ELSEWHERE)
            continue;
        if (id != WIDE || from + 8 > at + 4 + n || !ac_span_u64(extra, from, v[i]))
            return DAMAGED;
        from += 8;
    }
    return NULL;
}

static bool is_safe(ac_span name)
{
    const char *text = (const char *)name.p;
    if (!name.n || text[0] == '/' || text[0] == '\\' || (name.n > 1 && text[1] == ':'))
        return false;
    for (size_t i = 0, from = 0; i <= name.n; i++) {
        if (i < name.n && (name.p[i] < 0x20 || name.p[i] == 0x7f))
            return false;
        if (i < name.n && text[i] != '/' && text[i] != '\\')
            continue;
        if (i - from == 2 && !memcmp(text + from, "..", 2))
            return false;
        from = i + 1;
    }
    return true;
}

/* The entry at *at; *at moves to the next one. */
static const char *read_entry(ac_region *region, ac_span s, uint64_t *at, ac_zip_member *m)
{
    uint32_t magic, packed, whole, local;
    uint16_t flags, name_n, extra_n, comment, local_name, local_extra;
    ac_span name, extra, own;
    if (!ac_span_u32(s, *at, &magic) || magic != CENTRAL || !ac_span_u16(s, *at + 8, &flags) ||
        !ac_span_u16(s, *at + 10, &m->method) || !ac_span_u32(s, *at + 16, &m->crc) ||
        !ac_span_u32(s, *at + 20, &packed) || !ac_span_u32(s, *at + 24, &whole) || !ac_span_u16(s, *at + 28, &name_n) ||
        !ac_span_u16(s, *at + 30, &extra_n) || !ac_span_u16(s, *at + 32, &comment) ||
        !ac_span_u32(s, *at + 42, &local) || !ac_span_sub(s, *at + CENTRAL_BYTES, name_n, &name) ||
        !ac_span_sub(s, *at + CENTRAL_BYTES + name_n, extra_n, &extra))
        return DAMAGED;
    uint64_t n = whole, stored = packed, begin = local;
    const char *wrong = widen(extra, (uint64_t *[]){&n, &stored, &begin});
    if (wrong)
        return wrong;
    if (!is_safe(name))
        return "the name of a member is a path that leads out of it";
    if (flags & ENCRYPTED)
        return "it is encrypted";
    *at += (uint64_t)CENTRAL_BYTES + name_n + extra_n + comment;
    if (!ac_span_has(s, begin, LOCAL_BYTES) || !ac_span_u32(s, begin, &magic) || magic != LOCAL ||
        !ac_span_u16(s, begin + 26, &local_name) || !ac_span_u16(s, begin + 28, &local_extra) ||
        !ac_span_sub(s, begin + LOCAL_BYTES, local_name, &own) ||
        !ac_span_sub(s, begin + LOCAL_BYTES + local_name + local_extra, stored, &m->bytes))
        return OUTSIDE;
    if (own.n != name.n || memcmp(own.p, name.p, own.n) != 0)
        return "a member and the directory differ in its name";
    char *text = ac_alloc(region, name.n + 1);
    memcpy(text, name.p, name.n);
    text[name.n] = '\0';
    m->name = text;
    m->n = n;
    m->begin = begin;
    m->end = begin + LOCAL_BYTES + local_name + local_extra + stored;
    return m->method == STORED && stored != n ? "a stored member has two sizes" : NULL;
}

/* ------------------------------------------------------------------ order */

typedef struct place {
    const ac_zip_member *m;
    int32_t i;
} place;

static int compare_begin(const void *a, const void *b)
{
    const ac_zip_member *x = ((const place *)a)->m, *y = ((const place *)b)->m;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int compare_name(const void *a, const void *b)
{
    return strcmp(((const place *)a)->m->name, ((const place *)b)->m->name);
}

static const char *check_order(ac_region *region, ac_zip *z)
{
    const int32_t n = z->member.n;
    place *all = AC_NEW_N(region, place, n + 1);
    z->by_name = AC_NEW_N(region, int32_t, n + 1);
    for (int32_t i = 0; i < n; i++)
        all[i] = (place){&z->member.item[i], i};
    qsort(all, (size_t)n, sizeof *all, compare_begin);
    for (int32_t i = 1; i < n; i++)
        if (all[i].m->begin < all[i - 1].m->end)
            return "two members share bytes";
    qsort(all, (size_t)n, sizeof *all, compare_name);
    for (int32_t i = 0; i < n; i++) {
        z->by_name[i] = all[i].i;
        if (i && !strcmp(all[i].m->name, all[i - 1].m->name))
            return "two members have one name";
    }
    return NULL;
}

const char *ac_zip_open(ac_region *region, ac_span file, ac_zip *out)
{
    directory d;
    *out = (ac_zip){.by_name = NULL};
    const char *wrong = find_directory(file, &d);
    const uint64_t first = wrong ? 0 : d.at;
    for (uint64_t i = 0; !wrong && i < d.n; i++) {
        ac_zip_member m = {.name = NULL};
        wrong = out->member.n == INT32_MAX ? DAMAGED : read_entry(region, file, &d.at, &m);
        if (!wrong && m.end > first)
            wrong = OUTSIDE;
        if (!wrong)
            ac_push(region, &out->member, m);
    }
    return wrong ? wrong : check_order(region, out);
}

ac_zip_member *ac_zip_find(const ac_zip *z, const char *name)
{
    int32_t low = 0, high = z->member.n;
    while (low < high) {
        const int32_t mid = low + (high - low) / 2, i = z->by_name[mid];
        const int order = strcmp(z->member.item[i].name, name);
        if (!order)
            return &z->member.item[i];
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

static const char *unpack(ac_region *region, const ac_zip_member *m, ac_span *bytes)
{
    enum { MOST_RATIO = 1032 }; /* bytes that DEFLATE makes of one, at most: more are a damaged directory */
    if (m->n / MOST_RATIO > m->bytes.n || m->n >= SIZE_MAX)
        return DAMAGED;
    uint8_t *to = ac_alloc(region, (size_t)m->n + 1);
    const char *wrong = ac_inflate(m->bytes, to, (size_t)m->n);
    *bytes = (ac_span){to, (size_t)m->n};
    return wrong;
}

const char *ac_zip_read(ac_region *region, ac_zip_member *m, ac_span *bytes, uint32_t *found)
{
    *found = m->crc;
    *bytes = m->bytes;
    if (m->read)
        return NULL;
    if (m->method != STORED && m->method != DEFLATED)
        return "it is compressed by another method than deflate";
    const char *wrong = m->method == DEFLATED ? unpack(region, m, bytes) : NULL;
    if (wrong)
        return wrong;
    *found = ac_crc32(0, bytes->p, bytes->n);
    m->read = *found == m->crc;
    if (m->read)
        m->bytes = *bytes;
    return m->read ? NULL : "it is damaged";
}
