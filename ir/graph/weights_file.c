/* weights_file.c - reads and writes the file that holds the large constants of a text. */
#include "ir/graph/weights_file.h"
#include "base/format.h"
#include "base/hash/sha256.h"

#include <string.h>

static void put_header(char header[AC_WEIGHTS_HEADER + 1], int64_t bytes, const char *sha256)
{
    int n = ac_print(header, AC_WEIGHTS_HEADER, "arenac-weights 1 bytes %lld sha256 %.64s", (long long)bytes, sha256);
    memset(header + n, ' ', (size_t)(AC_WEIGHTS_HEADER - n));
    header[AC_WEIGHTS_HEADER - 1] = '\n';
}

static void put_zeros(ac_sink *to, size_t n)
{
    static const char ZEROS[AC_WEIGHTS_HEADER];
    ac_put_n(to, ZEROS, n);
}

void ac_weights_start(ac_sink *to, int64_t bytes)
{
    ac_sink_room(to, (size_t)bytes + AC_WEIGHTS_HEADER);
    put_zeros(to, AC_WEIGHTS_HEADER);
}

int64_t ac_weights_add(ac_sink *to, const void *data, int64_t bytes)
{
    put_zeros(to, (AC_WEIGHTS_ALIGN - to->n % AC_WEIGHTS_ALIGN) % AC_WEIGHTS_ALIGN);
    int64_t at = (int64_t)to->n;
    ac_put_n(to, data, (size_t)bytes);
    return at;
}

void ac_weights_seal(ac_sink *to, char sha256[65])
{
    char header[AC_WEIGHTS_HEADER + 1];
    ac_sha256_hex(to->text + AC_WEIGHTS_HEADER, to->n - AC_WEIGHTS_HEADER, sha256);
    put_header(header, (int64_t)to->n, sha256);
    memcpy(to->text, header, AC_WEIGHTS_HEADER);
}

int ac_weights_open(ac_ctx *cx, ac_place at, const ac_file *f, int64_t bytes, const char *sha256, ac_weights_file **out)
{
    char header[AC_WEIGHTS_HEADER + 1];
    const char *path = f->path;
    ac_file_keep(cx, f);
    put_header(header, bytes, sha256);
    if (f->n < AC_WEIGHTS_HEADER || memcmp(f->data, "arenac-weights ", 15) != 0)
        return ac_error(cx, at, E0016, "'%s' is not a weights file of arenac", path);
    if ((int64_t)f->n != bytes)
        return ac_error(cx, at, E0016, "'%s' has %s bytes, the text expects %s", path, ac_commas(cx, (int64_t)f->n),
                        ac_commas(cx, bytes));
    if (memcmp(f->data, header, AC_WEIGHTS_HEADER) != 0) {
        ac_error(cx, at, E0016, "'%s' holds the weights of another model than this text", path);
        return ac_help(cx, "`arenac convert` writes text and weights together");
    }
    *out = AC_NEW(cx->region, ac_weights_file);
    **out = (ac_weights_file){.path = f->path, .data = f->data, .n = bytes, .sha256 = ac_strdup(cx->region, sha256)};
    return AC_OK;
}

int ac_weights_verify(ac_ctx *cx, const ac_weights_file *w)
{
    char sum[65];
    ac_sha256_hex(w->data + AC_WEIGHTS_HEADER, (size_t)(w->n - AC_WEIGHTS_HEADER), sum);
    if (!strcmp(sum, w->sha256))
        return AC_OK;
    return ac_error(cx, (ac_place){.file = w->path}, E0016, "the weights were changed: their SHA-256 is %s, not %s",
                    sum, w->sha256);
}
