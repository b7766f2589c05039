/* operands.h - shares the steps of adapters of all formats for a node of the file: checks the number of operands, reads
 * constant values, and refuses unsupported forms. The node is represented by its ac_maker.
 *
 *     AC_TRY(ac_operand_count(b, row, n->n_in, "operands"));
 *     AC_TRY(ac_operand_values(b, &n->in[1], &shape));         a constant list of integers
 *     if (shape.n > AC_MAX_RANK)
 *         return ac_cannot(b, "the new shape has %d dimensions", shape.n);
 *
 * An operand may become constant only by specialising: by computing it from values that the caller gives for inputs
 * (ac_tensor.given). */
#ifndef AC_IMPORT_BUILD_OPERANDS_H
#define AC_IMPORT_BUILD_OPERANDS_H
#include "ir/make/maker.h"
#include "import/build/reading.h"

/* Refuses this form of the node's operator; AC_FAIL. Silent after an attribute was reported (attrs.h), since that one
 * reads as its default, and what follows from it may be wrong. */
int ac_cannot(const ac_maker *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Reports operands that do not match: E0104; AC_FAIL. Silent like ac_cannot. */
int ac_bad(const ac_maker *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Checks the number of operands (`what` in the message) against the row; E0102. */
int ac_operand_count(const ac_maker *b, const ac_operator *row, int32_t n_in, const char *what);
/* Converts f16 and bf16 operands to f32, and sets *half, if it is AC_NONE, to the type of the first one. */
int ac_operand_widen(const ac_maker *b, ac_tensor **in, int32_t n_in, ac_dtype *half);
/* Converts an f32 result back to that type; half AC_NONE changes nothing. */
ac_tensor *ac_operand_narrow(const ac_maker *b, ac_tensor *y, ac_dtype half);

/* t as a constant, computed from the given values of inputs (ac_tensor.given); NULL: it depends on other inputs, or is
 * large. Follows at most 32 nodes in depth. */
ac_tensor *ac_specialise(const ac_maker *b, ac_tensor *t);
/* The values of a constant of integers, at most 2^20; AC_FAIL: another type, or more values (reported). */
int ac_constant_values(const ac_maker *b, ac_tensor *t, ac_ints *out);
/* axis from the file -> 0..rank-1; AC_FAIL: E0103. */
int ac_operand_axis(const ac_maker *b, int64_t axis, int32_t rank, int32_t *out);

/* True if *t is a constant, if necessary after specialising; sets *t to the constant. */
bool ac_operand_known(const ac_maker *b, ac_tensor **t);
int ac_operand_late(const ac_maker *b, const ac_tensor *t); /* refuses: t is computed at run time. AC_FAIL */
/* The options that make t constant, for messages: "--const 'a=FILE.npy' --const b=FILE.npy", an option for each input
 * that t is computed from, or "--const NAME=FILE.npy" if these are many. */
const char *ac_const_options(const ac_maker *b, const ac_tensor *t);
/* The values of a constant of integers, and the value of a constant of one element. AC_FAIL: not such a constant
 * (refused, or reported). */
int ac_operand_values(const ac_maker *b, ac_tensor **t, ac_ints *out);
int ac_operand_scalar(const ac_maker *b, ac_tensor **t, double *v);
int ac_operand_int(const ac_maker *b, ac_tensor **t, int64_t *v); /* converted by ac_dtype_get_int */

/* Called before and after the adapter of a row: refuses a node whose adapter failed without a diagnostic, and fails one
 * that has a bad attribute. */
typedef struct ac_said {
    ac_diags diags;
    int32_t refused;
} ac_said;
ac_said ac_said_now(const ac_maker *b);
int ac_said_outcome(const ac_maker *b, ac_said before, int rc); /* rc */
/* ac_quietly for refusals as well: rc is AC_OK. If not, the diagnostics and refusals since `before` are taken back. */
bool ac_said_quietly(const ac_maker *b, ac_said before, int rc);

#endif
