/* roofline.h - the page of bench --html: the speed of each step, compared with the rates that the machine attains.
 *
 *   G multiply-adds/s                     _____________ compute, f32
 *     (log)               ____L2_______/
 *                        /  o   memory        o: a step; its area is its share of the time
 *                       /o   /
 *            multiply-adds for each byte it touches (log)
 *
 * A step is on or below the lowest roof over it; the distance to the roof is the loss of its code. Steps without
 * multiply-adds are a second picture, GB/s over bytes. Below are all steps as a table, so that nothing is in the
 * pictures alone. One file, no script, light or dark as the reader's system is.
 *
 * Source of the method: Williams, Waterman, Patterson, "Roofline", 2009. Memory: the context's region. Cost: O(n). */
#ifndef AC_PLANNER_REPORT_ROOFLINE_H
#define AC_PLANNER_REPORT_ROOFLINE_H
#include "planner/report/layers.h"

typedef struct ac_roofline {
    const ac_report *report;
    const char *target;
    const double *ms;            /* of each step */
    double whole_ms;             /* of a run, without a clock between its steps */
    const ac_layer_bound *bound; /* of each step */
    double f32, bytes;           /* multiply-adds of a ms; 0: no step has such */
    double l2, memory;           /* bytes of a ms */
} ac_roofline;

void ac_roofline_html(ac_sink *to, const ac_roofline *v);

#endif
