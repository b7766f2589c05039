/* xml.h - escapes text for XML and HTML.
 *
 * & < > " become entities, control characters blanks, bytes that are not UTF-8 U+FFFD: a name from a model cannot open
 * or end an element or an attribute. */
#ifndef AC_PLANNER_REPORT_XML_H
#define AC_PLANNER_REPORT_XML_H
#include "base/sink.h"

void ac_put_xml(ac_sink *to, const char *text, size_t n);
void ac_put_xml_text(ac_sink *to, const char *text); /* up to its NUL */

#endif
