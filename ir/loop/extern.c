/* extern.c - compares calls of functions of the user; see extern.h. */
#include "ir/loop/extern.h"

#include <string.h>

static bool same_bytes(const void *a, const void *b, size_t n)
{
    return !n || (a && b ? !memcmp(a, b, n) : a == b);
}

static bool same_tensor(const ac_extern_tensor *a, const ac_extern_tensor *b)
{
    const size_t rank = (size_t)a->rank, quant = (size_t)a->n_quant;
    return a->buf == b->buf && a->dtype == b->dtype && a->rank == b->rank && a->count == b->count &&
           a->n_quant == b->n_quant && a->axis == b->axis && same_bytes(a->dim, b->dim, rank * sizeof *a->dim) &&
           same_bytes(a->scale, b->scale, quant * sizeof *a->scale) &&
           same_bytes(a->zero, b->zero, quant * sizeof *a->zero);
}

static bool same_attr(const ac_extern_attr *a, const ac_extern_attr *b)
{
    const size_t n = (size_t)a->n;
    return a->n == b->n && same_bytes(a->i, b->i, n * sizeof *a->i) && same_bytes(a->f, b->f, n * sizeof *a->f) &&
           (a->text && b->text ? !strcmp(a->text, b->text) : a->text == b->text);
}

bool ac_extern_same(const ac_extern *a, const ac_extern *b)
{
    if (!a || !b)
        return a == b;
    bool same = !strcmp(a->function, b->function) && a->n_in == b->n_in && a->n_out == b->n_out &&
                a->n_attr == b->n_attr && a->n_options == b->n_options && a->scratch == b->scratch &&
                a->scratch_bytes == b->scratch_bytes && same_bytes(a->options, b->options, (size_t)a->n_options);
    for (int32_t i = 0; same && i < a->n_in; i++)
        same = same_tensor(&a->in[i], &b->in[i]);
    for (int32_t i = 0; same && i < a->n_out; i++)
        same = same_tensor(&a->out[i], &b->out[i]);
    for (int32_t i = 0; same && i < a->n_attr; i++)
        same = same_attr(&a->attr[i], &b->attr[i]);
    return same;
}

static void move(int32_t *buf, const int32_t *to)
{
    *buf = *buf < 0 ? -1 : to[*buf];
}

void ac_extern_move_buffers(ac_extern *e, const int32_t *to)
{
    for (int32_t i = 0; i < e->n_in; i++)
        move(&e->in[i].buf, to);
    for (int32_t i = 0; i < e->n_out; i++)
        move(&e->out[i].buf, to);
    move(&e->scratch, to);
}
