/* npz.c - .npz files; see npz.h. */
#include "host/npz.h"

#include "base/bytes.h"
#include "base/hash/crc32.h"
#include "host/inflate.h"

#include <string.h>

enum {
    LOCAL = 0x04034b50,   /* before each array */
    CENTRAL = 0x02014b50, /* its entry in the directory */
    END = 0x06054b50,     /* of the directory */
    LOCAL_BYTES = 30,
    CENTRAL_BYTES = 46,
    END_BYTES = 22,
    VERSION = 20,
    STORED = 0,
    DEFLATED = 8,
    DAY = 1 << 5 | 1, /* 1980-01-01, so that equal arrays are equal files */
};

static void put_number(ac_sink *to, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        ac_putc(to, (char)(v >> 8 * i & 255));
}

/* Writes the fields that an array's header and its entry in the directory share. */
static void put_common(ac_sink *to, uint32_t crc, size_t bytes, size_t name)
{
    put_number(to, VERSION, 2);
    put_number(to, 0, 2); /* flags */
    put_number(to, 0, 2); /* stored */
    put_number(to, 0, 2); /* midnight */
    put_number(to, DAY, 2);
    put_number(to, crc, 4);
    put_number(to, bytes, 4);
    put_number(to, bytes, 4);
    put_number(to, name, 2);
    put_number(to, 0, 2); /* no extra field */
}

void ac_npz_begin(ac_npz *z, ac_sink *to)
{
    *z = (ac_npz){.to = to};
    ac_sink_open(&z->directory, to->cx);
}

void ac_npz_add(ac_npz *z, const char *name, ac_dtype d, int32_t rank, const int64_t *dim, const void *data)
{
    ac_sink array;
    const char *file = ac_strf(z->to->cx->region, "%s.npy", name);
    const size_t at = z->to->n, length = strlen(file);
    ac_sink_open(&array, z->to->cx);
    ac_npy_write(&array, d, rank, dim, data);
    const uint32_t crc = ac_crc32(0, array.text, array.n);
    put_number(z->to, LOCAL, 4);
    put_common(z->to, crc, array.n, length);
    ac_put_n(z->to, file, length);
    ac_put_n(z->to, array.text, array.n);
    put_number(&z->directory, CENTRAL, 4);
    put_number(&z->directory, VERSION, 2);
    put_common(&z->directory, crc, array.n, length);
    put_number(&z->directory, 0, 2); /* no comment */
    put_number(&z->directory, 0, 2); /* first disk */
    put_number(&z->directory, 0, 2);
    put_number(&z->directory, 0, 4);
    put_number(&z->directory, at, 4);
    ac_put_n(&z->directory, file, length);
    z->n++;
}

void ac_npz_end(ac_npz *z)
{
    const size_t at = z->to->n;
    ac_put_n(z->to, z->directory.text, z->directory.n);
    put_number(z->to, END, 4);
    put_number(z->to, 0, 4);
    put_number(z->to, (uint64_t)z->n, 2);
    put_number(z->to, (uint64_t)z->n, 2);
    put_number(z->to, z->directory.n, 4);
    put_number(z->to, at, 4);
    put_number(z->to, 0, 2);
}

/* ------------------------------------------------------------------ reading */

static int bad(ac_ctx *cx, const char *path, const char *what)
{
    ac_error(cx, (ac_place){.file = path}, E0304, "not a usable .npz file: %s", what);
    return ac_help(cx, "save it with numpy.savez(path, name=array, ...)");
}

/* Where the directory begins, and how many entries it has. The end of the archive may be followed by a comment. */
static bool find_directory(ac_span s, uint64_t *at, int32_t *n)
{
    for (uint64_t back = END_BYTES; back <= s.n && back <= END_BYTES + 65535; back++) {
        uint32_t magic, begin;
        uint16_t count;
        if (ac_span_u32(s, s.n - back, &magic) && magic == END && ac_span_u16(s, s.n - back + 10, &count) &&
            ac_span_u32(s, s.n - back + 16, &begin)) {
            *at = begin;
            *n = count;
            return true;
        }
    }
    return false;
}

