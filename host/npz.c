/* npz.c - .npz files; see npz.h. */
#include "host/npz.h"

#include "base/ascii.h"
#include "base/hash/crc32.h"
#include "base/zip/zip.h"

#include <string.h>

enum {
    LOCAL = 0x04034b50,   /* before each array */
    CENTRAL = 0x02014b50, /* its entry in the directory */
    END = 0x06054b50,     /* of the directory */
    VERSION = 20,
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

static int read_member(ac_ctx *cx, const char *path, ac_zip_member *m, ac_npz_entry *e)
{
    ac_span in;
    uint32_t found;
    const size_t n = strlen(m->name);
    const char *wrong = ac_zip_read(cx->region, m, &in, &found);
    if (wrong && found == m->crc)
        return bad(cx, path, wrong);
    if (wrong) {
        ac_error(cx, (ac_place){.file = path}, E0304, "array '%s' is damaged: its CRC-32 is 0x%08x, expected 0x%08x",
                 m->name, found, m->crc);
        return ac_help(cx, "use another copy of the file, or an earlier checkpoint");
    }
    e->name = ac_intern_n(cx, m->name, ac_has_ending(m->name, ".npy") ? n - 4 : n);
    return ac_npy_parse(cx, path, in.p, in.n, &e->array);
}

int ac_npz_read(ac_ctx *cx, const char *path, ac_file *file, ac_npz_list *list)
{
    ac_zip z;
    AC_TRY(ac_file_open(cx, path, file));
    const char *wrong = ac_zip_open(cx->region, (ac_span){file->data, file->n}, &z);
    if (wrong)
        return bad(cx, path, wrong);
    for (int32_t i = 0; i < z.member.n; i++) {
        ac_npz_entry e = {0};
        AC_TRY(read_member(cx, path, &z.member.item[i], &e));
        ac_push(cx->region, list, e);
    }
    return AC_OK;
}
