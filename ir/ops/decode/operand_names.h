/* operand_names.h - names the operands of operators that have many, and derives values that several layers need from
 * them. */
#ifndef AC_IR_OPS_DECODE_OPERAND_NAMES_H
#define AC_IR_OPS_DECODE_OPERAND_NAMES_H
#include "ir/graph/graph.h"

/* UNIDIRECTIONAL_SEQUENCE_LSTM: x; weights of x and of the hidden state, and biases, one for each gate (input, forget,
 * cell, output); states. The additional operands of peepholes, projections and layer norms are refused. */
enum {
    AC_LSTM_X = 0,
    AC_LSTM_W = 1,
    AC_LSTM_R = 5,
    AC_LSTM_PEEPHOLE = 9,
    AC_LSTM_BIAS = 12,
    AC_LSTM_PROJECTION = 16,
    AC_LSTM_HIDDEN = 18,
    AC_LSTM_CELL = 19,
    AC_LSTM_NORM = 20,
    AC_LSTM_GATES = 4
};
/* Batch, steps and inputs of x. */
static inline void ac_lstm_sizes(const ac_node *n, int64_t *batch, int64_t *steps, int64_t *inputs)
{
    const ac_tensor *x = n->in[AC_LSTM_X];
    *batch = x->dim[n->attrs.lstm.time_major ? 1 : 0];
    *steps = x->dim[n->attrs.lstm.time_major ? 0 : 1];
    *inputs = x->dim[2];
}

enum { AC_SVDF_X, AC_SVDF_W, AC_SVDF_TIME, AC_SVDF_BIAS, AC_SVDF_STATE };

enum { AC_DETECTION_ENCODINGS, AC_DETECTION_SCORES, AC_DETECTION_ANCHORS };

enum { AC_SSD_LOCATIONS, AC_SSD_SCORES, AC_SSD_PRIORS };
enum { AC_SSD_CORNER = 1, AC_SSD_CENTER_SIZE, AC_SSD_CORNER_SIZE }; /* code_type */
enum { AC_SSD_ROW = 7 }; /* numbers of a row of the result: image, class, score, left, top, right, bottom */
/* The number of boxes that NMS considers for each class. */
static inline int64_t ac_ssd_candidates(const ac_node *n)
{
    const int64_t priors = n->in[AC_SSD_PRIORS]->dim[2] / 4, top = n->attrs.ssd.top_k;
    return top >= 0 && top < priors ? top : priors;
}

/* SIGNAL_FILTER_BANK: energies, weights of the rising and of the falling sides; where bands and their weights start,
 * how long they are. */
enum { AC_BANK_X, AC_BANK_W, AC_BANK_UN, AC_BANK_START, AC_BANK_WSTART, AC_BANK_WIDTH };

#endif
