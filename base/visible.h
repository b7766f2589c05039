/* visible.h - makes names of models safe to show in messages and comments. A name is untrusted: control characters
 * drive a terminal, and marks of direction (U+202E) let a line of code look like another one.
 *
 *     ac_visible(region, "conv\xe2\x80\xae")        "conv<U+202E>"; a string without them is returned as it is
 *
 * Replaces C0 and C1 controls except the tab, DEL, the marks and isolates of direction, the separators of lines and
 * paragraphs, characters without width, and bytes that are not UTF-8. Source: Unicode Technical Report 36, and "Trojan
 * Source" (Boucher and Anderson 2021). */
#ifndef AC_BASE_VISIBLE_H
#define AC_BASE_VISIBLE_H
#include "base/region.h"

enum { AC_VISIBLE_MOST = 8 }; /* bytes that replace one character: "<U+202E>" */
enum { AC_BRIEF_MOST = 200 }; /* bytes of a name in a message */

int ac_utf8_length(const char *s); /* of the character at s; 0: not UTF-8 (overlong forms and surrogates are not) */
/* The character at s and its bytes; a byte that is not UTF-8 is itself, and the result 0. */
int ac_utf8_get(const char *s, uint32_t *code);
int ac_utf8_put(char *to, uint32_t code);     /* its bytes, at most 4; 0: not a character */
int ac_hidden(const char *s, uint32_t *code); /* the bytes of the character at s if it is to be replaced, else 0 */
const char *ac_visible(ac_region *r, const char *s);
/* A name of more than AC_BRIEF_MOST bytes is cut to that, at a character, and ends in "..". In a text, names are runs
 * of bytes without blanks, and those between '...'. A text without long names is returned as it is. */
const char *ac_brief_name(ac_region *r, const char *s);
const char *ac_brief(ac_region *r, const char *s);
void ac_hide(char *s); /* the same in place: each byte of such a character becomes '?' */

#endif
