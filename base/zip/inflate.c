/* inflate.c - DEFLATE by canonical codes: a code of `length` bits is decoded bit by bit from the counts of the codes of
 * each length, which needs no tables that a damaged stream could overflow. */
#include "base/zip/inflate.h"

#include <stdbool.h>
#include <string.h>

enum { MOST_BITS = 15, LITERALS = 288, DISTANCES = 32, END_OF_BLOCK = 256 };

typedef struct stream {
    const uint8_t *p;
    size_t n, at;
    uint32_t bits; /* read, but not used; the first in the lowest place */
    int32_t n_bits;
    bool ended; /* more bits were wanted than there are */
    uint8_t *to;
    size_t room, done;
} stream;

static uint32_t take(stream *s, int32_t n)
{
    while (s->n_bits < n) {
        s->ended |= s->at >= s->n;
        s->bits |= (uint32_t)(s->at < s->n ? s->p[s->at] : 0) << s->n_bits;
        s->at++;
        s->n_bits += 8;
    }
    const uint32_t v = s->bits & ((1u << n) - 1);
    s->bits >>= n;
    s->n_bits -= n;
    return v;
}

typedef struct codes {
    uint16_t count[MOST_BITS + 1]; /* by length */
    uint16_t symbol[LITERALS];     /* in the order of the codes */
} codes;

/* false: more codes of a length than fit. Codes may be missing. */
static bool read_lengths(codes *c, const uint8_t *length, int32_t n)
{
    uint16_t next[MOST_BITS + 2] = {0};
    int32_t left = 1;
    memset(c, 0, sizeof *c);
    for (int32_t i = 0; i < n; i++)
        c->count[length[i]]++;
    c->count[0] = 0;
    for (int32_t b = 1; b <= MOST_BITS; b++) {
        left = 2 * left - c->count[b];
        if (left < 0)
            return false;
        next[b + 1] = (uint16_t)(next[b] + c->count[b]);
    }
    for (int32_t i = 0; i < n; i++)
        if (length[i])
            c->symbol[next[length[i]]++] = (uint16_t)i;
    return true;
}

/* -1: no such code. */
static int32_t decode(stream *s, const codes *c)
{
    int32_t code = 0, first = 0, index = 0;
    for (int32_t b = 1; b <= MOST_BITS && !s->ended; b++) {
        code |= (int32_t)take(s, 1);
        const int32_t count = c->count[b];
        if (code - count < first)
            return c->symbol[index + code - first];
        index += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    return -1;
}

static const char *copy_stored(stream *s)
{
    s->bits = 0;
    s->n_bits = 0;
    if (s->n - s->at < 4 || s->at > s->n)
        return "it ends early";
    const uint32_t n = s->p[s->at] | (uint32_t)s->p[s->at + 1] << 8,
                   not_n = s->p[s->at + 2] | (uint32_t)s->p[s->at + 3] << 8;
    s->at += 4;
    if ((n ^ not_n) != 0xffff || n > s->n - s->at || n > s->room - s->done)
        return "a block has a wrong length";
    memcpy(s->to + s->done, s->p + s->at, n);
    s->at += n;
    s->done += n;
    return NULL;
}

static const char *copy_codes(stream *s, const codes *literal, const codes *distance)
{
    static const uint16_t LENGTH[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                      31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t LENGTH_BITS[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static const uint16_t DISTANCE[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                        33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                        1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    static const uint8_t DISTANCE_BITS[] = {0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                            6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};
    for (;;) {
        const int32_t v = decode(s, literal);
        if (v < 0 || v > 285)
            return "a code is unknown";
        if (v == END_OF_BLOCK)
            return NULL;
        if (v < END_OF_BLOCK) {
            if (s->done == s->room)
                return "it is longer than its directory says";
            s->to[s->done++] = (uint8_t)v;
            continue;
        }
        const size_t n = LENGTH[v - 257] + take(s, LENGTH_BITS[v - 257]);
        const int32_t d = decode(s, distance);
        if (d < 0 || d > 29)
            return "a code is unknown";
        const size_t back = DISTANCE[d] + take(s, DISTANCE_BITS[d]);
        if (back > s->done || n > s->room - s->done)
            return "a copy leaves the array";
        for (size_t i = 0; i < n; i++, s->done++)
            s->to[s->done] = s->to[s->done - back];
    }
}

static const char *copy_fixed(stream *s)
{
    uint8_t length[LITERALS];
    codes literal, distance;
    for (int32_t i = 0; i < LITERALS; i++)
        length[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    read_lengths(&literal, length, LITERALS);
    memset(length, 5, DISTANCES);
    read_lengths(&distance, length, 30);
    return copy_codes(s, &literal, &distance);
}

static const char *copy_dynamic(stream *s)
{
    static const uint8_t ORDER[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint8_t length[LITERALS + DISTANCES] = {0};
    codes literal, distance, lengths;
    const int32_t n_literal = (int32_t)take(s, 5) + 257, n_distance = (int32_t)take(s, 5) + 1,
                  n = (int32_t)take(s, 4) + 4;
    for (int32_t i = 0; i < n; i++)
        length[ORDER[i]] = (uint8_t)take(s, 3);
    if (n_literal > 286 || n_distance > 30 || !read_lengths(&lengths, length, 19))
        return "its codes are damaged";
    memset(length, 0, sizeof length);
    for (int32_t i = 0; i < n_literal + n_distance;) {
        const int32_t v = decode(s, &lengths);
        if (v < 0)
            return "its codes are damaged";
        if (v < 16) {
            length[i++] = (uint8_t)v;
            continue;
        }
        if (v == 16 && !i)
            return "its codes are damaged";
        const uint8_t again = v == 16 ? length[i - 1] : 0;
        int32_t times = v == 16   ? 3 + (int32_t)take(s, 2)
                        : v == 17 ? 3 + (int32_t)take(s, 3)
                                  : 11 + (int32_t)take(s, 7);
        if (i + times > n_literal + n_distance)
            return "its codes are damaged";
        while (times--)
            length[i++] = again;
    }
    if (!length[END_OF_BLOCK] || !read_lengths(&literal, length, n_literal) ||
        !read_lengths(&distance, length + n_literal, n_distance))
        return "its codes are damaged";
    return copy_codes(s, &literal, &distance);
}

const char *ac_inflate(ac_span from, uint8_t *to, size_t n)
{
    stream s = {.p = from.p, .n = from.n, .to = to, .room = n};
    for (bool last = false; !last;) {
        last = take(&s, 1) != 0;
        const uint32_t kind = take(&s, 2);
        const char *wrong = kind == 0   ? copy_stored(&s)
                            : kind == 1 ? copy_fixed(&s)
                            : kind == 2 ? copy_dynamic(&s)
                                        : "a block has an unknown kind";
        if (!wrong && s.ended)
            wrong = "it ends early";
        if (wrong)
            return wrong;
    }
    return s.done == n ? NULL : "it is shorter than its directory says";
}
