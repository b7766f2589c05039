/* arn_tree.c - a sum by a fixed tree; see arn_tree.h. */
#include "arn_tree.h"

#include <string.h>

int32_t arn_tree_levels(int32_t leaves)
{
    int32_t n = 0;
    while (leaves > 1 && n < 31 && (1 << n) < leaves)
        n++;
    return n;
}

/* The process that makes leaf k. */
static int32_t owner(const struct arn_tree *t, int32_t k)
{
    return t->ranks ? (int32_t)((int64_t)k * t->ranks->n / t->leaves) : 0;
}

/* Does this process have to do with leaves lo .. hi - 1? */
static int concerns(const struct arn_tree *t, int32_t lo, int32_t hi)
{
    const int32_t rank = t->ranks ? t->ranks->rank : 0;
    return owner(t, lo) <= rank && rank <= owner(t, hi - 1);
}

static int sum(const struct arn_tree *t, int32_t lo, int32_t hi, float *room);

/* Leaves mid .. hi - 1 are added to what `room` holds, which owner(lo) has. */
static int add_right(const struct arn_tree *t, int32_t lo, int32_t mid, int32_t hi, float *room)
{
    const int32_t rank = t->ranks ? t->ranks->rank : 0, left = owner(t, lo), right = owner(t, mid);
    int status = concerns(t, mid, hi) ? sum(t, mid, hi, room + t->count) : 0;
    if (!status && rank == right && left != right)
        status = t->ranks->send(t->ranks->with, left, t->block, t->count);
    if (status || rank != left)
        return status;
    if (left != right)
        status = t->ranks->receive(t->ranks->with, right, t->block, t->count);
    for (size_t i = 0; i < t->count && !status; i++)
        t->block[i] = room[i] + t->block[i];
    return status;
}

/* The sum of leaves lo .. hi - 1 into the block of owner(lo). */
static int sum(const struct arn_tree *t, int32_t lo, int32_t hi, float *room)
{
    int32_t half = 1;
    int status = 0;
    if (hi - lo == 1)
        return t->leaf(t->with, lo);
    while (half * 2 < hi - lo)
        half *= 2;
    if (concerns(t, lo, lo + half))
        status = sum(t, lo, lo + half, room);
    memcpy(room, t->block, t->count * sizeof *room);
    return status ? status : add_right(t, lo, lo + half, hi, room);
}

int arn_tree_sum(const struct arn_tree *t)
{
    const int status = concerns(t, 0, t->leaves) ? sum(t, 0, t->leaves, t->room) : 0;
    return !status && t->ranks ? t->ranks->share(t->ranks->with, t->block, t->count) : status;
}
