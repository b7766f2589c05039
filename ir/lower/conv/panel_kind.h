/* panel_kind.h - the interface of the kinds of panels; private to panel.c.
 *
 *     kind     for                                               tile                     line
 *     pairs    products of two halves (SMLAD)                    2 pixels x 4 channels    i16, in the order of SXTB16
 *     pairs    ... with a single position                         1 pixel x 4 channels     none: x in place
 *     words    products of words, many registers               4 pixels x 4 channels    i32, two pixels in a word
 *     plain    one product at a time                             by registers             i8, or none: x in place
 *     plain    ... with products of 32 bits, eight registers     1 pixel x 8 channels     u8, x + 128
 *
 * panel.c calls them in this order:
 *
 *     kind.prepare                              once: sizes, tables, buffers, weights
 *     for tile of positions:
 *       for r: open_pixel, put .., gathered     the window of each position goes to the line
 *       kind.pack
 *       for oc: kind.block                      sums of a block of channels, finished and stored
 *       kind.finish
 */
#ifndef AC_IR_LOWER_CONV_PANEL_KIND_H
#define AC_IR_LOWER_CONV_PANEL_KIND_H
#include "ir/lower/channel.h"
#include "ir/lower/window.h"

struct ac_panel;
struct ac_panel_place;

typedef struct ac_panel_kind {
    /* i8, constant weights and bias. depth: products of an output. */
    bool (*fits)(const ac_lower *L, const ac_channel *c, int64_t depth);
    /* positions: of an image, or of a row of it. NULL: any number is as good. */
    bool (*suits)(int64_t positions);
    void (*prepare)(struct ac_panel *p, int64_t positions);
    void (*open_pixel)(const struct ac_panel *p, ac_x r);
    /* Units `begin` .. end - 1 of x, counted from `base` (from -1: zero points), become units begin + shift .. of pixel
     * r in the line of a tile of `pixels`. */
    void (*put)(const struct ac_panel *p, int32_t from, ac_x base, ac_x begin, ac_x end, ac_x shift, ac_x r,
                int32_t pixels);
    /* The same for a row of taps that is inside, if windows are gathered in bytes; false: use put. May be NULL. */
    bool (*put_run)(const struct ac_panel *p, ac_x base, ac_x begin, ac_x shift);
    /* ... before and after all of pixel r; may be NULL */
    void (*gathered)(const struct ac_panel *p, ac_x r, int32_t pixels);
    /* Before the pixels of a tile are gathered. True: it has opened a block for that, after one that gathers all of
     * them at once. May be NULL. */
    bool (*open_tile)(const struct ac_panel_place *to);
    /* ... once all pixels are gathered, or none are since x is read in place; may be NULL. Then tiles are whole. */
    void (*pack)(const struct ac_panel_place *to);
    /* Positions to.first + begin .. end - 1, which are rows begin .. of the tile; channels from oc on. */
    void (*block)(const struct ac_panel_place *to, int32_t pixels, ac_x begin, ac_x end, ac_x oc);
    /* ... after all channels of them; may be NULL */
    void (*finish)(const struct ac_panel_place *to, ac_x begin, ac_x end);
} ac_panel_kind;
extern const ac_panel_kind ac_panel_pairs, ac_panel_words, ac_panel_plain;

/* Numbers of the shape as values that are never folded: kernels of all shapes have the same instructions. */
typedef struct ac_panel_numbers {
    ac_x rows, columns; /* of the input */
    ac_x stride_y, stride_x, dil_y, dil_x, pad_y, pad_x, taps_y, taps_x;
    ac_x reach_y, reach_x;     /* from the first position of a window to one after its last */
    ac_x tap_units, run_units; /* units of a tap, of a row of taps: steps, or bytes */
    ac_x row_units;            /* of a row of the input */
    ac_x image_units, units;   /* of an image, of a window */
    ac_x out_columns, positions, steps, channels, block_bytes;
} ac_panel_numbers;

typedef struct ac_panel {
    ac_lower *L;
    ac_channel *c;
    const ac_panel_kind *kind;
    ac_window win; /* of a matrix: its rows are pixels of one row, taps 1 x 1 */
    int64_t depth; /* products of an output */
    /* prepare: */
    int32_t step;             /* products of a step of the inner loop, for each row and channel */
    int64_t steps;            /* ... all of them, padded with zeros in the last step */
    int32_t unit;             /* elements to copy at a time; a divisor of a tap's channels */
    int32_t channels, pixels; /* of the largest tile */
    int32_t x, w, line, acc;
    int32_t bytes; /* pairs: the buffer of a window in bytes; -1 */
    int32_t rows;  /* pairs, words: the buffer of a tile's values before fused operators, i8 [pixel][channel]; -1 */
    bool in_place; /* x is read in place, `line` is x */
    bool biased;   /* plain: bytes are unsigned, 128 more */
    ac_x sum;      /* ... then a variable: the sum of a pixel's */
    int64_t k_step, r_step; /* plain: element k + u of pixel r, u < step, is element k * k_step + r * r_step + u */
    ac_panel_numbers k;
} ac_panel;

/* Positions of a tile: number `first` + r, of `positions` of the image, or of row oy. */
typedef struct ac_panel_place {
    const ac_panel *p;
    ac_x n, oy; /* oy 0: pixels are numbered over the image */
    ac_x first;
} ac_panel_place;

/* Image, row and column of position i. */
void ac_panel_position(const ac_panel_place *to, ac_x i, ac_x *at);
/* Weight k of channel oc, i32, in the loops of P that pack them; zero outside. */
ac_x ac_panel_weight(ac_lower *P, const ac_panel *p, ac_x oc, ac_x k);
/* The requantised value of `channel`, from its sum of products; the result of position i that is made of it. */
ac_x ac_panel_done(const ac_panel *p, ac_x channel, ac_x acc);
void ac_panel_store_done(const ac_panel_place *to, ac_x i, ac_x channel, ac_x done);
/* Both. */
void ac_panel_store(const ac_panel_place *to, ac_x i, ac_x channel, ac_x acc);
/* Fused operators of all channels, in a loop of their own, from p->rows if there is one: the function for the loop
 * before (codegen/dsp/rows.h) has none. */
void ac_panel_finish_rows(const ac_panel_place *to, ac_x begin, ac_x end);
/* Windows are the pixels of x in their order; the first element of position to->first then. */
bool ac_panel_reads_pixels(const ac_panel *p);
ac_x ac_panel_first(const ac_panel_place *to);

#endif
