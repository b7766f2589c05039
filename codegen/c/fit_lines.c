/* fit_lines.c - breaks lines of more than 120 columns in code for firmware. */
#include "codegen/c/emit.h"

#include <string.h>

enum { WIDEST = 120, EARLIEST = 40 }; /* columns; a line is not broken before column EARLIEST */

typedef enum inside { CODE, COMMENT, STRING } inside;

/* Where in the text we are */
typedef struct scan {
    inside at;
    char quote;
    int depth; /* of parentheses */
} scan;

static scan step(scan s, const char *p)
{
    if (s.at == STRING) {
        if (*p == s.quote && p[-1] != '\\')
            s.at = CODE;
    } else if (s.at == COMMENT) {
        if (*p == '/' && p[-1] == '*')
            s.at = CODE;
    } else if (*p == '*' && p[-1] == '/') {
        s.at = COMMENT;
    } else if (*p == '"' || *p == '\'') {
        s.at = STRING;
        s.quote = *p;
    } else {
        s.depth += (*p == '(' || *p == '[') - (*p == ')' || *p == ']');
    }
    return s;
}

static scan over(scan s, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        s = step(s, text + i);
    return s;
}

/* The penalty of a break before text[i], a blank or the first character in parentheses. Lowest first: between the words
 * of a comment, then after an operator outside of all parentheses. */
static int badness(scan s, const char *text, size_t i)
{
    if (s.at == COMMENT || text[i + 1] == '/')
        return 0;
    return 2 * s.depth + !strchr(",;=+-*/%&|^<>?:{", text[i - 1]);
}

/* The position to break a line of n characters at, 0: none. */
static size_t place(scan s, const char *text, size_t n, size_t widest)
{
    size_t best = 0, first = EARLIEST;
    int least = 0;
    while (first < n && text[first - 1] == ' ') /* a deep indentation */
        first++;
    for (size_t i = 0; i < n && i <= widest; i++) {
        const bool may = text[i] == ' ' || (s.at == CODE && i > 0 && text[i - 1] == '(');
        if (i > first && may && s.at != STRING) {
            const int b = badness(s, text, i);
            if (!best || b <= least) {
                best = i;
                least = b;
            }
        }
        s = step(s, text + i);
    }
    return best;
}

/* The beginning of the next line after a break of `line` at `cut`. */
static const char *continuation(ac_region *r, scan begin, const char *line, size_t cut)
{
    int indent = 0;
    while (line[indent] == ' ')
        indent++;
    const scan s = over(begin, line, cut);
    if (s.at == COMMENT) /* " * " below the star of the comment */
        return ac_strf(r, "%*s*     ", begin.at == COMMENT ? indent : indent + 1, "");
    return ac_strf(r, "%*s", indent + 4, "");
}

static scan fit_line(ac_sink *to, scan s, const char *line, size_t n)
{
    ac_region *r = to->cx->region;
    const bool directive = s.at == CODE && *line == '#';
    while (n > WIDEST) {
        const size_t cut = place(s, line, n, directive ? WIDEST - 2 : WIDEST);
        if (!cut)
            break;
        const size_t rest = cut + (line[cut] == ' ');
        const char *next = continuation(r, s, line, cut);
        s = over(s, line, rest);
        ac_put_n(to, line, cut);
        ac_put(to, directive && s.at == CODE ? " \\\n" : "\n");
        line = ac_strf(r, "%s%.*s", next, (int)(n - rest), line + rest);
        n = strlen(line);
    }
    ac_put_n(to, line, n);
    return over(s, line, n);
}

void ac_emit_fitted(ac_sink *from, ac_sink *to)
{
    const char *text = ac_sink_text(from);
    scan s = {.at = CODE};
    while (*text) {
        const char *end = strchr(text, '\n');
        const size_t n = end ? (size_t)(end - text) : strlen(text);
        s = fit_line(to, s, text, n);
        if (!end)
            break;
        ac_putc(to, '\n');
        s.depth = 0;
        text = end + 1;
    }
}