/* The array that an entry of the directory is of. */
typedef struct entry {
    ac_span name, in;    /* in: as stored */
    uint32_t crc, bytes; /* of the array itself */
    bool deflated;
} entry;

/* *at moves to the next entry. */
static const char *read_entry(ac_span s, uint64_t *at, entry *e)
{
    uint32_t magic, stored, local;
    uint16_t method, name_n, extra, comment, local_name, local_extra;
    ac_span own;
    if (!ac_span_u32(s, *at, &magic) || magic != CENTRAL || !ac_span_u16(s, *at + 10, &method) ||
        !ac_span_u32(s, *at + 16, &e->crc) || !ac_span_u32(s, *at + 20, &stored) ||
        !ac_span_u32(s, *at + 24, &e->bytes) || !ac_span_u16(s, *at + 28, &name_n) ||
        !ac_span_u16(s, *at + 30, &extra) || !ac_span_u16(s, *at + 32, &comment) || !ac_span_u32(s, *at + 42, &local) ||
        !ac_span_sub(s, *at + CENTRAL_BYTES, name_n, &e->name))
        return "its directory is damaged";
    if (method != STORED && method != DEFLATED)
        return "it is compressed by another method than deflate";
    e->deflated = method == DEFLATED;
    if (!e->deflated && stored != e->bytes)
        return "its directory is damaged";
    *at += (uint64_t)CENTRAL_BYTES + name_n + extra + comment;
    if (!ac_span_u32(s, local, &magic) || magic != LOCAL || !ac_span_u16(s, (uint64_t)local + 26, &local_name) ||
        !ac_span_u16(s, (uint64_t)local + 28, &local_extra) ||
        !ac_span_sub(s, (uint64_t)local + LOCAL_BYTES, local_name, &own) ||
        !ac_span_sub(s, (uint64_t)local + LOCAL_BYTES + local_name + local_extra, stored, &e->in))
        return "an array is outside of it";
    if (own.n != e->name.n || memcmp(own.p, e->name.p, own.n))
        return "an array and the directory differ in its name";
    return NULL;
}

static int check_sum(ac_ctx *cx, const char *path, ac_span name, ac_span in, uint32_t expected)
{
    const uint32_t found = ac_crc32(0, in.p, in.n);
    if (found == expected)
        return AC_OK;
    ac_error(cx, (ac_place){.file = path}, E0304, "array '%.*s' is damaged: its CRC-32 is 0x%08x, expected 0x%08x",
             (int)name.n, (const char *)name.p, found, expected);
    return ac_help(cx, "use another copy of the file, or an earlier checkpoint");
}

/* DEFLATE makes at most 1032 bytes of one: more are a damaged directory. */
static const char *expand(ac_ctx *cx, entry *e)
{
    enum { MOST_RATIO = 1032 };
    if (e->bytes / MOST_RATIO > e->in.n)
        return "its directory is damaged";
    uint8_t *to = ac_alloc(cx->region, (uint64_t)e->bytes + 1);
    const char *wrong = ac_inflate(e->in, to, e->bytes);
    e->in = (ac_span){to, e->bytes};
    return wrong;
}

int ac_npz_read(ac_ctx *cx, const char *path, ac_file *file, ac_npz_list *list)
{
    uint64_t at;
    int32_t n;
    AC_TRY(ac_file_open(cx, path, file));
    const ac_span s = {file->data, file->n};
    if (!find_directory(s, &at, &n))
        return bad(cx, path, "it has no directory");
    for (int32_t i = 0; i < n; i++) {
        entry e = {0};
        ac_npz_entry to = {0};
        const char *wrong = read_entry(s, &at, &e);
        if (!wrong && e.deflated)
            wrong = expand(cx, &e);
        if (wrong)
            return bad(cx, path, wrong);
        AC_TRY(check_sum(cx, path, e.name, e.in, e.crc));
        const bool npy = e.name.n > 4 && !memcmp(e.name.p + e.name.n - 4, ".npy", 4);
        to.name = ac_intern_n(cx, (const char *)e.name.p, npy ? e.name.n - 4 : e.name.n);
        AC_TRY(ac_npy_parse(cx, path, e.in.p, e.in.n, &to.array));
        ac_push(cx->region, list, to);
    }
    return AC_OK;
}
