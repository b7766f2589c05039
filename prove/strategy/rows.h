/* rows.h - expands rows of prove/strategies.def: AC_ROWS_<POINT>(id, applies, function) for each row of the points
 * whose macro is defined, in the table's order. No include guard: included once for each table. */
#ifndef AC_ROWS_VALUE
#define AC_ROWS_VALUE(id, applies, function)
#endif
#ifndef AC_ROWS_LOAD
#define AC_ROWS_LOAD(id, applies, function)
#endif
#ifndef AC_ROWS_NARROW
#define AC_ROWS_NARROW(id, applies, function)
#endif
#ifndef AC_ROWS_LOOP
#define AC_ROWS_LOOP(id, applies, function)
#endif
#ifndef AC_ROWS_LIST
#define AC_ROWS_LIST(id, applies, function)
#endif
#ifndef AC_ROWS_WITNESS
#define AC_ROWS_WITNESS(id, applies, function)
#endif
#ifndef AC_ROWS_INSIDE
#define AC_ROWS_INSIDE(id, applies, function)
#endif
#ifndef AC_ROWS_WRITTEN
#define AC_ROWS_WRITTEN(id, applies, function)
#endif
#ifndef AC_ROWS_READ
#define AC_ROWS_READ(id, applies, function)
#endif
#ifndef AC_ROWS_RESULT
#define AC_ROWS_RESULT(id, applies, function)
#endif
#ifndef AC_ROWS_APART
#define AC_ROWS_APART(id, applies, function)
#endif
#ifndef AC_ROWS_READS
#define AC_ROWS_READS(id, applies, function)
#endif
#ifndef AC_ROWS_CASES
#define AC_ROWS_CASES(id, applies, function)
#endif
#ifndef AC_ROWS_CUT
#define AC_ROWS_CUT(id, applies, function)
#endif
#ifndef AC_ROWS_SIDES
#define AC_ROWS_SIDES(id, applies, function)
#endif
#define STRATEGY(id, name, point, applies, function, file, needed_by, proves) \
    AC_ROWS_##point(AC_STRATEGY_##id, applies, function)
#include "prove/strategies.def"
#undef STRATEGY
#undef AC_ROWS_VALUE
#undef AC_ROWS_LOAD
#undef AC_ROWS_NARROW
#undef AC_ROWS_LOOP
#undef AC_ROWS_LIST
#undef AC_ROWS_WITNESS
#undef AC_ROWS_INSIDE
#undef AC_ROWS_WRITTEN
#undef AC_ROWS_READ
#undef AC_ROWS_RESULT
#undef AC_ROWS_APART
#undef AC_ROWS_READS
#undef AC_ROWS_CASES
#undef AC_ROWS_CUT
#undef AC_ROWS_SIDES
