/* passes.h - the graph passes, as stage check, `convert` and `show` run them. */
#ifndef AC_DRIVER_PASSES_H
#define AC_DRIVER_PASSES_H
#include "driver/request/made.h"

/* Changes the model's graph, up to pass `last` (NULL: all). set: NULL for passes that fit any target. */
int ac_run_passes(const ac_made *a, const char *last, const ac_settings *set, ac_passed *out);

#endif
