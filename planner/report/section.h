/* section.h - a table of a report, whose cells text, JSON, Markdown and the page print alike.
 *
 *     ac_section s = ac_section_tensors(cx, r, names, r->tensor, r->n_tensors);
 *     ac_section_text(to, &s);            a line of titles, then a line for each row
 *     ac_section_json(&j, &s);            the member s.key: an array with an object for each row
 *
 * sections.def has a line for each column: its key in JSON, its titles elsewhere, its cell. A form omits the columns
 * without a title in it. Cells hold values; a printer decides how they look (a count is 55296 in JSON and 55,296 for
 * people). Memory: the context's region. Cost: O(rows * columns), and that of short names (names.h). */
#ifndef AC_PLANNER_REPORT_SECTION_H
#define AC_PLANNER_REPORT_SECTION_H
#include "base/json_out.h"
#include "planner/report/layers.h"
#include "planner/report/names.h"

typedef enum ac_cell_kind {
    AC_CELL_NONE,   /* unknown, or does not apply: null in JSON, elsewhere `text`, if there is one */
    AC_CELL_ABSENT, /* not even that: no member in JSON */
    AC_CELL_TEXT,
    AC_CELL_CODE,    /* text in backticks in Markdown */
    AC_CELL_NAME,    /* of a tensor or step; shortened for people; n: the row that it selects on the page, -1: none */
    AC_CELL_ALIAS,   /* "view of x": text, and the name `of` */
    AC_CELL_ADDRESS, /* text with digits of one width */
    AC_CELL_SHAPE,   /* text "[1,96]"; an array in JSON */
    AC_CELL_NUMBER,  /* n */
    AC_CELL_COUNT,   /* n, with commas for people */
    AC_CELL_LIST     /* n integers at `list`; for people `text`, if not NULL, as one more */
} ac_cell_kind;

typedef struct ac_cell {
    ac_cell_kind kind;
    const char *text, *of;
    int64_t n;
    const int32_t *list;
    bool ends; /* people see nothing after it in this row */
} ac_cell;

/* An array of JSON: put(j, NULL, value) for each i below n. */
#define AC_JSON_COLUMN(j, key, n, put, value) \
    do {                                      \
        ac_json_arr(j, key);                  \
        for (int32_t i = 0; i < (n); i++)     \
            put(j, NULL, value);              \
        ac_json_end(j);                       \
    } while (0)

enum { AC_LEFT = -1000, AC_RIGHT = 1000, AC_RAGGED = -1 }; /* as wide as title and cells; each cell as wide as it is */
typedef struct ac_section_column {
    const char *key;  /* in JSON; NULL: not there, as with the titles */
    const char *text; /* title in text; each blank before it widens the gap to the column on its left, which is 1 */
    int wide;         /* in text: characters, or more; below 0 for alignment to the left */
    const char *md, *page; /* titles in Markdown and in the tables of the page */
    int when;              /* conditions, all of which the section has to meet */
} ac_section_column;
enum { AC_COLUMNS = 32, AC_BRIEF = 32 }; /* columns of a section at most; a condition */

typedef struct ac_section {
    ac_ctx *cx;
    const char *key;
    const ac_section_column *column;
    int32_t n_columns, n;                                                  /* n: rows */
    void (*cells)(const struct ac_section *s, int32_t row, ac_cell *cell); /* sets n_columns cells */
    int meets;                                                             /* conditions of columns */
    const ac_name_list *names;                                             /* short ones */
    size_t fit;       /* most characters of a name in text and Markdown; 0: any number */
    double sum;       /* of the costs of steps, for their shares */
    ac_step step;     /* of the peak */
    const void *from; /* the data that `cells` reads */
    const ac_report *r;
} ac_section;

ac_section ac_section_tensors(ac_ctx *cx, const ac_report *r, const ac_name_list *names, const ac_report_tensor *row,
                              int32_t n);
ac_section ac_section_items(ac_ctx *cx, const ac_report *r, const ac_name_list *names); /* of the problem */
ac_section ac_section_steps(ac_ctx *cx, const ac_layers *l);                            /* l outlives the section */
ac_section ac_section_launches(ac_ctx *cx, const ac_report *r);                         /* of a GPU */
ac_section ac_section_cuts(ac_ctx *cx, const ac_report_cut *row, int32_t n);
/* The tensors alive at the peak of a memory; with AC_BRIEF in `meets` their roles are shorter. */
ac_section ac_section_peak(ac_ctx *cx, const ac_report *r, const ac_name_list *names, int32_t mem);
ac_section ac_section_larger(ac_ctx *cx, const ac_report *r); /* constants, in JSON */
ac_section ac_section_lower(ac_ctx *cx, const ac_report *r);

void ac_section_text(ac_sink *to, const ac_section *s);        /* no line of titles if no column has one */
int32_t ac_section_width(const ac_section *s, int32_t *first); /* of the widest cells; *first: those of column 0 */
void ac_section_json(ac_json *j, const ac_section *s);
void ac_section_members(ac_json *j, const ac_section *s, int32_t row); /* a row, as members of the open object */
void ac_section_md(ac_sink *to, const ac_section *s);
enum { AC_PAGE_ROWS = 200 }; /* rows of a table in a page; the others are text for its script */
void ac_section_page(ac_sink *to, const ac_section *s, const char *body, bool open); /* body: the id of its rows */

/* The tensors of a report, then the items of its problem that are not tensors (scratch, all of a CSV problem), without
 * dtype and shape (NULL): the rows of JSON and of the page. */
const ac_report_tensor *ac_report_rows(ac_ctx *cx, const ac_report *r, int32_t *n);

void ac_put_md_code(ac_sink *to, const char *text); /* between backticks, so that it cannot end a cell of a table */

#endif
