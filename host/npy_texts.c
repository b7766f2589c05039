/* npy_texts.c - texts of NumPy's arrays as codes, and codes as texts; see npy_texts.h. */
#include "host/npy_texts.h"

#include "base/bytes.h"
#include "base/visible.h"

#include <string.h>

/* An element of type U as UTF-8 in `to`. SIZE_MAX: not Unicode. */
static size_t from_unicode(char *to, ac_span s)
{
    size_t size = 0;
    uint32_t c;
    while (s.n && ac_span_u32(s, s.n - 4, &c) && !c)
        s.n -= 4; /* zeros at the end are padding */
    for (size_t i = 0; ac_span_u32(s, i, &c); i += 4) {
        const int bytes = ac_utf8_put(to + size, c);
        if (!bytes)
            return SIZE_MAX;
        size += (size_t)bytes;
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
        const size_t n =
            unicode ? from_unicode(text, (ac_span){p, (size_t)a->unit}) : from_bytes(text, p, (size_t)a->unit);
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

/* The character at s; the bytes that it takes. A byte that is not UTF-8 is a character. */
static int next(const char *s, uint32_t *c)
{
    const int n = ac_utf8_get(s, c);
    return n ? n : 1;
}

void ac_npy_write_texts(ac_sink *to, const ac_vocabulary *w, int32_t rank, const int64_t *dim, const void *codes)
{
    const int64_t count = ac_dim_product(dim, 0, rank);
    int64_t longest = 1; /* characters */
    uint32_t c;
    for (int64_t i = 0; i < count; i++) {
        int64_t n = 0;
        for (const char *s = text_of(w, codes, i); *s; n++)
            s += next(s, &c);
        longest = n > longest ? n : longest;
    }
    ac_npy_write_head(to, ac_strf(to->cx->region, "<U%lld", (long long)longest), rank, dim);
    for (int64_t i = 0; i < count; i++) {
        int64_t n = 0;
        for (const char *s = text_of(w, codes, i); *s; n++) {
            s += next(s, &c);
            for (int k = 0; k < 4; k++)
                ac_putc(to, (char)(c >> 8 * k & 255));
        }
        for (; n < longest; n++)
            ac_put_n(to, "\0\0\0\0", 4);
    }
}
