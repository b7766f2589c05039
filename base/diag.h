/* diag.h - diagnostics: the only way to report an error to the user.
 *
 *     FILE:PLACE 'NODE': error[E0104]: sentence
 *       | detail, one line each
 *       = reason: why
 *       = help: the way out
 *
 * ac_error records and returns AC_FAIL; callers say AC_TRY(f(...)). Details, reason and help are added to the newest
 * diagnostic. Independent errors are all collected (at most `limit`, unsupported ones always all). Nothing is printed
 * until ac_diags_print. All strings are copied into the context's region.
 *
 *     if (x->rank != 4) {
 *         ac_error(cx, n->at, E0104, "input '%s' is %s, expected 4 dimensions [N,H,W,C]", x->name, shape);
 *         return ac_help(cx, "add a batch dimension when exporting");
 *     }
 * / */
#ifndef AC_BASE_DIAG_H
#define AC_BASE_DIAG_H
#include "base/region.h"

#include <stdio.h>

enum { AC_OK = 0, AC_FAIL = -1 };
#define AC_TRY(e)           \
    do {                    \
        if ((e) != AC_OK)   \
            return AC_FAIL; \
    } while (0)

/* Where in a file something is. Only what applies is set; a zeroed place prints as nothing but the file. */
typedef struct ac_place {
    const char *file;   /* as the user wrote it; NULL: not about a file */
    const char *node;   /* node name, or NULL */
    const char *op;     /* operator in the file's own words ('CONV_2D'), or NULL */
    int32_t op_index;   /* 1 + position of the operator in its subgraph; 0: unknown */
    int32_t subgraph;   /* 0: the main graph */
    int32_t line, col;  /* 1-based, text formats; 0: unknown */
    int64_t byte;       /* 1 + byte offset in a binary file; 0: unknown */
    const char *source; /* the text line, for the caret; NULL: none (NUL or newline ends it) */
} ac_place;

/* Also the order of precedence is not numeric: see ac_diags_exit */
typedef enum ac_exit {
    AC_EXIT_OK = 0,
    AC_EXIT_INVALID = 1,
    AC_EXIT_USAGE = 2,
    AC_EXIT_IO = 3,
    AC_EXIT_BUDGET = 4,
    AC_EXIT_DIFFERS = 5,
    AC_EXIT_CHANGED = 6,
    AC_EXIT_UNSAFE = 7,
    AC_EXIT_UNSUPPORTED = 8,
    AC_EXIT_INTERNAL = 70
} ac_exit;

typedef enum ac_code {
#define ERR(code) code,
#include "base/errors_ids.def"
#undef ERR
    AC_CODE_COUNT
} ac_code;

typedef enum { AC_ERROR, AC_WARNING, AC_NOTE } ac_severity;

/* A line below a diagnostic. */
typedef struct ac_diag_line {
    struct ac_diag_line *next;
    char kind; /* '|' context, 'r' reason, 'h' help */
    const char *text;
} ac_diag_line;

typedef struct ac_diag {
    struct ac_diag *next;
    ac_severity severity;
    ac_code code;
    ac_place at;
    const char *text;
    ac_diag_line *line, **tail;
} ac_diag;

typedef struct ac_diags {
    ac_diag *first, **tail, *last;
    int32_t errors, warnings, dropped;
    int32_t limit; /* errors of invalid models and unsafe plans kept; the rest is counted in `dropped`. 0: 20 */
    bool werror;   /* warnings count as errors */
} ac_diags;

/* The out-of-memory diagnostic, in memory of its own. */
typedef struct ac_last_words {
    ac_diag diag;
    ac_diag_line help;
    char text[120];
} ac_last_words;

/* Of a byte in the line that begins at `line`, from 1; 0, which is not shown, when it is too far for 32 bits. */
static inline int32_t ac_column(const void *line, const void *at)
{
    const ptrdiff_t n = (const char *)at - (const char *)line;
    return n < INT32_MAX ? (int32_t)n + 1 : 0;
}

struct ac_ctx;
/* AC_FAIL. */
int ac_error(struct ac_ctx *cx, ac_place at, ac_code code, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void ac_warn(struct ac_ctx *cx, ac_place at, ac_code code, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void ac_note(struct ac_ctx *cx, ac_place at, ac_code code, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
int ac_detail(struct ac_ctx *cx, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* AC_FAIL, to return */
int ac_reason(struct ac_ctx *cx, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* AC_FAIL */
int ac_help(struct ac_ctx *cx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));   /* AC_FAIL */

/* E0402 or E0403, as the heap found; once, and without an allocation. file: a string that stays. AC_FAIL. */
int ac_no_memory(struct ac_ctx *cx, const char *file);

/* Adds the diagnostics of another context to this one. */
/* True if the limit of errors is reached; further invalid or unsafe ones are only counted. */
bool ac_diags_full(const ac_diags *d);
void ac_diags_copy(struct ac_ctx *cx, const ac_diags *from);

/* status is AC_OK. If not, the diagnostics recorded since `before` (a copy of cx->diags) are taken back: for passes
 * that only try something, where doubt means "leave it as it is". */
bool ac_quietly(struct ac_ctx *cx, ac_diags before, int status);

/* The exit status all errors together lead to: internal, then usage, I/O, invalid (1), unsupported (8), the rest. */
ac_exit ac_diags_exit(const ac_diags *d);
void ac_diags_print(const ac_diags *d, FILE *to, bool color);

const char *ac_code_name(ac_code code); /* "E0104" */
const char *ac_code_title(ac_code code);
const char *ac_code_explain(ac_code code); /* a paragraph for `arenac explain` */
ac_exit ac_code_exit(ac_code code);
bool ac_code_find(const char *name, ac_code *code);

/* The closest of `names` (n of them) to `word` by edit distance, else the first that
 * contains it; NULL when none is close enough to suggest. */
const char *ac_closest(const char *word, const char *const *names, int32_t n);

#endif
