/* compose_random.c - random numbers from operators RANDOM and DROPOUT; see compose_random.h. */
#include "ir/make/compose_random.h"

#define MAKER b
#include "ir/make/formula.h"

#include <math.h>
#include <string.h>

/* The state of the graph that counts; one for all its nodes. */
static ac_tensor *numbers_of(const ac_maker *b)
{
    static const char NAME[] = "random_numbers";
    static const int64_t WORDS = 4;
    for (int32_t i = 0; i < b->g->tensor.n; i++) {
        ac_tensor *t = b->g->tensor.item[i];
        if (t->state && t->dtype == AC_I32 && t->rank == 1 && t->dim[0] == WORDS &&
            !strncmp(t->name, NAME, sizeof NAME - 1))
            return t;
    }
    ac_tensor *t = ac_tensor_new(b->g, NAME, AC_I32, 1, &WORDS);
    t->state = true;
    return t;
}

void ac_numbers_begin(ac_ctx *cx, ac_tensor *numbers, uint64_t seed)
{
    const int32_t first[] = {(int32_t)(uint32_t)seed, (int32_t)(uint32_t)(seed >> 32), 0, 0};
    numbers->data = ac_copy(cx->region, first, sizeof first);
}

/* Streams of seeds are negative, those of nodes positive. */
static int32_t own_stream(const ac_maker *b)
{
    return b->g->next_node + 1;
}

int32_t ac_stream_of(uint64_t seed)
{
    seed = (seed ^ seed >> 31) * 0x9E3779B97F4A7C15u;
    return (int32_t)(seed >> 33) - INT32_MAX - 1;
}

int32_t ac_stream_of_pair(uint64_t seed, uint64_t seed2)
{
    return seed || seed2 ? ac_stream_of(seed ^ seed2 << 32 ^ seed2 >> 32) : 0;
}

int32_t ac_stream_copy(int32_t stream, uint32_t copy)
{
    return ac_stream_of((uint64_t)copy << 32 | (uint32_t)stream);
}

ac_draw ac_draw_like(const ac_tensor *like)
{
    ac_draw d = {.kind = AC_W_UNIFORM, .to = AC_F32, .high = 1, .deviation = 1, .rank = like ? like->rank : 0};
    if (like)
        memcpy(d.dim, like->dim, sizeof d.dim);
    return d;
}

bool ac_draw_shape(ac_draw *d, ac_ints shape)
{
    if (shape.n > AC_MAX_RANK)
        return false;
    d->rank = shape.n;
    if (shape.n > 0)
        memcpy(d->dim, shape.v, (size_t)shape.n * sizeof *shape.v);
    return true;
}

ac_tensor *ac_make_random(const ac_maker *b, const ac_draw *d)
{
    const bool half = ac_dtype_is_half(d->to);
    ac_tensor *numbers = d->numbers ? d->numbers : numbers_of(b);
    ac_attrs a;
    ac_attrs_init(AC_OP_RANDOM, &a);
    a.random.kind = d->kind;
    a.random.to = half ? AC_F32 : d->to;
    a.random.low = (float)d->low;
    a.random.high = (float)d->high;
    a.random.mean = (float)d->mean;
    a.random.deviation = (float)d->deviation;
    a.random.stream = d->stream ? d->stream : own_stream(b);
    a.random.shape = ac_make_list(b, d->rank, d->dim);
    ac_tensor *y = ac_make_op(b, AC_OP_RANDOM, &numbers, 1, &a, a.random.to);
    return half ? ac_make_cast(b, y, d->to) : y;
}

ac_tensor *ac_make_bernoulli(const ac_maker *b, ac_tensor *p, int32_t stream)
{
    ac_draw d = ac_draw_like(p);
    if (!p)
        return NULL;
    d.to = p->dtype;
    d.stream = stream;
    return LESS(ac_make_random(b, &d), p);
}

ac_tensor *ac_make_random_ints(const ac_maker *b, const ac_draw *d, ac_tensor *low, ac_tensor *high)
{
    ac_draw bits = *d;
    bits.kind = AC_W_UNIFORM;
    bits.to = AC_I64;
    if (!low || !high)
        return NULL;
    ac_tensor *range = SUB(high, low), *v = ac_make_random(b, &bits);
    return ADD(OP2(FLOOR_MOD, v, range), low); /* the remainder of a negative number is not negative */
}

/* As ac_make_reduce, of an x whose rank importers need not know yet. */
static ac_tensor *along(const ac_maker *b, ac_op op, ac_tensor *x, int64_t axis, bool keep)
{
    ac_attrs a;
    ac_attrs_init(op, &a);
    a.reduce.axes = ac_make_list(b, 1, &axis);
    a.reduce.keep_dims = keep;
    return x ? ac_make_op(b, op, &x, 1, &a, AC_NONE) : NULL;
}

/* A class is the number of classes before it: those whose sums, added up, are not above u * the sum of all. Classes
 * from the last one above 0 on do not count, since u * sum may be rounded up to the sum. */
ac_tensor *ac_make_choices(const ac_maker *b, ac_tensor *p, const int64_t dim[2], int64_t count, int32_t stream)
{
    ac_draw d = ac_draw_like(NULL);
    d.stream = stream;
    d.rank = 3;
    memcpy(d.dim, (int64_t[]){dim[0], count, 1}, 3 * sizeof *d.dim);
    ac_tensor *sums = OP2(CUMSUM, p, ac_make_number(b, AC_I32, 1));
    ac_tensor *all = along(b, AC_OP_REDUCE_MAX, sums, 1, true), *infinite = F32((double)INFINITY);
    sums = ac_make_reshape(b, WHERE(LESS(sums, all), sums, infinite), 3, (int64_t[]){dim[0], 1, dim[1]});
    ac_tensor *at = ac_make_random(b, &d);
    at = MUL(at, ac_make_reshape(b, all, 3, (int64_t[]){dim[0], 1, 1}));
    ac_tensor *passed = ac_make_cast(b, OP2(LESS_EQUAL, sums, at), AC_I32);
    return along(b, AC_OP_SUM, passed, 2, false);
}

ac_tensor *ac_make_shuffled(const ac_maker *b, ac_tensor *x, int32_t stream)
{
    ac_draw d = ac_draw_like(NULL);
    if (!x || x->rank < 1)
        return x;
    d.stream = stream;
    d.rank = 1;
    d.dim[0] = x->dim[0];
    ac_tensor *in[] = {ac_make_random(b, &d), ac_make_number(b, AC_I32, (double)x->dim[0])};
    ac_node *sorted = in[0] ? ac_make_node(b, AC_OP_TOPK_V2, in, 2, NULL, 2) : NULL;
    if (!sorted || ac_make_resolve(b, sorted) != AC_OK)
        return NULL;
    return OP2(GATHER, x, sorted->out[1]);
}

ac_tensor *ac_make_dropout(const ac_maker *b, ac_tensor *x, double ratio)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_DROPOUT, &a);
    a.dropout.ratio = (float)ratio;
    a.dropout.stream = b->g->next_node;
    ac_tensor *in[] = {x, numbers_of(b)};
    return x ? ac_make_op(b, AC_OP_DROPOUT, in, 2, &a, AC_NONE) : NULL;
}
