/* prototext.h - protobuf's text format as a tree, without a schema, from a file that may be hostile.
 *
 *     ac_pt pt;
 *     AC_TRY(ac_pt_parse(&pt, cx, f->path, (ac_span){f->data, f->n}));
 *     for (ac_pt_node *l = ac_pt_find(pt.root, "layer"); l; l = ac_pt_again(l)) {
 *         const char *name;
 *         int64_t n;
 *         AC_TRY(ac_pt_str(&pt, ac_pt_last(l, "name"), "", &name));        omitted fields get the default
 *         AC_TRY(ac_pt_int(&pt, ac_pt_last(l, "num"), 1, 0, 1000, &n));    E0012 with line and column when out of range
 *     }
 *
 * Every node is a field: its name, its kind and its value. A list `a: [1, 2]` gives as many fields `a`, and so does
 * writing the field again. Only the reader of a field knows its type (number, name of an enumeration, text), so numbers
 * and words stay text until they are read.
 *
 * Grammar: name [:] { ... } or < ... >, name : value, lists in [ ], separators ; and , after a field, # comments,
 * adjacent strings joined, extensions and Any types as [full.name].
 *
 * Hostile input: reading is iterative, messages nest at most AC_PT_DEPTH deep (E0014), and syntax errors are E0020 with
 * line, column and the line itself. Cost: linear in the text; about 100 bytes for each field, in the context's region.
 * Values point into the file's bytes, which must outlive the tree. */
#ifndef AC_IMPORT_WIRE_PROTOTEXT_H
#define AC_IMPORT_WIRE_PROTOTEXT_H
#include "base/bytes.h"
#include "base/ctx.h"

enum { AC_PT_DEPTH = 100 };

typedef enum ac_pt_kind {
    AC_PT_MESSAGE,
    AC_PT_STRING, /* quoted */
    AC_PT_WORD,   /* true, MAX, inf */
    AC_PT_NUMBER
} ac_pt_kind;

typedef struct ac_pt_node ac_pt_node;
struct ac_pt_node {
    const char *name; /* interned; "[full.name]" for extensions */
    ac_pt_kind kind;
    bool used;                /* for readers: it has been read */
    int32_t line, col;        /* of the name, 1-based; 0: created by a program */
    ac_span text;             /* the value as written; strings: from the first quote to the last. MESSAGE: empty */
    ac_pt_node *first, *last; /* MESSAGE: its fields */
    ac_pt_node *next, *up;
};

typedef struct ac_pt {
    ac_ctx *cx;
    const char *file;
    ac_span all;
    ac_pt_node *root; /* a message without a name */
} ac_pt;

int ac_pt_parse(ac_pt *pt, ac_ctx *cx, const char *file, ac_span text);
/* The position of a node, with its line for the caret if that is short. */
ac_place ac_pt_place(const ac_pt *pt, const ac_pt_node *x);

/* A field appended to a message by a program; strings and numbers are given as they would be written. */
ac_pt_node *ac_pt_add(ac_pt *pt, ac_pt_node *up, const char *name, ac_pt_kind kind, ac_span text);

ac_pt_node *ac_pt_find(const ac_pt_node *message, const char *name); /* the first field of that name, or NULL */
ac_pt_node *ac_pt_again(const ac_pt_node *field);                    /* the next one of the same name, or NULL */
ac_pt_node *ac_pt_last(const ac_pt_node *message, const char *name); /* the valid one of fields that occur once */
int32_t ac_pt_count(const ac_pt_node *message, const char *name);

/* Values. x may be NULL: then *out is the default. AC_FAIL: the value is of another kind or out of range (E0012). */
int ac_pt_int(ac_pt *pt, const ac_pt_node *x, int64_t init, int64_t low, int64_t high, int64_t *out);
int ac_pt_u64(ac_pt *pt, const ac_pt_node *x, uint64_t init, uint64_t *out);
int ac_pt_double(ac_pt *pt, const ac_pt_node *x, double init, double *out);
int ac_pt_bool(ac_pt *pt, const ac_pt_node *x, bool init, bool *out);
int ac_pt_str(ac_pt *pt, const ac_pt_node *x, const char *init, const char **out);  /* interned; no control bytes */
int ac_pt_word(ac_pt *pt, const ac_pt_node *x, const char *init, const char **out); /* an enumeration: name or number */
int ac_pt_bytes(ac_pt *pt, const ac_pt_node *x, ac_span *out); /* escapes resolved; points into the file if there are
                                                                * none */

#endif
