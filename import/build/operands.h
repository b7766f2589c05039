/* operands.h - what adapters of all formats do with a node of the file: how many operands it has and what their values
 * are, what they refuse, and what a failure means. The node is the ac_maker that is made on its behalf.
 *
 *     AC_TRY(ac_operand_count(b, row, n->n_in, "operands"));
 *     AC_TRY(ac_operand_values(b, &n->in[1], &shape));         a constant list of integers
 *     if (shape.n > AC_MAX_RANK)
 *         return ac_cannot(b, "the new shape has %d dimensions", shape.n);
 *
 * A constant may be one only after specialising: on the values that the caller has given for inputs
 * (ac_tensor.given). */
#ifndef AC_IMPORT_BUILD_OPERANDS_H
#define AC_IMPORT_BUILD_OPERANDS_H
#include "ir/make/maker.h"
#include "import/build/reading.h"
#include "import/wire/pb.h"

/* Refuses this form of the node's operator; AC_FAIL. */
int ac_cannot(const ac_maker *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Its operands do not go together: E0104. */
int ac_bad(const ac_maker *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* As many operands as the row says; E0102. what: how the format calls them. */
int ac_operand_count(const ac_maker *b, const ac_operator *row, int32_t n_in, const char *what);
/* Operands that are halves become f32, and *half is the type of the first of them (it was AC_NONE). */
int ac_operand_widen(const ac_maker *b, ac_tensor **in, int32_t n_in, ac_dtype *half);
/* A result that is f32 goes back to that type; half AC_NONE changes nothing. */
ac_tensor *ac_operand_narrow(const ac_maker *b, ac_tensor *y, ac_dtype half);

/* t as a constant, computed from the given values of inputs (ac_tensor.given); NULL: it depends on other inputs, or is
 * large. Cost: at most 32 nodes deep. */
ac_tensor *ac_specialise(const ac_maker *b, ac_tensor *t);
/* The values of a constant of integers, at most 2^20; AC_FAIL: another type, or more values (reported). */
int ac_constant_values(const ac_maker *b, ac_tensor *t, ac_ints *out);
/* axis from the file -> 0..rank-1; AC_FAIL: E0103. */
int ac_operand_axis(const ac_maker *b, int64_t axis, int32_t rank, int32_t *out);

/* *t is a constant, perhaps after specialising. */
bool ac_operand_known(const ac_maker *b, ac_tensor **t);
int ac_operand_late(const ac_maker *b, const ac_tensor *t); /* refuses: t is computed at run time. AC_FAIL */
/* The value of a constant of integers, and of one with one element. AC_FAIL: it is none (refused, or reported). */
int ac_operand_values(const ac_maker *b, ac_tensor **t, ac_ints *out);
int ac_operand_scalar(const ac_maker *b, ac_tensor **t, double *v);
int ac_operand_int(const ac_maker *b, ac_tensor **t, int64_t *v); /* whole, as ac_dtype_get_int gives it */

/* An attribute of protobuf files that is a list of integers, at most 2^20; E0103. */
int ac_operand_list(const ac_maker *b, ac_pb *pb, const char *attribute, ac_pb_list list, ac_ints *out);

/* The adapter of a row is called between these two: one that failed without a word is refused. */
typedef struct ac_said {
    int32_t errors, refused;
} ac_said;
ac_said ac_said_now(const ac_maker *b);
int ac_said_outcome(const ac_maker *b, ac_said before, int rc); /* rc */

#endif
