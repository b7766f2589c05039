/* sink.c - text that grows; commit.c writes it. */
#include "base/sink.h"

#include "base/format.h"

#include <string.h>

void ac_sink_open(ac_sink *s, ac_ctx *cx)
{
    *s = (ac_sink){.cx = cx};
}

static void grow(ac_sink *s, size_t cap)
{
    char *fresh = ac_alloc(s->cx->region, cap);
    if (s->n)
        memcpy(fresh, s->text, s->n);
    s->text = fresh;
    s->cap = cap;
}

static void reserve(ac_sink *s, size_t more)
{
    if (s->cap - s->n >= more)
        return;
    if (more > SIZE_MAX / 4 || s->n > SIZE_MAX / 4)
        ac_heap_give_up(&s->cx->heap);
    size_t cap = s->cap ? s->cap * 2 : 1024;
    while (cap - s->n < more)
        cap *= 2;
    grow(s, cap);
}

void ac_sink_room(ac_sink *s, size_t n)
{
    if (n > SIZE_MAX / 4 || s->n > SIZE_MAX / 4)
        ac_heap_give_up(&s->cx->heap);
    if (s->cap - s->n < n)
        grow(s, s->n + n);
}

char *ac_sink_end(ac_sink *s, size_t n)
{
    reserve(s, n);
    return s->text + s->n;
}

void ac_put_n(ac_sink *s, const void *bytes, size_t n)
{
    if (!n)
        return;
    reserve(s, n);
    memcpy(s->text + s->n, bytes, n);
    s->n += n;
}

void ac_sink_insert(ac_sink *s, size_t at, const char *text)
{
    const size_t n = strlen(text);
    reserve(s, n);
    memmove(s->text + at + n, s->text + at, s->n - at);
    memcpy(s->text + at, text, n);
    s->n += n;
    for (int32_t i = 0; i < s->lasting.n; i++)
        s->lasting.item[i].at += s->lasting.item[i].at >= at ? n : 0;
}

void ac_put_lasting(ac_sink *s, const void *bytes, size_t n)
{
    ac_push(s->cx->region, &s->lasting, ((ac_lasting){bytes, n, s->n}));
}

size_t ac_sink_size(const ac_sink *s)
{
    size_t n = s->n;
    for (int32_t i = 0; i < s->lasting.n; i++)
        n += s->lasting.item[i].n;
    return n;
}

const void *ac_sink_piece(const ac_sink *s, int32_t i, size_t *n)
{
    const int32_t k = i / 2;
    const size_t begin = k ? s->lasting.item[k - 1].at : 0, end = k < s->lasting.n ? s->lasting.item[k].at : s->n;
    *n = i % 2 ? s->lasting.item[k].n : end - begin;
    return i % 2 ? s->lasting.item[k].bytes : *n ? s->text + begin : NULL;
}

void ac_put_int(ac_sink *s, int64_t v)
{
    char digits[20], *p = digits + sizeof digits;
    uint64_t rest = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do
        *--p = (char)('0' + rest % 10);
    while (rest /= 10);
    if (v < 0)
        *--p = '-';
    ac_put_n(s, p, (size_t)(digits + sizeof digits - p));
}

void ac_put(ac_sink *s, const char *text)
{
    ac_put_n(s, text, strlen(text));
}

void ac_putc(ac_sink *s, char c)
{
    ac_put_n(s, &c, 1);
}

void ac_putf(ac_sink *s, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    reserve(s, 128);
    int n = ac_vprint(s->text + s->n, s->cap - s->n, fmt, ap);
    if (n > 0 && (size_t)n >= s->cap - s->n) { /* did not fit: now the length is known */
        reserve(s, (size_t)n + 1);
        n = ac_vprint(s->text + s->n, s->cap - s->n, fmt, again);
    }
    if (n > 0)
        s->n += (size_t)n;
    va_end(again);
    va_end(ap);
}

const char *ac_commas(ac_ctx *cx, int64_t n)
{
    char digits[24];
    int len = ac_print(digits, sizeof digits, "%lld", (long long)n), neg = n < 0;
    char *out = ac_alloc(cx->region, 32), *to = out;
    for (int i = 0; i < len; i++) {
        if (i > neg && (len - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    return out;
}

const char *ac_sink_text(ac_sink *s)
{
    reserve(s, 1);
    s->text[s->n] = 0;
    return s->text;
}
