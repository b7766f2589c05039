/* rules.h - functions for cases that the table of operators (operators.def) cannot express; private to this folder.
 *
 * A rule is called after the options of an operator became attributes and its operands have been counted. The rule of a
 * TFL or CUSTOM_OP row changes operands and attributes; the node is created after it. The rule of a COMPOSED row
 * creates all nodes:
 *
 *     ac_maker b = ac_tfl_maker(r, n);                         the language of ir/make/maker.h
 *     ac_tensor *y = ac_make_2(&b, AC_OP_MUL, n->in[0], n->in[1]);
 *     return ac_tfl_result(n, 0, ac_make_1(&b, AC_OP_EXP, y));   y has the file's name and number
 *
 * Shapes of new tensors are unknown until pass infer, because the user may change those of the file (batch, --dim). So
 * a composition may depend on the rank of a tensor of the file and on sizes of constants; on sizes of other tensors
 * only if the meaning of the operator depends on them. */
#ifndef AC_IMPORT_TFLITE_RULES_H
#define AC_IMPORT_TFLITE_RULES_H
#include "import/build/attrs.h"
#include "import/tflite/tflite.h"

/* Fields of an operator's table in the file. */
enum { OP_OPTIONS_TYPE = 3, OP_OPTIONS, OP_CUSTOM_OPTIONS, OP_OPTIONS_2 = 12 };

typedef int ac_tfl_rule(ac_tfl *r, ac_tfl_node *n);
#define TFL(number, name, options, rule, why)          ac_tfl_rule ac_tfl_rule_##rule;
#define COMPOSED(number, name, options, of, rule, ...) ac_tfl_rule ac_tfl_rule_##rule;
#define CUSTOM_OP(name, rule)                          ac_tfl_rule ac_tfl_rule_##rule;
#define CUSTOM_COMPOSED(name, of, rule, ...)           ac_tfl_rule ac_tfl_rule_##rule;
#include "import/tflite/operators.def"

/* The node of the file itself, with all its results, by that operator. */
ac_node *ac_tfl_node_make(ac_tfl_node *n, ac_op op, ac_tensor *const *in, int32_t n_in,
                          const ac_attrs *attrs /* NULL: defaults */);

/* compose.c; custom.c has those of custom operators */
ac_maker ac_tfl_maker(ac_tfl *r, ac_tfl_node *n);
/* Sets y, created by a node of this operator and not used by another, as its result k. NULL: AC_FAIL. */
int ac_tfl_result(ac_tfl_node *n, int32_t k, ac_tensor *y);

/* user_custom.c: the row of custom operators that c computes. */
const ac_operator *ac_tfl_user_row(ac_ctx *cx, const ac_custom *c);

/* complex.c: the shape, which is that of a complex tensor in the file, gets its further dimension. */
int ac_tfl_complex_shape(ac_tfl *r, const ac_tfl_node *n, ac_ints *shape);

#endif
