/* attrs.h - reads attributes of a node of the file, typed, with the defaults and ranges of a table: one reader for the
 * attributes of all formats.
 *
 * A format lists its attributes in a table, attrs.def, a row for each name, default and range:
 *
 *     A(INT,  nsize, 5, FROM(1), TO(64))          a default below FROM: it must be there
 *     A(TEXT, mode,  0, DEFAULT("a"))             any text
 *     A(TEXT, kind,  0, WORDS("a|b"))             one of these; the default is the first
 *     A(WORD, how,   1, WORDS("a|b"))             read as the number of the word, from 0 or FROM(1) on;
 *                                                 default -1: it must be there
 *     A(TYPE, dtype, AC_F32)                      AC_NONE: it must be there
 *     A(INTS, pads,  0, MOST(4), FROM(0))         a list of at most 4 numbers of at least 0
 *     A(INT,  pool_nsize, 2, NAMED("nsize"))      another default of the same attribute
 *
 * and describes itself by one function, `find`, which decodes an attribute. Adapters then read values by the id of the
 * row:
 *
 *     const int64_t size = ac_attr_int(&n->attrs, A_nsize);
 *
 * A value of another type, out of range, or missing is reported once (E0103), with the value found and the values
 * expected, and reads as the default or the nearest bound. So adapters need no checks: ac_said_outcome fails the node
 * after its adapter, and no more is reported of it.
 *
 * Memory: the context's region. */
#ifndef AC_IMPORT_BUILD_ATTRS_H
#define AC_IMPORT_BUILD_ATTRS_H
#include "import/build/operands.h"

typedef enum ac_attr_kind {
    AC_ATTR_INT, /* of 32 bits, unless the row has a range */
    AC_ATTR_INT64,
    AC_ATTR_FLOAT,
    AC_ATTR_BOOL,
    AC_ATTR_TEXT,
    AC_ATTR_WORD,
    AC_ATTR_TYPE,
    AC_ATTR_INTS,
    AC_ATTR_FLOATS,
    AC_ATTR_ANY /* of a row without id: is it there? */
} ac_attr_kind;

typedef struct ac_attr_spec {
    const char *name, *named; /* named: in the file, if it is not the id */
    ac_attr_kind type;
    double init;   /* INTS: of an element that is left out ("None") */
    bool from, to; /* are there these bounds? */
    double low, high;
    const char *words; /* TEXT, WORD: separated by |; NULL: any */
    const char *text;  /* TEXT: the default, without words */
    int32_t most;      /* elements of a list; 0: 2^20 */
} ac_attr_spec;

/* attrs.def as rows: #define A(type, id, ...) AC_ATTR_ROW(type, id, __VA_ARGS__) */
#define AC_ATTR_ROW(kind, id, ...) {.type = AC_ATTR_##kind, .name = #id, .init = __VA_ARGS__},
#define SINGLE(number)             ((double)number##f)
#define NAMED(name)                .named = name
#define FROM(bound)                .from = true, .low = bound
#define TO(bound)                  .to = true, .high = bound
#define WORDS(list)                .words = list
#define DEFAULT(word)              .text = word
#define MOST(count)                .most = count

/* The value in the file, in the type of the row. */
typedef struct ac_attr_value {
    int64_t i; /* INT, INT64, BOOL */
    double f;
    const char *text; /* TEXT; WORD: or its number in digits */
    ac_dtype dtype;
    const int64_t *ints;
    const double *floats;
    int64_t n;         /* of ints or floats */
    bool said;         /* it is malformed, which was reported */
    const char *wrong; /* not NULL: the value found, in the words of a message; it is of another type */
    ac_place at;       /* where it is; file NULL: where the node is */
} ac_attr_value;

typedef struct ac_attrs_reader ac_attrs_reader;

typedef struct ac_attr_source {
    bool numbers;            /* words may be given by their number */
    const char *what;        /* in messages: "attribute" */
    const ac_attr_spec *row; /* the table */
    /* The attribute of that name in the type of the row, marked as read. False: it is left out. */
    bool (*find)(const ac_attrs_reader *a, const char *name, const ac_attr_spec *row, ac_attr_value *v);
} ac_attr_source;

/* The rows that adapters have read, each once, for `arenac ops` (ac_import_options.read). */
enum { AC_ATTRS_READ = 64 };
typedef struct ac_attrs_read {
    const ac_attr_spec *row[AC_ATTRS_READ]; /* of the static tables */
    int32_t n;
} ac_attrs_read;

/* The attributes of one node. */
struct ac_attrs_reader {
    const ac_attr_source *source;
    ac_maker *b;
    void *node; /* the format's own */
};

bool ac_attr_has(ac_attrs_reader *a, int id);
const char *ac_attr_name(const ac_attrs_reader *a, int id); /* in the file */
/* "group=1", "kernel_shape=[]", "mode=constant|reflect" (the default is the first); in the context's region */
const char *ac_attr_default(ac_ctx *cx, const ac_attr_spec *row);
/* Marks an attribute without a row as read: it changes nothing here. */
void ac_attr_skip(ac_attrs_reader *a, const char *name);

/* An attribute of any row. False: it is left out, or it is of another type or malformed, which was reported. */
bool ac_attr_find(ac_attrs_reader *a, const ac_attr_spec *row, ac_attr_value *v);
/* An attribute without a row: is it there, and of that type? And such a list. */
bool ac_attr_is(ac_attrs_reader *a, const char *name, ac_attr_kind type);
ac_ints ac_attr_list(ac_attrs_reader *a, const char *name);

int64_t ac_attr_int(ac_attrs_reader *a, int id);
int64_t ac_attr_int_or(ac_attrs_reader *a, int id, int64_t init); /* a default that depends on the node */
int64_t ac_attr_int_in(ac_attrs_reader *a, int id, int64_t init, int64_t low, int64_t high); /* and a range */
double ac_attr_float(ac_attrs_reader *a, int id);
double ac_attr_float_or(ac_attrs_reader *a, int id, double init);
bool ac_attr_bool(ac_attrs_reader *a, int id);
bool ac_attr_bool_or(ac_attrs_reader *a, int id, bool init);
ac_dtype ac_attr_dtype_or(ac_attrs_reader *a, int id, ac_dtype init);
const char *ac_attr_text(ac_attrs_reader *a, int id);                 /* NULL: left out, without a default */
int32_t ac_attr_word(ac_attrs_reader *a, int id);                     /* the number of the word */
ac_dtype ac_attr_dtype(ac_attrs_reader *a, int id);                   /* AC_NONE: not one of ours, which is refused */
ac_ints ac_attr_ints(ac_attrs_reader *a, int id);                     /* n == 0: left out, or empty */
const double *ac_attr_floats(ac_attrs_reader *a, int id, int32_t *n); /* the same */
/* Into an array that holds MOST of the row, whose elements keep their values if there are fewer. */
int32_t ac_attr_ints_to(ac_attrs_reader *a, int id, int64_t *v);
int32_t ac_attr_floats_to(ac_attrs_reader *a, int id, double *v);
/* An axis of a tensor, 0..rank-1; AC_FAIL: E0103. */
int ac_attr_axis(ac_attrs_reader *a, int id, int32_t rank, int32_t *axis);

#endif
