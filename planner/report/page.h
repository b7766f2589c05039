/* page.h - the script and the style of the page of a plan, the files of planner/report/page/ as they are in the source
 * tree (cmake/embed.cmake). html.c puts them into the page in its own order. */
#ifndef AC_PLANNER_REPORT_PAGE_H
#define AC_PLANNER_REPORT_PAGE_H
#include <stddef.h>

typedef struct ac_page_file {
    const char *name; /* "map.js" */
    const unsigned char *data;
    size_t n;
} ac_page_file;

extern const ac_page_file ac_page_files[];
extern const int ac_page_count;

#endif
