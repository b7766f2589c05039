/* expr.h - builds expressions of C and similar languages as text, with only the parentheses that a reader or a compiler
 * needs.
 *
 * An expression is its text, how tightly its outermost operator binds, and whether its C type is exactly the type of
 * the value (`exact`): int8_t arithmetic is done in int, so `a + b` of two int8_t is not exact and is cast when stored.
 * Parentheses are also added if gcc and clang require them (-Wparentheses): arithmetic inside shifts and bits, bits
 * inside bits, && inside ||, comparisons inside comparisons.
 *
 *     ac_c_binary(r, C_MUL, ac_c_binary(r, C_ADD, ac_c_atom("a"), ac_c_atom("b")), ac_c_atom("c"))      "(a + b) * c"
 *
 * Depends neither on the loop IR nor on a target. Memory: texts are in the region. Nothing fails. */
#ifndef AC_CODEGEN_C_EXPR_H
#define AC_CODEGEN_C_EXPR_H
#include "base/region.h"

/* Loosest first; several operators may share a level */
typedef enum ac_cop {
    C_COMMA,
    C_COND,
    C_LOR,
    C_LAND,
    C_OR,
    C_XOR,
    C_AND,
    C_EQ,
    C_NE,
    C_LT,
    C_LE,
    C_GT,
    C_GE,
    C_SHL,
    C_SHR,
    C_ADD,
    C_SUB,
    C_MUL,
    C_DIV,
    C_MOD,
    C_UNARY, /* also casts and negative numbers */
    C_ATOM   /* names, calls, subscripts, numbers */
} ac_cop;

typedef struct ac_cexpr {
    const char *text; /* NULL: none */
    ac_cop top;       /* the outermost operator */
    bool exact;       /* see above */
} ac_cexpr;

ac_cexpr ac_c_atom(const char *text);                                  /* exact */
ac_cexpr ac_c_binary(ac_region *r, ac_cop op, ac_cexpr a, ac_cexpr b); /* not exact */
ac_cexpr ac_c_unary(ac_region *r, char op, ac_cexpr a);                /* '-', '~' or '!'; not exact */
ac_cexpr ac_c_cast(ac_region *r, const char *type, ac_cexpr a);        /* exact */
ac_cexpr ac_c_cond(ac_region *r, ac_cexpr c, ac_cexpr a, ac_cexpr b);  /* c ? a : b; not exact */
ac_cexpr ac_c_index(ac_region *r, const char *array, ac_cexpr i);      /* exact */
ac_cexpr ac_c_call(ac_region *r, const char *f, ac_cexpr a);           /* exact, as the next two */
ac_cexpr ac_c_call2(ac_region *r, const char *f, ac_cexpr a, ac_cexpr b);
ac_cexpr ac_c_call3(ac_region *r, const char *f, ac_cexpr a, ac_cexpr b, ac_cexpr c);

/* Numbers. ac_c_int and ac_c_uint print 64-bit forms only for values that need them; ac_c_int64 and ac_c_uint64 always
 * show the type. */
ac_cexpr ac_c_int(ac_region *r, int64_t v);
ac_cexpr ac_c_uint(ac_region *r, uint64_t v);
ac_cexpr ac_c_int64(ac_region *r, int64_t v);
ac_cexpr ac_c_uint64(ac_region *r, uint64_t v);
/* The shortest decimal that reads back as the same float (suffix f) or double. v is finite. */
ac_cexpr ac_c_float(ac_region *r, float v);
ac_cexpr ac_c_double(ac_region *r, double v);

/* Text inside a comment or a string literal, whatever bytes the model's names hold. */
const char *ac_c_comment_text(ac_region *r, const char *s);
const char *ac_c_string_text(ac_region *r, const char *s);

#endif
