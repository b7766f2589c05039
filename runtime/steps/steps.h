/* steps.h - inputs of single steps, and hashes of their results: the same code in the tool, for its evaluator, and in
 * the program that a user's compiler builds (steps.c).
 *
 *     step_fill(memory + o->offset, o, STEP_RANDOM, seed);        before the step, for each operand that it reads
 *     h = step_hash(memory + o->offset, o);                       after it, for each that it writes
 *
 * Values are those of elements, not bytes in memory: both orders of bytes give one hash. C99, no library.
 *
 *     step_poison(memory + r->begin, r->begin, r->end, seed);     before the step, for each range that is STEP_DEAD
 *     sum = step_sum(memory + r->begin, r->end - r->begin);       before and after, for each that is STEP_KEPT */
#ifndef STEPS_H
#define STEPS_H
#include <stdint.h>
#include <string.h>

enum { STEP_READ = 1, STEP_WRITTEN = 2, STEP_DIMS = 4 };

/* A tensor, or a part of one, that a step reads or writes. */
typedef struct step_operand {
    uint8_t memory;                           /* which one, as the program numbers them */
    uint8_t bytes;                            /* of an element: 1, 2, 4, 8 */
    uint8_t use;                              /* STEP_READ, STEP_WRITTEN or both */
    uint32_t offset, count;                   /* in bytes; elements */
    int64_t lo, hi;                           /* values that the type has */
    uint32_t dim[STEP_DIMS], tile[STEP_DIMS]; /* extents, innermost last; of a tile that repeats over them */
    uint32_t tiles;                           /* 0: none */
    const uint8_t *bits;                      /* tile after tile: 1 for an element that is hi, 0 for lo */
} step_operand;

/* Bytes begin..end of a memory that hold no value before a step, or that it may not write, or both. */
enum { STEP_DEAD = 1, STEP_KEPT = 2 };
typedef struct step_range {
    uint8_t memory, use;
    uint32_t begin, end;
} step_range;

/* How the values are chosen. */
typedef enum step_kind {
    STEP_KEEP,     /* as they are: the step is not tested by itself */
    STEP_TILE,     /* signs of weights: sums as large as they can be */
    STEP_ANTITILE, /* ... as small */
    STEP_EXTREMES, /* lo or hi, at random */
    STEP_RANDOM,
    STEP_RAMP, /* consecutive */
    STEP_LOW,
    STEP_HIGH,
    STEP_MIDDLE, /* a few around the middle */
    STEP_ZERO,   /* 0, or lo where that is above */
    STEP_KINDS
} step_kind;

static inline uint32_t step_next(uint32_t *s) /* xorshift32 (Marsaglia 2003) */
{
    *s ^= *s << 13;
    *s ^= *s >> 17;
    *s ^= *s << 5;
    return *s;
}

static inline uint32_t step_seed(uint32_t set, uint32_t operand) /* of a step */
{
    uint32_t s = set * 2654435761u ^ (operand + 1) * 2246822519u;
    s ^= s >> 15;
    return s * 3266489917u;
}

static inline void step_put(uint8_t *to, uint32_t bytes, uint64_t x)
{
    const uint8_t x1 = (uint8_t)x;
    const uint16_t x2 = (uint16_t)x;
    const uint32_t x4 = (uint32_t)x;
    memcpy(to,
           bytes == 1   ? (const void *)&x1
           : bytes == 2 ? (const void *)&x2
           : bytes == 4 ? (const void *)&x4
                        : (const void *)&x,
           bytes);
}

static inline uint64_t step_get(const uint8_t *from, uint32_t bytes)
{
    uint16_t x2;
    uint32_t x4;
    uint64_t x8;
    switch (bytes) {
    case 1:
        return *from;
    case 2:
        memcpy(&x2, from, 2);
        return x2;
    case 4:
        memcpy(&x4, from, 4);
        return x4;
    default:
        memcpy(&x8, from, 8);
        return x8;
    }
}

