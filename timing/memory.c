/* memory.c - blocks of known and unknown bytes with a journal; see memory.h. */
#include "timing/memory.h"

#include <stdlib.h>

ac_mem_block *ac_mem_add(ac_mem *m, uint32_t at, uint64_t bytes)
{
    if (m->n == AC_MEM_BLOCKS || !bytes || at + bytes > UINT64_C(0x100000000))
        return NULL;
    for (int32_t i = 0; i < m->n; i++)
        if (at < (uint64_t)m->block[i].at + m->block[i].bytes && m->block[i].at < at + bytes)
            return NULL;
    ac_mem_block *b = &m->block[m->n++];
    *b = (ac_mem_block){.at = at, .bytes = (uint32_t)bytes, .data = AC_NEW_N(m->region, uint8_t, bytes)};
    return b;
}

void ac_mem_forget(ac_mem *m, ac_mem_block *b)
{
    if (!b->unknown)
        b->unknown = AC_NEW_N(m->region, uint8_t, b->bytes);
    memset(b->unknown, 0xff, b->bytes);
    memset(b->data, 0, b->bytes);
}

ac_mem_block *ac_mem_find(ac_mem *m, uint32_t at, uint32_t bytes)
{
    for (int32_t k = 0; k <= m->n; k++) {
        const int32_t i = k ? k - 1 : m->last;
        ac_mem_block *b = &m->block[i];
        if (i < m->n && at >= b->at && at - b->at < b->bytes && b->bytes - (at - b->at) >= bytes) {
            m->last = i;
            return b;
        }
    }
    return NULL;
}

bool ac_mem_load(ac_mem *m, uint32_t at, uint32_t bytes, uint32_t *value, uint32_t *unknown)
{
    const ac_mem_block *b = ac_mem_find(m, at, bytes);
    if (!b)
        return false;
    const uint8_t *p = b->data + (at - b->at), *u = b->unknown ? b->unknown + (at - b->at) : NULL;
    *value = *unknown = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        *value |= (uint32_t)p[i] << (8 * i);
        *unknown |= u ? (uint32_t)u[i] << (8 * i) : 0;
    }
    return true;
}

static void put(ac_mem *m, ac_mem_block *b, uint32_t at, uint8_t byte, uint8_t unknown)
{
    const uint32_t i = at - b->at;
    if (m->marks)
        ac_push(m->region, &m->journal, ((ac_mem_change){at, b->data[i], b->unknown ? b->unknown[i] : 0}));
    if (unknown && !b->unknown)
        b->unknown = AC_NEW_N(m->region, uint8_t, b->bytes);
    b->data[i] = (uint8_t)(byte & ~unknown);
    if (b->unknown)
        b->unknown[i] = unknown;
}

bool ac_mem_store(ac_mem *m, uint32_t at, uint32_t bytes, uint32_t value, uint32_t unknown)
{
    ac_mem_block *b = ac_mem_find(m, at, bytes);
    if (!b || !b->writable)
        return false;
    for (uint32_t i = 0; i < bytes; i++)
        put(m, b, at + i, (uint8_t)(value >> (8 * i)), (uint8_t)(unknown >> (8 * i)));
    return true;
}

bool ac_mem_maybe_store(ac_mem *m, uint32_t at, uint32_t bytes, uint32_t value, uint32_t unknown)
{
    ac_mem_block *b = ac_mem_find(m, at, bytes);
    if (!b || !b->writable)
        return false;
    for (uint32_t i = 0; i < bytes; i++) {
        const uint32_t k = at + i - b->at;
        const uint8_t byte = (uint8_t)(value >> (8 * i)), bits = (uint8_t)(unknown >> (8 * i));
        put(m, b, at + i, byte, (uint8_t)(bits | (b->data[k] ^ byte) | (b->unknown ? b->unknown[k] : 0)));
    }
    return true;
}

int32_t ac_mem_mark(ac_mem *m)
{
    m->marks++;
    return m->journal.n;
}

static int by_address(const void *a, const void *b)
{
    const ac_mem_change *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static ac_mem_change current(ac_mem *m, uint32_t at)
{
    const ac_mem_block *b = ac_mem_find(m, at, 1);
    return (ac_mem_change){at, b->data[at - b->at], b->unknown ? b->unknown[at - b->at] : 0};
}

ac_mem_changes ac_mem_undo(ac_mem *m, int32_t mark, ac_region *r)
{
    ac_mem_changes was = {0};
    for (int32_t i = mark; i < m->journal.n; i++)
        ac_push(r, &was, current(m, m->journal.item[i].at));
    if (was.n)
        qsort(was.item, (size_t)was.n, sizeof *was.item, by_address);
    int32_t n = 0;
    for (int32_t i = 0; i < was.n; i++)
        if (!n || was.item[n - 1].at != was.item[i].at)
            was.item[n++] = was.item[i];
    was.n = n;
    m->marks--;
    while (m->journal.n > mark) {
        const ac_mem_change *c = &m->journal.item[--m->journal.n];
        ac_mem_block *b = ac_mem_find(m, c->at, 1);
        b->data[c->at - b->at] = c->byte;
        if (b->unknown)
            b->unknown[c->at - b->at] = c->unknown;
    }
    return was;
}

/* Writes down a byte of both ways. */
static void join_byte(ac_mem *m, ac_mem_change a, ac_mem_change b)
{
    put(m, ac_mem_find(m, a.at, 1), a.at, b.byte, a.unknown | b.unknown | (a.byte ^ b.byte));
}

void ac_mem_join(ac_mem *m, const ac_mem_changes *a, int32_t mark, ac_region *r)
{
    const ac_mem_changes b = ac_mem_undo(m, mark, r);
    int32_t i = 0, k = 0;
    while (i < a->n || k < b.n) {
        const bool mine = i < a->n && (k == b.n || a->item[i].at <= b.item[k].at);
        const bool other = k < b.n && (i == a->n || b.item[k].at <= a->item[i].at);
        const ac_mem_change x = mine ? a->item[i++] : current(m, b.item[k].at);
        join_byte(m, x, other ? b.item[k++] : current(m, x.at));
    }
}
