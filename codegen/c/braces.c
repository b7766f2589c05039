/* braces.c - adds braces around every body of if, else and for in code for firmware (MISRA C:2012, rule 15.6):
 *
 *     if (row == 0u)                  if (row == 0u) {
 *         KWS_STEP_BEGIN(0);    ->        KWS_STEP_BEGIN(0);
 *                                     }
 *
 * It expects the layout of this printer: a head on one line, one statement a line or over several lines, blocks that
 * open at the end of a line and close at the beginning of one. */
#include "codegen/c/emit.h"

#include <string.h>

enum { DEEPEST = 64 };

typedef struct braces {
    ac_sink *to;
    int open[DEEPEST]; /* for each open block: -1; for a body that gets braces: the indentation of its head */
    int n, depth;      /* depth: of parentheses */
    bool comment;      /* the line begins inside of one */
} braces;

static bool begins(const char *s, const char *word)
{
    return !strncmp(s, word, strlen(word));
}

/* Length of the code of a line, without trailing blanks and comment. Sets whether a comment continues on the next
 * line. */
static size_t code_of(braces *b, const char *line, size_t n)
{
    size_t code = 0;
    for (size_t i = 0; i < n; i++) {
        if (b->comment) {
            b->comment = !(line[i] == '/' && i > 0 && line[i - 1] == '*');
        } else if (line[i] == '/' && i + 1 < n && line[i + 1] == '*') {
            b->comment = true;
            i++;
        } else if (line[i] != ' ') {
            b->depth += (line[i] == '(') - (line[i] == ')');
            code = i + 1;
        }
    }
    return code;
}

static bool is_head(const char *s, size_t n, const braces *b)
{
    if (b->depth || !n || s[n - 1] == ';' || s[n - 1] == '{')
        return false;
    return begins(s, "if (") || begins(s, "else") || begins(s, "for (") || begins(s, "} else");
}

/* A statement or a block ends, and with it the bodies that consist of it. */
static void close_bodies(braces *b)
{
    while (b->n && b->open[b->n - 1] >= 0)
        ac_putf(b->to, "%*s}\n", b->open[--b->n], "");
}

static void put_line(braces *b, const char *line, size_t n)
{
    const bool inside = b->comment, directive = *line == '#' && !inside;
    const int before = b->depth;
    const size_t code = code_of(b, line, n);
    int indent = 0;
    while ((size_t)indent < n && line[indent] == ' ')
        indent++;
    const char *s = line + indent;
    if (inside || directive || !code || before) {
        b->depth = directive ? before : b->depth;
        ac_putf(b->to, "%.*s\n", (int)n, line);
        if (!inside && !directive && code && !b->depth && line[code - 1] == ';')
            close_bodies(b);
        return;
    }
    const bool block_ends = *s == '}';
    if (block_ends && b->n)
        b->n--;
    if (is_head(s, code - (size_t)indent, b) && b->n < DEEPEST) {
        ac_putf(b->to, "%.*s {%.*s\n", (int)code, line, (int)(n - code), line + code);
        b->open[b->n++] = indent;
        return;
    }
    ac_putf(b->to, "%.*s\n", (int)n, line);
    if (line[code - 1] == '{' && b->n < DEEPEST)
        b->open[b->n++] = -1;
    else if (!b->depth && (block_ends || line[code - 1] == ';'))
        close_bodies(b);
}

void ac_emit_braced(ac_sink *from, ac_sink *to)
{
    braces b = {.to = to};
    for (const char *line = ac_sink_text(from), *end; (end = strchr(line, '\n')); line = end + 1)
        put_line(&b, line, (size_t)(end - line));
}
