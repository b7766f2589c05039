/* replay_read.h - reads a certificate of code: cuts lines into words, numbers and names. Malformed text refuses the
 * certificate, with the line.
 *
 *     begin_text(text);  while (next_line()) if (took("fn")) read_function(c);
 *
 * The text is the caller's and is written to. */
#ifndef REPLAY_READ_H
#define REPLAY_READ_H
#include "prove/replay/replay.h"

extern const char *const type_name[N_TYPES];
extern const char *const role_name[N_ROLES];

/* replay_words.c */
void begin_text(char *text);
const char *next_line(void); /* NULL: the text has ended */
const char *need_line(void);
bool is_indented(void);          /* does the next line begin with a space? */
const char *word(void);          /* the next one; "" at the end of the line; text in quotes is passed over */
bool took(const char *expected); /* the next words are these, and are passed */
bool next_is(char c);
void end_of_line(void);
whole int_of(const char *w); /* -2^63 .. 2^64 - 1 */
int64_t integer(void);
int32_t integer_in(int64_t lo, int64_t hi);
int64_t bytes_number(void); /* a size or an offset */
whole integer_of(type t);   /* a constant of an integer type */
double real_of(type t);     /* ... of a float, rounded to it */
char *kept(const char *w);  /* a copy */
int32_t choice(const char *w, const char *const *name, int32_t n);
void wrong(const char *what); /* refuses: line and what */

/* replay_types.c: `i` has the types and shapes that its operation is defined for, or wrong() */
void check_types(const function *f, const instruction *i);
int32_t plain_arity(opcode op); /* operands, if they all have the type of the result; else 0 */

/* replay_instruction.c: one line without its number */
typedef struct scopes {
    int32_t scope[256], open[256]; /* blocks around the line: where values are known, and the FOR or IF */
    int32_t n, last;
} scopes;
void read_instruction(function *f, instruction *i, const scopes *s);

/* replay_function.c: lines up to the next "call", "fn" or other word at their beginning. */
void read_function(program *c);

#endif