/* Is element i of the tensor high in a tile? Tiles start at a place that the seed chooses. */
static inline int step_tile_bit(const step_operand *o, uint32_t i, uint32_t seed)
{
    uint32_t tile = 1, at = 0, d;
    for (d = 0; d < STEP_DIMS; d++)
        tile *= o->tile[d];
    for (d = STEP_DIMS; d-- > 0; i /= o->dim[d]) {
        uint32_t k, below = 1;
        for (k = d + 1; k < STEP_DIMS; k++)
            below *= o->tile[k];
        at += (i % o->dim[d] + (d + 1 < STEP_DIMS ? seed >> (8 + d) : 0)) % o->tile[d] * below;
    }
    at += seed % o->tiles * tile;
    return o->bits[at / 8] >> at % 8 & 1;
}

static inline uint64_t step_random(const step_operand *o, uint32_t *s)
{
    const uint64_t values = (uint64_t)o->hi - (uint64_t)o->lo + 1; /* 0: all of 64 bits */
    uint64_t x;
    if (values && values <= 0x10000u)
        return (uint64_t)o->lo + (step_next(s) >> 8) % (uint32_t)values;
    x = step_next(s);
    x = x << 32 | step_next(s);
    return (uint64_t)o->lo + (values ? x % values : x);
}

static inline void step_fill(uint8_t *to, const step_operand *o, uint32_t kind, uint32_t seed)
{
    const uint64_t lo = (uint64_t)o->lo, hi = (uint64_t)o->hi;
    const uint64_t middle = o->lo < 0 ? 0 : lo + ((hi - lo) >> 1);
    uint32_t s = seed ? seed : 1, i;
    if ((kind == STEP_TILE || kind == STEP_ANTITILE) && !o->tiles)
        kind = STEP_RANDOM;
    for (i = 0; i < o->count; i++) {
        uint64_t x = lo;
        switch (kind) {
        case STEP_TILE:
        case STEP_ANTITILE:
            x = step_tile_bit(o, i, seed) == (kind == STEP_TILE) ? hi : lo;
            break;
        case STEP_EXTREMES:
            x = step_next(&s) & 0x100u ? hi : lo;
            break;
        case STEP_RANDOM:
            x = step_random(o, &s);
            break;
        case STEP_RAMP:
            x = lo + (hi - lo == UINT64_MAX ? i : i % (hi - lo + 1));
            break;
        case STEP_HIGH:
            x = hi;
            break;
        case STEP_MIDDLE:
            x = hi - lo < 16 ? step_random(o, &s) : middle + (step_next(&s) >> 8) % 9u - 4u;
            break;
        case STEP_ZERO:
            x = o->lo > 0 ? lo : 0;
            break;
        default:
            break;
        }
        step_put(to + (size_t)i * o->bytes, o->bytes, x);
    }
}

/* A pattern that differs from byte to byte and, by seed, from step to step. */
static inline uint8_t step_pattern(uint32_t offset, uint32_t seed)
{
    return (uint8_t)(0xa5u + 0x3bu * seed + 0x25u * offset);
}

static inline void step_poison(uint8_t *to, uint32_t begin, uint32_t end, uint32_t seed)
{
    for (; begin < end; begin++)
        *to++ = step_pattern(begin, seed);
}

/* The first of n bytes that is not of the pattern; n: all are. */
static inline uint32_t step_changed(const uint8_t *at, uint32_t begin, uint32_t n, uint32_t seed)
{
    uint32_t i = 0;
    while (i < n && at[i] == step_pattern(begin + i, seed))
        i++;
    return i;
}

static inline uint32_t step_sum(const uint8_t *at, uint32_t n) /* FNV-1a of words, then of the bytes left */
{
    uint32_t h = 2166136261u, x;
    for (; n >= 4; at += 4, n -= 4) {
        memcpy(&x, at, 4);
        h = (h ^ x) * 16777619u;
        h ^= h >> 15;
    }
    for (; n; n--)
        h = (h ^ *at++) * 16777619u;
    return h;
}

static inline uint32_t step_hash(const uint8_t *at, const step_operand *o) /* FNV-1a of the values, low bytes first */
{
    uint32_t h = 2166136261u, i, k;
    for (i = 0; i < o->count; i++) {
        uint64_t x = step_get(at + (size_t)i * o->bytes, o->bytes);
        for (k = 0; k < o->bytes; k++, x >>= 8)
            h = (h ^ (uint32_t)(x & 0xffu)) * 16777619u;
    }
    return h;
}

#endif
