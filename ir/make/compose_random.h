/* compose_random.h - random numbers for importers: uniform and normal ones, integers, and choices made by them.
 *
 * They come from operator RANDOM, which counts (ir/lower/nn/random.c): its numbers depend on the seed and the run, in
 * the state `random_numbers` of the graph, on the stream of the node, and on the element. Pass random sets the seed,
 * advances the run, and gives copies of one node (of unrolled loops) different streams. NULL gives NULL. */
#ifndef AC_IR_MAKE_COMPOSE_RANDOM_H
#define AC_IR_MAKE_COMPOSE_RANDOM_H
#include "ir/make/maker.h"

typedef struct ac_draw {
    ac_word kind; /* AC_W_UNIFORM: low <= v < high; AC_W_NORMAL; AC_W_TRUNCATED: at most 2 deviations from the mean */
    ac_dtype to;  /* f32, f64; f16, bf16: rounded from f32; i32, u32, i64, u64: uniform, all bits */
    double low, high, mean, deviation;
    ac_tensor *numbers; /* i32 [4]: seed (two words), run, 0. NULL: the state of the graph */
    int32_t stream;     /* 0: one of its own */
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
} ac_draw;

/* Uniform, f32, 0 <= v < 1, in the shape of `like` (NULL: a scalar). */
ac_draw ac_draw_like(const ac_tensor *like);
bool ac_draw_shape(ac_draw *d, ac_ints shape); /* sets the shape; false: it has too many dimensions */
ac_tensor *ac_make_random(const ac_maker *b, const ac_draw *d);
/* The stream of a seed in the file: nodes with one seed draw the same numbers. Never 0. */
int32_t ac_stream_of(uint64_t seed);
int32_t ac_stream_of_pair(uint64_t seed, uint64_t seed2); /* of TensorFlow's two seeds; both 0: 0, one of its own */
int32_t ac_stream_copy(int32_t stream, uint32_t copy);    /* of copies 1, 2 .. of a node with a seed */
/* The first value of the state `numbers`: this seed, run 0. */
void ac_numbers_begin(ac_ctx *cx, ac_tensor *numbers, uint64_t seed);
/* bool: true with probability p, an f32 or f64 tensor. */
ac_tensor *ac_make_bernoulli(const ac_maker *b, ac_tensor *p, int32_t stream);
/* low <= v < high, i64; both are i64 and broadcast to the shape of d. */
ac_tensor *ac_make_random_ints(const ac_maker *b, const ac_draw *d, ac_tensor *low, ac_tensor *high);
/* i32 [rows, count]: classes 0.., each with its share of the row's sum in p, f32 [rows, classes], all >= 0. */
ac_tensor *ac_make_choices(const ac_maker *b, ac_tensor *p, const int64_t dim[2], int64_t count, int32_t stream);
/* The rows of x (along dimension 0) in a random order. */
ac_tensor *ac_make_shuffled(const ac_maker *b, ac_tensor *x, int32_t stream);
/* Sets elements of x to zero with probability `ratio` and scales the others up. */
ac_tensor *ac_make_dropout(const ac_maker *b, ac_tensor *x, double ratio);

#endif
