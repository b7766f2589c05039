/* sizes.h - merges the modules of all sizes of a dimension into one program.
 *
 *     n = 3:  gather(arena + 64), dense(arena, 3 rows)        one function for all sizes that reads the differences:
 *     n = 4:  gather(arena + 96), dense(arena, 4 rows)   ->   gather(arena + size[0]), dense(arena, &size[1])
 *
 * Functions of different sizes that differ only in integers are merged, with a table (share_groups.h); functions of one
 * size are not, so that numbers that do not depend on the size stay constants. Sizes that then call the same functions
 * form a class: the module contains its calls once. Sizes of a class differ in numbers: offsets, choices of constants,
 * tables of functions. Most are slope * (n - lo) + first, which is checked for every size of the class; the others are
 * stored for each size. So each size has the same plan and loops as a separate program for it.
 *
 *     ac_module_merge_sizes(m, n, "n", 1, &whole, &sum)         m[k]: the module of size 1 + k
 *
 * Cost: functions times classes of similar ones times instructions. Memory: the region of to->cx; it keeps pointers
 * into the modules. Errors: AC_FAIL with a diagnostic if sizes have no common interface or a constant cannot be
 * computed. */
#ifndef AC_CODEGEN_SIZES_H
#define AC_CODEGEN_SIZES_H
#include "codegen/constants.h"

typedef struct ac_sized_number {
    int32_t slope, first;
    const int32_t *own; /* by ac_size_class.size; NULL: slope * (n - lo) + first */
} ac_sized_number;

typedef struct ac_size_class {
    int32_t begin, end;  /* of the module's calls */
    const int32_t *size; /* n - lo of each of its sizes, ascending */
    int32_t n_sizes;
    ac_sized_number *number; /* ac_bound_arg.number - 1 is an index here */
    int32_t n_numbers;
} ac_size_class;

typedef struct ac_sizes {
    const char *dim; /* as the model names it */
    int64_t lo;
    int32_t n;            /* sizes: lo .. lo + n - 1 */
    ac_module *const *of; /* by size */
    const int32_t *class_of;
    ac_size_class *class;
    int32_t n_classes;
    const int32_t *konst; /* constants that numbers select: indices in ac_module.konst */
    int32_t n_konst;
} ac_sizes;

/* Fills fn, call, konst, memories and sizes of *to, whose cx, name and other fields must be set. */
int ac_module_merge_sizes(ac_module *const *m, int32_t n, const char *dim, int64_t lo, ac_module *to, ac_merged *sum);

/* True if value[k] = slope * size[k] + first for all k below n, in 32 bits. */
bool ac_sizes_line(const int64_t *value, const int32_t *size, int32_t n, ac_sized_number *line);

#endif
