/* loads.h - replaces loads of a buffer by other values: constants, conversions of a smaller buffer.
 *
 *     ac_loop_reload(cx, &L->b, fn, value, &own);        L->b has a copy of fn, open; buffers may be added
 *     fn = ac_lb_close(&L->b);
 *
 * `value` gets the number of a LOAD (or PREFETCH) in fn and a copy of it in terms of the new function, and returns the
 * value that replaces it; 0: it stays. A prefetch is dropped if the value is not 0. */
#ifndef AC_IR_LOOP_LOADS_H
#define AC_IR_LOOP_LOADS_H
#include "ir/loop/loop.h"

typedef ac_x ac_load_fn(void *with, ac_x x, const ac_ins *load, const ac_x *map); /* map[v]: value v of fn */
/* b->region: where the copy lives. */
void ac_loop_reload(ac_ctx *cx, ac_lb *b, const ac_loop_fn *fn, ac_load_fn *value, void *with);
/* True if fn loads from buf, and does nothing else with it: a late store copies its memory. */
bool ac_loop_only_loads(const ac_loop_fn *fn, int32_t buf);

#endif
