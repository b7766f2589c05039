/* labels.h - classes and scores of classifiers of ai.onnx.ml: classes by number or name, scores after their
 * transform.
 *
 *     ac_labels labels;
 *     AC_TRY(ac_onx_labels(n, &labels));                       classlabels_ints, classlabels_int64s or .._strings
 *     ac_onx_result(n, 0, ac_onx_labelled(n, &labels, ac_onx_greatest(n, scores)));
 *     ac_onx_result(n, 1, ac_onx_post(n, post_transform, scores));
 *
 * Names are codes (import/onnx/proto/texts.h). */
#ifndef AC_IMPORT_ONNX_ML_LABELS_H
#define AC_IMPORT_ONNX_ML_LABELS_H
#include "import/onnx/proto/onnx.h"

typedef struct ac_labels {
    int64_t n;
    ac_ints number; /* codes, if classes have names */
    bool names;
} ac_labels;

int ac_onx_labels(ac_onx_node *n, ac_labels *out);
ac_tensor *ac_onx_labelled(ac_onx_node *n, const ac_labels *labels, ac_tensor *index); /* [N]: i64, codes i32 */
ac_tensor *ac_onx_greatest(ac_onx_node *n, ac_tensor *scores); /* i64 [N]: the first of equal ones */
/* 1 where the second (or only) score is above `at`, else 0; i64 [N]. */
ac_tensor *ac_onx_second(ac_onx_node *n, ac_tensor *scores, double at);
/* NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO, PROBIT along the last dimension. */
ac_tensor *ac_onx_post(ac_onx_node *n, const char *post, ac_tensor *x);
/* The same of a regressor's targets: of one number ONNX Runtime makes no other transform than PROBIT. */
ac_tensor *ac_onx_post_targets(ac_onx_node *n, const char *post, ac_tensor *x);

#endif
