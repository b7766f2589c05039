/* mutate_protobuf.h - a mutator of protobuf messages without a schema: drops a field, duplicates it, swaps it with its
 * neighbour, or changes its value, and updates the lengths of all enclosing messages. Bytes that parse as fields to
 * their end are assumed to be a message. */
#ifndef FUZZ_MUTATE_PROTOBUF_H
#define FUZZ_MUTATE_PROTOBUF_H
#include "tests/fuzz/mutate.h"

typedef struct fuzz_field {
    size_t at, value, end; /* tag, content, one past it */
    uint32_t wire;
} fuzz_field;

enum { FUZZ_FIELDS = 4096, FUZZ_DEEP = 12 };

static bool fuzz_varint(const uint8_t *p, size_t n, size_t *at, uint64_t *v)
{
    *v = 0;
    for (int shift = 0; *at < n && shift < 64; shift += 7) {
        const uint8_t b = p[(*at)++];
        *v |= (uint64_t)(b & 127) << shift;
        if (b < 128)
            return true;
    }
    return false;
}

static size_t fuzz_put_varint(uint8_t *out, uint64_t v)
{
    size_t n = 0;
    for (; v > 127; v >>= 7)
        out[n++] = (uint8_t)(v | 128);
    out[n++] = (uint8_t)v;
    return n;
}

/* The fields of a message; -1: not a message. */
static int32_t fuzz_fields(const uint8_t *p, size_t n, fuzz_field *f)
{
    int32_t k = 0;
    for (size_t at = 0; at < n && k < FUZZ_FIELDS; k++) {
        uint64_t tag, v;
        f[k].at = at;
        if (!fuzz_varint(p, n, &at, &tag) || tag < 8 || tag > UINT32_MAX)
            return -1;
        f[k].wire = (uint32_t)(tag & 7);
        f[k].value = at;
        if (f[k].wire == 0 && !fuzz_varint(p, n, &at, &v))
            return -1;
        if (f[k].wire == 2) {
            if (!fuzz_varint(p, n, &at, &v) || v > n - at)
                return -1;
            f[k].value = at;
            at += (size_t)v;
        }
        if (f[k].wire == 1 || f[k].wire == 5)
            at += f[k].wire == 1 ? 8 : 4;
        if (at > n || f[k].wire == 3 || f[k].wire == 4 || f[k].wire > 5)
            return -1;
        f[k].end = at;
    }
    return k;
}

static size_t fuzz_message(uint8_t *data, size_t size, size_t most, uint64_t *seed, int deep);

/* The content of field f becomes data of n bytes, with its length before it. */
static size_t fuzz_set_bytes(uint8_t *data, size_t size, size_t most, const fuzz_field *f, const uint8_t *by, size_t n)
{
    uint8_t head[10];
    size_t at = f->at, tag_end;
    uint64_t tag;
    fuzz_varint(data, size, &at, &tag);
    tag_end = at;
    const size_t k = fuzz_put_varint(head, n);
    size = fuzz_replace(data, size, most, f->value, f->end - f->value, by, n);
    return size ? fuzz_replace(data, size, most, tag_end, f->value - tag_end, head, k) : 0;
}

/* Another value of the same kind. */
static size_t fuzz_change(uint8_t *data, size_t size, size_t most, const fuzz_field *f, uint64_t *seed, int deep)
{
    const size_t n = f->end - f->value;
    uint8_t number[10];
    if (f->wire == 0) {
        size_t at = f->value;
        uint64_t v;
        fuzz_varint(data, size, &at, &v);
        return fuzz_replace(data, size, most, f->value, n, number,
                            fuzz_put_varint(number, (uint64_t)fuzz_edge(seed, (int64_t)v)));
    }
    if (f->wire != 2) {
        const int64_t v = fuzz_edge(seed, 0);
        memcpy(data + f->value, &v, n);
        return size;
    }
    uint8_t *own = malloc(n + 64);
    if (!own)
        exit(1);
    if (n)
        memcpy(own, data + f->value, n);
    size_t m = n;
    fuzz_field *inner = malloc(FUZZ_FIELDS * sizeof *inner);
    if (!inner)
        exit(1);
    if (n > 1 && deep < FUZZ_DEEP && fuzz_fields(own, n, inner) > 0 && fuzz_random(seed, 8))
        m = fuzz_message(own, n, n + 64, seed, deep + 1);
    else if (n >= 8 && !fuzz_random(seed, 3)) { /* an i64 of a constant: a size, an index */
        const uint64_t v = (uint64_t)fuzz_edge(seed, own[0]);
        uint8_t *to = own + 8 * fuzz_random(seed, n / 8);
        for (int i = 0; i < 8; i++)
            to[i] = (uint8_t)(v >> 8 * i);
    } else if (n && fuzz_random(seed, 3))
        own[fuzz_random(seed, n)] = (uint8_t)fuzz_edge(seed, own[fuzz_random(seed, n)]);
    else
        m = n ? fuzz_random(seed, n) : 0;
    size = fuzz_set_bytes(data, size, most, f, own, m);
    free(inner);
    free(own);
    return size;
}

static size_t fuzz_message(uint8_t *data, size_t size, size_t most, uint64_t *seed, int deep)
{
    fuzz_field *f = malloc(FUZZ_FIELDS * sizeof *f);
    if (!f)
        exit(1);
    const int32_t n = fuzz_fields(data, size, f);
    size_t out = 0;
    if (n > 0) {
        const size_t k = fuzz_random(seed, (uint64_t)n), other = fuzz_random(seed, (uint64_t)n);
        const size_t bytes = f[k].end - f[k].at;
        uint8_t *own = malloc(bytes);
        if (!own)
            exit(1);
        memcpy(own, data + f[k].at, bytes);
        switch (fuzz_random(seed, 12)) {
        case 0:
            out = fuzz_replace(data, size, most, f[k].at, bytes, NULL, 0);
            break;
        case 1: /* a copy at another position */
            out = fuzz_replace(data, size, most, f[other].at, 0, own, bytes);
            break;
        case 2: /* in the place of another */
            out = fuzz_replace(data, size, most, f[other].at, f[other].end - f[other].at, own, bytes);
            break;
        default:
            out = fuzz_change(data, size, most, &f[k], seed, deep);
        }
        free(own);
    }
    free(f);
    return out;
}

static inline size_t fuzz_mutate_protobuf(uint8_t *data, size_t size, size_t most, uint64_t *seed)
{
    return fuzz_message(data, size, most, seed, 0);
}

#endif
