/* json_in.h - JSON as a tree, from a file that may be hostile.
 *
 *     ac_js js;
 *     AC_TRY(ac_js_parse(&js, cx, path, (ac_span){f->data, f->n}));
 *     for (const ac_js_node *n = ac_js_get(js.root, "nodes")->first; n; n = n->next) ...
 *
 * Strict (RFC 8259): no comments, no trailing commas, nothing after the value. Numbers stay text, so that none is
 * rounded. Reading is iterative and nests at most AC_JS_DEPTH deep (E0014); syntax errors are E0020 with line and
 * column. Cost: linear; about 70 bytes for each value, in the context's region. */
#ifndef AC_IMPORT_WIRE_JSON_IN_H
#define AC_IMPORT_WIRE_JSON_IN_H
#include "base/bytes.h"
#include "base/ctx.h"

enum { AC_JS_DEPTH = 64 };

typedef enum ac_js_kind {
    AC_JS_NULL,
    AC_JS_FALSE,
    AC_JS_TRUE,
    AC_JS_NUMBER,
    AC_JS_STRING,
    AC_JS_ARRAY,
    AC_JS_OBJECT
} ac_js_kind;

typedef struct ac_js_node ac_js_node;
struct ac_js_node {
    ac_js_kind kind;
    int32_t line, col;
    const char *key;  /* member of an object: interned; else NULL */
    const char *text; /* STRING: interned, escapes resolved; NUMBER: as written; else "" */
    int32_t n;        /* ARRAY, OBJECT: how many are inside */
    ac_js_node *first, *last, *next, *up;
};

typedef struct ac_js {
    ac_ctx *cx;
    const char *file;
    const ac_js_node *root;
} ac_js;

int ac_js_parse(ac_js *js, ac_ctx *cx, const char *file, ac_span text);
ac_place ac_js_place(const ac_js *js, const ac_js_node *x);
/* The last one of that name; NULL: none, or not an object. */
const ac_js_node *ac_js_get(const ac_js_node *object, const char *key);
bool ac_js_int(const ac_js_node *x, int64_t *out); /* false: not an integer of 64 bits */

#endif
