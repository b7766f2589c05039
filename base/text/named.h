/* named.h - finds the name that a word of the command line selects from a list.
 *
 * Reports abbreviate a long name to a run of its parts (between '/' and ';') that no other name has; so a word selects
 * a name if it is the whole name, or a run of parts of that name alone:
 *
 *     net/block_1_relu/Relu6;net/block_1_bn/add      block_1_relu   block_1_relu/Relu6   block_1_bn/add
 *
 *     const int32_t i = ac_named(word, names, n);
 *     if (i < 0) {
 *         ac_error(cx, at, E0501, "unknown tensor '%s'", word);
 *         return ac_named_help(cx, word, names, n);       the candidates, or the nearest name
 *     }
 *
 * Cost: O(n) searches of the word. Names are those of the caller; equal ones are one, and the first of them counts. */
#ifndef AC_BASE_TEXT_NAMED_H
#define AC_BASE_TEXT_NAMED_H
#include "base/ctx.h"

int32_t ac_named(const char *word, const char *const *name, int32_t n); /* -1: none, or several */
bool ac_named_part(const char *word, const char *name);                 /* is the word a run of whole parts of it? */
/* To the last error: the names that the word is a part of, or the nearest name; nothing where none is near. AC_FAIL. */
int ac_named_help(ac_ctx *cx, const char *word, const char *const *name, int32_t n);
/* The same, or if no name is near, the first names of the list. */
int ac_named_list(ac_ctx *cx, const char *word, const char *const *name, int32_t n);

#endif
