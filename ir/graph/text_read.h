/* text_read.h - shared by the two halves of the .ag reader: statements (text_read.c), types and constant values
 * (text_value.c). Only these include it. */
#ifndef AC_IR_GRAPH_TEXT_READ_H
#define AC_IR_GRAPH_TEXT_READ_H
#include "ir/graph/graph.h"
#include "ir/graph/text_lex.h"
#include "ir/graph/weights_file.h"

/* I8[1,n=49,?] q(0.5, -3) */
typedef struct ac_text_type {
    ac_dtype dtype;
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    const char *dim_name[AC_MAX_RANK];
    const ac_quant *quant;
    enum { AC_TEXT_NUMBERS, AC_TEXT_ANY, AC_TEXT_KNOWN } words; /* `text`, `word` */
    int64_t count, bytes;                                       /* open dimensions count as 1 */
    bool open;                                                  /* a dimension is not known */
    ac_tok at;                                                  /* its first word */
} ac_text_type;

typedef struct ac_text_value {
    const void *data;
    bool splat;
} ac_text_value;

/* Reports `code` with the caret under t; AC_FAIL. */
int ac_text_error(ac_lex *x, const ac_tok *t, ac_code code, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
bool ac_text_is(const ac_lex *x, char punct);
int ac_text_expect(ac_lex *x, char punct, const char *what); /* and steps over it */
int ac_text_int(ac_lex *x, int64_t lo, int64_t hi, const char *what, int64_t *v);
int ac_text_num(ac_lex *x, const char *what, double *v);

int ac_text_read_type(ac_lex *x, ac_text_type *ty); /* at the element type */
/* After the = of a constant. w: the weights file of the text; NULL: none. */
int ac_text_read_value(ac_lex *x, const ac_text_type *ty, const ac_weights_file *w, ac_text_value *v);
/* Opens a file that the text names, or reports a diagnostic. */
int ac_text_file(ac_lex *x, const ac_tok *name, ac_file *f);

#endif
