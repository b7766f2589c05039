/* depthwise.h - private to depthwise_conv_2d: its schedules for targets with DOT4, with halves of words, for GPUs. */
#ifndef AC_IR_LOWER_CONV_DEPTHWISE_H
#define AC_IR_LOWER_CONV_DEPTHWISE_H
#include "ir/lower/channel.h"
#include "ir/lower/window.h"

/* True if the int8 schedule of depthwise_dot.c applies and is worth its code size. */
bool ac_depthwise_dot_fits(const ac_lower *L, const ac_channel *c, const ac_window *win);
int ac_depthwise_dot(ac_lower *L, ac_channel *c, const ac_window *win);
/* depthwise_pairs.c: int8 on targets that multiply the halves of words; rows outermost, without copies. */
bool ac_depthwise_pairs_fits(const ac_lower *L, const ac_channel *c, const ac_window *win);
int ac_depthwise_pairs(ac_lower *L, ac_channel *c, const ac_window *win);
/* depthwise_columns.c: int8 on firmware targets without either; blocks of neighbouring columns. */
bool ac_depthwise_columns_fits(ac_lower *L, ac_channel *c, const ac_window *win);
int ac_depthwise_columns(ac_lower *L, ac_channel *c, const ac_window *win);
/* depthwise_gpu.c: tiles in shared memory; not for dynamic range. */
bool ac_gpu_depthwise_fits(const ac_lower *L, const ac_channel *c, const ac_window *win);
int ac_gpu_depthwise(ac_lower *L, ac_channel *c, const ac_window *win);
/* Opens the grid loop of a GPU over blocks of rows x columns x channels results; where the block begins. */
typedef struct ac_depthwise_block {
    ac_x n, c0, oy0, ox0; /* image; first output channel, row and column */
} ac_depthwise_block;
ac_depthwise_block ac_gpu_depthwise_blocks(ac_lower *L, const ac_window *win, int64_t rows, int64_t columns,
                                           int64_t channels);
/* Input positions that n output positions meet. */
static inline int64_t ac_depthwise_reach(const ac_slide *s, int64_t n)
{
    return (n - 1) * s->stride + ac_slide_reach(s);
}
/* True if bytes can be multiplied as they are, with the zero point in the bias. */
static inline bool ac_depthwise_by_bytes(const ac_channel *c)
{
    return c->kind == AC_MACS_I8 && !c->zw && ac_tensor_is_const(c->w) && ac_channel_known(c->bias);
}
/* depthwise_quads.c: the same of floats, four channels to a thread. */
bool ac_gpu_depthwise_quads_fits(const ac_lower *L, const ac_channel *c, const ac_window *win);
int ac_gpu_depthwise_quads(ac_lower *L, ac_channel *c, const ac_window *win);
/* depthwise_words.c: small ones of i8, in at most 8 blocks. */
bool ac_gpu_depthwise_words_fit(const ac_lower *L, const ac_channel *c, const ac_window *win);
int ac_gpu_depthwise_words(ac_lower *L, ac_channel *c, const ac_window *win);

#endif
