/* picture.h - the geometry of the plan's picture, for the image (svg.c) and the page (html.c).
 *
 *   address
 *   54.0 KiB |- - - - - - - - - -|  lower bound (red)     x: step, a column each
 *            |   [ b  ]          |                        y: bytes of one memory; a panel for each memory in use
 *            |[ a ]....[ d      ]|  .... hole (grey): free, but below something alive
 *        0 B |   [    c    ]     |  a shape per tensor: its bytes while it is alive
 *             0   1   2   3   4
 *
 * A row is a tensor, in the order of "tensors" in the JSON report: first those of the report, then items that are not
 * tensors (scratch, CSV problems). The root of an item draws the item's true shape, gaps left out; a view or an
 * in-place result draws a see-through rectangle over it. Cost: O(rows + steps touched). Memory: the sink's context. */
#ifndef AC_PLANNER_REPORT_PICTURE_H
#define AC_PLANNER_REPORT_PICTURE_H
#include "planner/report/names.h"
#include "planner/report/xml.h"

/* Bytes of row lo..hi while begin <= step < end. */
typedef struct ac_piece {
    ac_step begin, end;
    ac_bytes lo, hi;
} ac_piece;

typedef struct ac_panel {
    int32_t mem;
    double y, h;             /* pixels from the top of the picture */
    ac_bytes top;            /* the address at its upper edge */
    const ac_piece *overlap; /* bytes that two items use at the same time */
    int32_t n_overlaps;
} ac_panel;

typedef struct ac_picture {
    const ac_report *r;
    const ac_report_tensor *row; /* as in the JSON report */
    int32_t n_rows;
    const int32_t *root;       /* by item: the row that draws its shape */
    const ac_name_list *names; /* short ones */
    const ac_step *label_end;  /* by item: where its root's label ends, as an output computed in place has its own */
    ac_panel *panel;
    int32_t n_panels;
    double x, w;          /* the plot: left edge and width in pixels */
    double width, height; /* of the whole picture */
    ac_step steps;        /* at least 1 */
    bool named;           /* columns are wide enough for operator names */
} ac_picture;

/* Rows or steps: with more, a picture has areas instead of outlines, and a page leaves its long tables closed. */
enum { AC_PAGE_MANY = 500 };

typedef enum { AC_SVG_FILE, AC_SVG_INLINE } ac_svg_use; /* a file of its own, or part of a page that has its style */

ac_picture *ac_picture_of(ac_ctx *cx, const ac_report *r, ac_svg_use use); /* a page has a higher one */
void ac_picture_draw(ac_sink *to, const ac_picture *pic, ac_svg_use use);
const char *ac_picture_kind(const ac_picture *pic, int32_t row); /* "act", "in", "out", "state", "scratch" */
bool ac_picture_labelled(const ac_picture *pic, int32_t row); /* roots, and tensors of another kind than their root */
/* For training: "kept" (made before the loss, read after it), "again" (recomputed), or "". */
const char *ac_picture_role(const ac_picture *pic, int32_t row);
/* The visible pieces of a row, at most the gaps of its item plus one; in order of time. */
int32_t ac_picture_pieces(ac_ctx *cx, const ac_picture *pic, int32_t row, const ac_piece **piece);
const char *ac_picture_size(ac_ctx *cx, ac_bytes n); /* "320 B", "4.5 KiB", "54 KiB", "1.2 MiB" */
/* "vww.tflite: arena 55,296 B (54.0 KiB), lower bound 55,296 B, optimal"; of several memories, what each takes */
const char *ac_picture_title(ac_ctx *cx, const ac_report *r);
const char *ac_page_type(ac_ctx *cx, const ac_report_tensor *x); /* "i8 [1,96,96,3]" */
void ac_page_data(ac_sink *to, const ac_picture *pic);           /* an element that the script of the page reads */
extern const char *const ac_svg_style;                           /* rules for a light background */

#endif
