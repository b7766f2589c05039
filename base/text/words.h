/* words.h - small text files of ours (locks, tune files): lines of words, written and read back.
 *
 * A word is written with blanks, control characters, '%' and '#' as %20 and so on, so that any name is one word.
 *
 *     ac_words r = {.cx = cx, .file = path, .at = text, .end = text + n};
 *     while (ac_words_line(&r)) {
 *         const char *at = r.line, *key = ac_words_take(&r, &at);   NULL: no word left; '#' lines come too
 *         if (!ac_words_number(&r, &at, INT32_MAX, &n))
 *             return ac_words_complain(&r, at, "expected a number");   E0020 with line, column and caret
 *     }
 *
 * Memory: words are interned. Hostile bytes: a word ends with its line; NUL bytes are dropped. */
#ifndef AC_BASE_TEXT_WORDS_H
#define AC_BASE_TEXT_WORDS_H
#include "base/intern.h"
#include "base/sink.h"

typedef struct ac_words {
    ac_ctx *cx;
    const char *file;
    const char *at, *end;    /* of the whole text */
    const char *line, *stop; /* of this line, without its end */
    int32_t number;
} ac_words;

bool ac_words_line(ac_words *r); /* the next line; false: none */
/* The next word, its escapes undone; moves *at after it. */
const char *ac_words_take(const ac_words *r, const char **at);
bool ac_words_number(const ac_words *r, const char **at, int64_t max, int64_t *out); /* 0 .. max */
int ac_words_complain(const ac_words *r, const char *at, const char *what);          /* E0020; AC_FAIL */
void ac_words_put(ac_sink *to, const char *word);

#endif
