/* cuts.h - prints the channels that --dead removed from a model: a note of one line, a table with -v and in Markdown,
 * an object in JSON.
 *
 *     ac_push(region, &note, ac_report_cuts_note(cx, r->cuts));
 *
 * Costs: O(operators with weights). Texts are in the context's region. */
#ifndef AC_PLANNER_REPORT_CUTS_H
#define AC_PLANNER_REPORT_CUTS_H
#include "planner/report/section.h"

bool ac_report_cuts_any(const ac_report_cuts *c); /* was anything taken out? */
const char *ac_report_cuts_note(ac_ctx *cx, const ac_report_cuts *c);
ac_section ac_report_cuts_section(ac_ctx *cx, const ac_report_cuts *c); /* the operators that lost something */
void ac_report_cuts_json(ac_json *j, const ac_report_cuts *c);          /* the member "dead_channels" */

#endif
