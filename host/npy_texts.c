/* npy_texts.c - texts of NumPy's arrays as codes, and codes as texts; see npy_texts.h. */
#include "host/npy_texts.h"

#include "base/visible.h"

#include <string.h>

/* A character as UTF-8: its bytes, at most 4; 0: no character. */
static size_t put_character(char *to, uint32_t c)
{
    static const uint8_t FIRST[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 63));
    to[0] = (char)(n == 1 ? c : FIRST[n] | c);
    return n;
}

/* An element of type U, `unit` bytes, as UTF-8 in `to`. SIZE_MAX: not Unicode. */
static size_t from_unicode(char *to, const uint8_t *p, size_t unit)
{
    size_t n = 0, size = 0;
    for (size_t i = 0; i + 4 <= unit; i += 4)
        if (p[i] | p[i + 1] | p[i + 2] | p[i + 3])
            n = i + 4; /* zeros at the end are padding */
    for (size_t i = 0; i < n; i += 4) {
        const uint32_t c =
            (uint32_t)p[i] | (uint32_t)p[i + 1] << 8 | (uint32_t)p[i + 2] << 16 | (uint32_t)p[i + 3] << 24;
        const size_t bytes = put_character(to + size, c);
        if (!bytes)
            return SIZE_MAX;
        size += bytes;
    }
    return size;
}

static size_t from_bytes(char *to, const uint8_t *p, size_t unit)
{
    while (unit && !p[unit - 1])
        unit--;
    memcpy(to, p, unit);
    return unit;
}

void ac_npy_encode(ac_ctx *cx, ac_npy *a, const ac_tensor *t)
{
    const bool unicode = a->descr[1] == 'U';
    if (!t->words || (!unicode && a->descr[1] != 'S'))
        return;
    const int64_t count = ac_dim_product(a->dim, 0, a->rank);
    int32_t *code = AC_NEW_N(cx->region, int32_t, count + 1);
    char *text = ac_alloc(cx->region, (uint64_t)a->unit + 1);
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *p = a->data + i * a->unit;
        const size_t n = unicode ? from_unicode(text, p, (size_t)a->unit) : from_bytes(text, p, (size_t)a->unit);
        code[i] = n == SIZE_MAX ? t->words->n : ac_vocabulary_code(t->words, text, n);
    }
    a->data = (const uint8_t *)code;
    a->unit = (int64_t)sizeof *code;
    a->bytes = count * a->unit;
    memcpy(a->descr, "<i4", sizeof "<i4");
}

static const char *text_of(const ac_vocabulary *w, const void *codes, int64_t i)
{
    const int64_t code = ac_dtype_get_int(AC_I32, codes, i);
    return code >= 0 && code < w->n ? w->text[code] : "";
}

void ac_npy_write_texts(ac_sink *to, const ac_vocabulary *w, int32_t rank, const int64_t *dim, const void *codes)
{
    const int64_t count = ac_dim_product(dim, 0, rank);
    int64_t longest = 1; /* characters */
    for (int64_t i = 0; i < count; i++) {
        int64_t n = 0;
        for (const char *s = text_of(w, codes, i); *s; s++)
            n += ((unsigned char)*s & 0xc0) != 0x80;
        longest = n > longest ? n : longest;
    }
    ac_npy_write_head(to, ac_strf(to->cx->region, "<U%lld", (long long)longest), rank, dim);
    for (int64_t i = 0; i < count; i++) {
        int64_t n = 0;
        for (const char *s = text_of(w, codes, i); *s; n++) {
            uint32_t c = (unsigned char)*s;
            const int bytes = ac_utf8_length(s);
            c = bytes > 1 ? c & (0x7fu >> bytes) : c;
            for (int k = 1; k < bytes; k++)
                c = c << 6 | ((unsigned char)s[k] & 63u);
            s += bytes ? bytes : 1;
            for (int k = 0; k < 4; k++)
                ac_putc(to, (char)(c >> 8 * k & 255));
        }
        for (; n < longest; n++)
            ac_put_n(to, "\0\0\0\0", 4);
    }
}
