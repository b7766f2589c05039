/* texts.h - strings of ONNX files become codes of one list, ac_vocabulary: all texts of constants and attributes,
 * sorted.
 *
 *     AC_TRY(ac_onx_text_codes(r, at, list, &code));       i32, one for each text of the list
 *     ac_onx_text(r, y)                               y holds codes of texts that the list has
 *
 * The list is known when all nodes have been read. So the first run over the file collects the texts, with codes that
 * have no meaning, and the nodes are created again (ac_reading.repeat) with the complete list. */
#ifndef AC_IMPORT_ONNX_PROTO_TEXTS_H
#define AC_IMPORT_ONNX_PROTO_TEXTS_H
#include "import/onnx/proto/onnx.h"

void ac_onx_texts_begin(ac_onx *r); /* before the file is read: adds the texts of the last run to the list */
void ac_onx_texts_end(ac_onx *r);   /* after the nodes: requests another run if there were new texts */
/* AC_FAIL: a text is not UTF-8, or has a zero byte (reported). */
int ac_onx_text_code(ac_onx *r, ac_place at, ac_span text, int64_t *code);
int ac_onx_text_codes(ac_onx *r, ac_place at, ac_pb_list list, int64_t *code);
/* The list as it is now; texts found in this run are not in it. */
const ac_vocabulary *ac_onx_words(const ac_onx *r, bool any);
/* Marks t as codes of texts of the model; `any`: of any texts. t; NULL stays NULL. */
ac_tensor *ac_onx_text(const ac_onx *r, ac_tensor *t, bool any);
/* Constant codes as i32 [count] */
ac_tensor *ac_onx_coded(ac_onx_node *n, int64_t count, const int64_t *code);
/* ../ml/category_nodes.c: a Cast of texts, or to them. */
int ac_onx_cast_text(ac_onx_node *n, bool to_text);

#endif
