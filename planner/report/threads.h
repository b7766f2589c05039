/* threads.h - the prints of ac_report.threads; nothing where it is NULL. */
#ifndef AC_PLANNER_REPORT_THREADS_H
#define AC_PLANNER_REPORT_THREADS_H
#include "base/json_out.h"
#include "planner/report/picture.h"

/* Who does step s. */
static inline int32_t ac_report_thread_of(const ac_report_threads *t, ac_step s)
{
    return t->slot ? t->slot[s].thread : t->cut[s] ? AC_ALL_THREADS : 0;
}

/* The step after the phase of step s. */
static inline ac_step ac_report_phase_end(const ac_report_threads *t, ac_step s)
{
    return t->slot ? t->slot[s].end : s + 1;
}

void ac_report_threads_text(ac_sink *to, const ac_report *r);
void ac_report_threads_json(ac_json *j, const ac_report *r);              /* the object "threads" */
double ac_report_threads_height(const ac_report *r);                      /* of the chart, in pixels; 0: no chart */
void ac_report_threads_svg(ac_sink *to, const ac_picture *pic, double y); /* y: its upper edge */

#endif
