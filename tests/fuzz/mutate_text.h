/* mutate_text.h - a mutator of JSON, prototxt and .ag: changes a number, also one in a string ("(3, 3)" in MXNet's
 * symbols), replaces a word or a string by another one of the file, or drops or duplicates the contents of brackets.
 * The text ends at the first 0. */
#ifndef FUZZ_MUTATE_TEXT_H
#define FUZZ_MUTATE_TEXT_H
#include "tests/fuzz/mutate.h"

#include <ctype.h>
#include <stdio.h>

typedef struct fuzz_token {
    size_t at, end;
    char kind; /* n: number, w: word, s: string in quotes, or a bracket */
} fuzz_token;

enum { FUZZ_TOKENS = 65536 };

static size_t fuzz_tokens(const uint8_t *p, size_t n, fuzz_token *t)
{
    size_t k = 0;
    for (size_t i = 0; i < n && k < FUZZ_TOKENS;) {
        const size_t at = i;
        const uint8_t c = p[i++];
        if (c == '"') {
            while (i < n && p[i] != '"')
                i += p[i] == '\\' && i + 1 < n ? 2 : 1;
            i = i < n ? i + 1 : n;
            t[k++] = (fuzz_token){at, i, 's'};
        } else if (isalpha(c) || c == '_') {
            while (i < n && (isalnum(p[i]) || p[i] == '_' || p[i] == '.'))
                i++;
            t[k++] = (fuzz_token){at, i, 'w'};
        } else if (isdigit(c) || (c == '-' && i < n && isdigit(p[i]))) {
            while (i < n && (isalnum(p[i]) || p[i] == '.'))
                i++;
            t[k++] = (fuzz_token){at, i, 'n'};
        } else if (memchr("{}[]()", c, 6)) {
            t[k++] = (fuzz_token){at, i, (char)c};
        }
    }
    return k;
}

/* A number within the string t, chosen by chance; false: it has none. */
static bool fuzz_number_in(const uint8_t *p, const fuzz_token *t, uint64_t *seed, fuzz_token *number)
{
    uint64_t n = 0;
    for (size_t i = t->at; i < t->end; i++) {
        size_t end = i + (p[i] == '-');
        while (end < t->end && isdigit(p[end]))
            end++;
        if (end == i + (p[i] == '-') || (i > t->at && (isalnum(p[i - 1]) || p[i - 1] == '_')))
            continue;
        if (!fuzz_random(seed, ++n))
            *number = (fuzz_token){i, end, 'n'};
        i = end - 1;
    }
    return n > 0;
}

/* The bracket that closes t[k], or k. */
static size_t fuzz_closing(const fuzz_token *t, size_t n, size_t k)
{
    int open = 0;
    for (size_t i = k; i < n; i++) {
        open += t[i].kind == '{' || t[i].kind == '[' || t[i].kind == '(';
        open -= t[i].kind == '}' || t[i].kind == ']' || t[i].kind == ')';
        if (!open)
            return i;
    }
    return k;
}

static inline size_t fuzz_mutate_text(uint8_t *data, size_t size, size_t most, uint64_t *seed)
{
    const uint8_t *end = memchr(data, 0, size);
    fuzz_token *t = malloc(FUZZ_TOKENS * sizeof *t);
    if (!t)
        exit(1);
    const size_t n = fuzz_tokens(data, end ? (size_t)(end - data) : size, t);
    const size_t k = n ? fuzz_random(seed, n) : 0;
    size_t out = 0, last = k, other = k;
    char number[24];
    fuzz_token v = n ? t[k] : (fuzz_token){0};
    const bool in_string = n && v.kind == 's' && fuzz_random(seed, 4) && fuzz_number_in(data, &t[k], seed, &v);
    if (in_string || v.kind == 'n') {
        snprintf(number, sizeof number, "%.*s", (int)(v.end - v.at < 20 ? v.end - v.at : 20), (char *)data + v.at);
        const long long was = strtoll(number, NULL, 10);
        const int length = snprintf(number, sizeof number, "%lld", (long long)fuzz_edge(seed, was));
        out = fuzz_replace(data, size, most, v.at, v.end - v.at, number, (size_t)length);
    } else if (n) {
        if (t[k].kind != 'w' && t[k].kind != 's')
            last = fuzz_closing(t, n, k);
        for (int tries = 0; tries < 64 && (other == k || t[other].kind != t[k].kind); tries++)
            other = fuzz_random(seed, n);
        const size_t others = t[other].kind == t[k].kind ? fuzz_closing(t, n, other) : other;
        const size_t from = fuzz_random(seed, 2) ? other : k, to = from == k ? last : last > k ? others : other;
        const size_t bytes = t[to].end - t[from].at;
        uint8_t *own = malloc(bytes + 1);
        if (!own)
            exit(1);
        memcpy(own, data + t[from].at, bytes);
        const uint64_t kind = fuzz_random(seed, 4);
        if (kind == 0)
            out = fuzz_replace(data, size, most, t[k].at, t[last].end - t[k].at, NULL, 0);
        else if (kind == 1)
            out = fuzz_replace(data, size, most, t[last].end, 0, own, bytes);
        else
            out = fuzz_replace(data, size, most, t[k].at, t[last].end - t[k].at, own, bytes);
        free(own);
    }
    free(t);
    return out;
}

#endif
