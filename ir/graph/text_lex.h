/* text_lex.h - the words of the .ag text form, with their positions. Used by text_read.c only.
 *
 * A newline is a word (it ends a statement) except inside ( ) and [ ]. `#` starts a comment. Names: a letter or _, then
 * letters, digits, _ . and /; any other name is a string. Numbers: decimal, with optional sign, point and exponent, or
 * inf, -inf, nan.
 *
 *     ac_lex x;
 *     ac_lex_open(&x, cx, file, text);          text ends in NUL and outlives the graph (places point into it)
 *     while (x.tok.kind != AC_T_END) ac_lex_next(&x);
 *
 * Cost: linear in the text. Invalid text becomes AC_T_BAD with the reason in `text`. */
#ifndef AC_IR_GRAPH_TEXT_LEX_H
#define AC_IR_GRAPH_TEXT_LEX_H
#include "base/ctx.h"

typedef enum ac_tok_kind {
    AC_T_END,
    AC_T_NEWLINE,
    AC_T_NAME,
    AC_T_STRING,
    AC_T_INT,
    AC_T_NUM,
    AC_T_PUNCT,
    AC_T_BAD
} ac_tok_kind;

typedef struct ac_tok {
    ac_tok_kind kind;
    char punct;         /* PUNCT: the character */
    const char *text;   /* NAME, STRING (escapes resolved): interned or copied; BAD: the reason */
    size_t len;         /* of text */
    bool negative;      /* INT */
    uint64_t magnitude; /* INT */
    double num;         /* INT and NUM */
    const char *start;  /* in the source */
    const char *stop;
    int32_t line, col;  /* 1-based; col counts bytes */
    const char *source; /* the line it is on */
} ac_tok;

typedef struct ac_lex {
    ac_ctx *cx;
    const char *file;
    const char *at;     /* next unread character */
    const char *source; /* start of the current line */
    int32_t line;
    int32_t depth; /* open ( and [ */
    ac_tok tok;    /* the current word */
} ac_lex;

void ac_lex_open(ac_lex *x, ac_ctx *cx, const char *file, const char *text);
void ac_lex_next(ac_lex *x);
ac_place ac_lex_place(const ac_lex *x, const ac_tok *t);
/* The word as a message shows it: 'foo', "end of line", "end of file". */
const char *ac_lex_show(const ac_lex *x, const ac_tok *t);
/* True if `s` is a name that needs no quotes. */
bool ac_lex_is_name(const char *s);

#endif
