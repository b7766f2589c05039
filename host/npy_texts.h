/* npy_texts.h - texts of NumPy's arrays and the codes that a model has for them (ir/graph/vocabulary.h).
 *
 *     AC_TRY(ac_npy_encode(cx, &array, t));        '<U5' [1,3] becomes '<i4' [1,3], if t holds texts
 *
 * Memory: the context's region. */
#ifndef AC_HOST_NPY_TEXTS_H
#define AC_HOST_NPY_TEXTS_H
#include "host/npy.h"

/* Replaces texts (NumPy types U and S) by codes of t's texts. Changes nothing if t or the array holds numbers. */
void ac_npy_encode(ac_ctx *cx, ac_npy *a, const ac_tensor *t);
/* Codes as an array of NumPy's type U. A code without a text becomes an empty text. */
void ac_npy_write_texts(ac_sink *to, const ac_vocabulary *w, int32_t rank, const int64_t *dim, const void *codes);

#endif
