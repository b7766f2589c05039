/* expression.h - sizes that are sums and products of others, in names of dimensions and in files of --custom.
 *
 *     const ac_pin pin[] = {{"n", 5}};
 *     bool used[1] = {false};
 *     if (ac_pin_expression("2*n + 1", pin, 1, used, &v)) ...        v = 11
 *
 * No allocation. */
#ifndef AC_BASE_TEXT_EXPRESSION_H
#define AC_BASE_TEXT_EXPRESSION_H
#include <stdbool.h>
#include <stdint.h>

/* A size with a name. For importers --dim NAME=N: the size of a dimension that the file leaves to the caller. NAME is
 * the dimension's own name or TENSOR.INDEX, or a run of parts that only this name contains. Value 0: the tensor NAME,
 * whose number of dimensions is unknown, is a scalar. */
typedef struct ac_pin {
    const char *name;
    int64_t value;
} ac_pin;

/* Sums and products of pinned names and numbers, with brackets and + - * / (rounds down; a negative number cannot be
 * divided, and nothing by 0). false: not an expression, or a name in it is not pinned, or the value does not fit 32
 * bits. Marks its pins in `used`. */
bool ac_pin_expression(const char *expression, const ac_pin *pin, int32_t n, bool *used, int64_t *value);

#endif
