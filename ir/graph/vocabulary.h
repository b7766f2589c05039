/* vocabulary.h - the texts of a model. Tensors of strings hold integer codes (i32) instead: code k is text[k],
 * and all other texts have code n.
 *
 *     ac_vocabulary_code(w, "red", 3)     its code; w->n: it is another text
 *
 * One list serves all strings of a model, so two codes are equal if their texts are, except for code n. A tensor that
 * may hold code n refers to a list with `other` set (ac_vocabulary_pair). Memory: the context's region. */
#ifndef AC_IR_GRAPH_VOCABULARY_H
#define AC_IR_GRAPH_VOCABULARY_H
#include "base/ctx.h"

typedef struct ac_vocabulary {
    const char *const *text; /* UTF-8 in files of ONNX; sorted by their bytes, all different */
    int32_t n;
    bool other; /* code n may occur */
} ac_vocabulary;

/* The same texts for tensors that hold only known texts, and for those that may hold any. */
typedef struct ac_vocabulary_pair {
    ac_vocabulary known, any;
} ac_vocabulary_pair;

/* Sorts text[n] in place and removes repetitions. */
void ac_vocabulary_sort(ac_vocabulary_pair *p, const char **text, int32_t n);
/* size: bytes of the text, which needs no end. Cost: log n comparisons. */
int32_t ac_vocabulary_code(const ac_vocabulary *w, const char *text, size_t size);
bool ac_vocabulary_equal(const ac_vocabulary *a, const ac_vocabulary *b); /* NULL: numbers */

#endif
