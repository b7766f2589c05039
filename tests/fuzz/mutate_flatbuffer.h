/* mutate_flatbuffer.h - a mutator of flatbuffers without a schema. Tables are found from the root: a field that points
 * to a table, to a vector of tables, or to bytes is followed; then one field of one table is left out, has another
 * value, points to what a field of another table points to, or its vector has another length. */
#ifndef FUZZ_MUTATE_FLATBUFFER_H
#define FUZZ_MUTATE_FLATBUFFER_H
#include "tests/fuzz/mutate.h"

enum { FUZZ_TABLES = 2048 };

static uint32_t fuzz_u32(const uint8_t *p, size_t at)
{
    return (uint32_t)p[at] | (uint32_t)p[at + 1] << 8 | (uint32_t)p[at + 2] << 16 | (uint32_t)p[at + 3] << 24;
}

static uint32_t fuzz_u16(const uint8_t *p, size_t at)
{
    return (uint32_t)(p[at] | p[at + 1] << 8);
}

static void fuzz_put_u32(uint8_t *p, size_t at, uint32_t v)
{
    for (int k = 0; k < 4; k++)
        p[at + (size_t)k] = (uint8_t)(v >> 8 * k);
}

static void fuzz_put_u64(uint8_t *p, size_t at, uint64_t v)
{
    fuzz_put_u32(p, at, (uint32_t)v);
    fuzz_put_u32(p, at + 4, (uint32_t)(v >> 32));
}

/* The position of the vtable of the table at `at`; 0: invalid. */
static size_t fuzz_vtable(const uint8_t *p, size_t n, size_t at)
{
    if (at < 4 || at > n || n - at < 4)
        return 0;
    const int64_t v = (int64_t)at - (int32_t)fuzz_u32(p, at);
    if (v < 4 || v > (int64_t)n - 4)
        return 0;
    const uint32_t bytes = fuzz_u16(p, (size_t)v), own = fuzz_u16(p, (size_t)v + 2);
    return bytes < 4 || bytes % 2 || bytes > 256 || (size_t)v + bytes > n || own < 4 || own > n - at ? 0 : (size_t)v;
}

/* The target of the offset at `at`; 0: outside of the file. */
static size_t fuzz_target(const uint8_t *p, size_t n, size_t at)
{
    if (at > n || n - at < 4)
        return 0;
    const uint32_t by = fuzz_u32(p, at);
    return by < 4 || by > n - at || n - at - by < 4 ? 0 : at + by;
}

static size_t fuzz_add_table(const uint8_t *p, size_t n, size_t at, size_t *table, size_t k)
{
    for (size_t i = 0; i < k; i++)
        if (table[i] == at)
            return k;
    if (k < FUZZ_TABLES && fuzz_vtable(p, n, at))
        table[k++] = at;
    return k;
}

/* All tables that the root leads to. */
static size_t fuzz_tables(const uint8_t *p, size_t n, size_t *table)
{
    size_t k = fuzz_add_table(p, n, fuzz_target(p, n, 0), table, 0);
    for (size_t i = 0; i < k; i++) {
        const size_t v = fuzz_vtable(p, n, table[i]), fields = fuzz_u16(p, v);
        for (size_t f = 4; f < fields; f += 2) {
            const size_t to = fuzz_u16(p, v + f) ? fuzz_target(p, n, table[i] + fuzz_u16(p, v + f)) : 0;
            if (!to)
                continue;
            k = fuzz_add_table(p, n, to, table, k);
            const uint32_t count = fuzz_u32(p, to);
            for (uint32_t e = 0; e < count && e < 256 && to + 4 * e + 8 <= n; e++)
                k = fuzz_add_table(p, n, fuzz_target(p, n, to + 4 + 4 * (size_t)e), table, k);
        }
    }
    return k;
}

/* A field of some table: its place in the vtable and in the table; false: the table has none. */
static bool fuzz_table_field(const uint8_t *p, size_t n, const size_t *table, size_t k, uint64_t *seed, size_t *entry,
                             size_t *at)
{
    const size_t t = table[fuzz_random(seed, k)], v = fuzz_vtable(p, n, t), fields = (fuzz_u16(p, v) - 4) / 2;
    if (!fields)
        return false;
    *entry = v + 4 + 2 * fuzz_random(seed, fields);
    *at = t + fuzz_u16(p, *entry);
    return fuzz_u16(p, *entry) && *at + 4 <= n;
}

static inline size_t fuzz_mutate_flatbuffer(uint8_t *data, size_t size, size_t most, uint64_t *seed)
{
    static size_t table[FUZZ_TABLES];
    const size_t k = size >= 16 ? fuzz_tables(data, size, table) : 0;
    size_t entry, at, other_entry, other;
    (void)most;
    if (!k || !fuzz_table_field(data, size, table, k, seed, &entry, &at))
        return 0;
    const size_t to = fuzz_target(data, size, at);
    switch (fuzz_random(seed, 8)) {
    case 0: /* left out */
        data[entry] = data[entry + 1] = 0;
        return size;
    case 1: /* the value or target of another field */
        if (!fuzz_table_field(data, size, table, k, seed, &other_entry, &other))
            return 0;
        if (to && fuzz_target(data, size, other) > at)
            fuzz_put_u32(data, at, (uint32_t)(fuzz_target(data, size, other) - at));
        else
            memmove(data + at, data + other, 4);
        return size;
    case 6: /* the same in 64 bits: a field, or an element of a vector (bytes of constants, such as shapes) */
    case 7: {
        const size_t place = to && to + 12 <= size ? to + 4 + 8 * fuzz_random(seed, 4) : at;
        if (place + 8 > size)
            return 0;
        fuzz_put_u64(data, place, (uint64_t)fuzz_edge(seed, (int64_t)fuzz_u32(data, place)));
        return size;
    }
    case 2: /* length of a vector, or one of its first elements */
    case 3:
        if (to && to + 8 <= size) {
            const size_t place = to + 4 * fuzz_random(seed, 9);
            if (place + 4 > size)
                return 0;
            fuzz_put_u32(data, place, (uint32_t)fuzz_edge(seed, (int32_t)fuzz_u32(data, place)));
            return size;
        } /* fall through */
    case 4:
        data[at] = (uint8_t)fuzz_edge(seed, data[at]);
        return size;
    default:
        fuzz_put_u32(data, at, (uint32_t)fuzz_edge(seed, (int32_t)fuzz_u32(data, at)));
        return size;
    }
}

#endif
