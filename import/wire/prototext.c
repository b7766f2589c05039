/* prototext.c - parses protobuf's text format into a tree. */
#include "import/wire/prototext.h"

#include <string.h>

enum { LINE_MAX_SHOWN = 240 };

/* Reading state: a cursor, and the message that is open. */
typedef struct lexer {
    ac_pt *pt;
    const uint8_t *at, *end, *line_start;
    int32_t line;
} lexer;

/* Places. */

/* The line that holds `at`, when it is short enough to be shown. */
static const char *source_of(const ac_pt *pt, const uint8_t *at)
{
    const uint8_t *from = at, *to = at, *end = pt->all.p + pt->all.n;
    while (from > pt->all.p && from[-1] != '\n' && at - from < LINE_MAX_SHOWN)
        from--;
    while (to < end && *to != '\n' && *to != '\r' && to - from < LINE_MAX_SHOWN)
        to++;
    if (to - from >= LINE_MAX_SHOWN)
        return NULL;
    for (const uint8_t *p = from; p < to; p++)
        if ((*p < 0x20 && *p != '\t') || *p == 0x7f)
            return NULL;
    return ac_strf(pt->cx->region, "%.*s", (int)(to - from), (const char *)from);
}

static int fail(lexer *x, const uint8_t *at, ac_code code, const char *what)
{
    ac_place place = {.file = x->pt->file, .line = x->line, .col = ac_column(x->line_start, at)};
    place.source = source_of(x->pt, at);
    return ac_error(x->pt->cx, place, code, "%s", what);
}

ac_place ac_pt_place(const ac_pt *pt, const ac_pt_node *n)
{
    ac_place at = {.file = pt->file, .line = n ? n->line : 0, .col = n ? n->col : 0};
    if (n && n->line && n->text.p >= pt->all.p && n->text.p <= pt->all.p + pt->all.n)
        at.source = source_of(pt, n->text.p);
    return at;
}

/* Words. */

static bool is_letter(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static void skip_blanks(lexer *x)
{
    while (x->at < x->end) {
        if (*x->at == '\n') {
            x->at++;
            x->line += x->line < INT32_MAX;
            x->line_start = x->at;
        } else if (*x->at == ' ' || *x->at == '\t' || *x->at == '\r' || *x->at == '\f' || *x->at == '\v') {
            x->at++;
        } else if (*x->at == '#') {
            while (x->at < x->end && *x->at != '\n')
                x->at++;
        } else {
            break;
        }
    }
}

static bool accept(lexer *x, char c)
{
    skip_blanks(x);
    if (x->at >= x->end || *x->at != (uint8_t)c)
        return false;
    x->at++;
    return true;
}

/* A name of a field: letters and digits, or [full.name/of.an.extension]. */
static int read_name(lexer *x, ac_pt_node *n)
{
    const uint8_t *from = x->at;
    n->line = x->line;
    n->col = ac_column(x->line_start, from);
    if (*from == '[') {
        for (x->at++; x->at < x->end && (is_letter(*x->at) || is_digit(*x->at) || strchr(" ./-", *x->at)); x->at++)
            if (!*x->at)
                break;
        if (x->at >= x->end || *x->at != ']')
            return fail(x, from, E0020, "the name of an extension does not end with ]");
        x->at++;
    } else {
        while (x->at < x->end && (is_letter(*x->at) || is_digit(*x->at)))
            x->at++;
        if (x->at == from)
            return fail(x, from, E0020, "expected the name of a field");
    }
    n->text.p = from;
    n->name = ac_intern_n(x->pt->cx, (const char *)from, (size_t)(x->at - from));
    return AC_OK;
}

/* Adjacent strings, each on one line, with any escapes; they are checked here and resolved when read. */
static int read_string(lexer *x, ac_pt_node *n)
{
    const uint8_t *stop = x->at;
    n->text.p = x->at;
    n->kind = AC_PT_STRING;
    do {
        const uint8_t quote = *x->at, *from = x->at++;
        while (x->at < x->end && *x->at != quote && *x->at != '\n')
            x->at += *x->at == '\\' && x->end - x->at > 1 && x->at[1] != '\n' ? 2 : 1;
        if (x->at >= x->end || *x->at != quote)
            return fail(x, from, E0020, "a string does not end on its line");
        stop = ++x->at;
        skip_blanks(x);
    } while (x->at < x->end && (*x->at == '"' || *x->at == '\''));
    n->text.n = (size_t)(stop - n->text.p);
    return AC_OK;
}

static int read_scalar(lexer *x, ac_pt_node *n)
{
    const uint8_t *from = x->at;
    if (from >= x->end)
        return fail(x, from, E0020, "the text ends where a value is expected");
    if (*from == '"' || *from == '\'')
        return read_string(x, n);
    n->text.p = from;
    if (*x->at == '-') {
        x->at++;
        skip_blanks(x);
    }
    const uint8_t *first = x->at;
    for (; x->at < x->end && (is_letter(*x->at) || is_digit(*x->at) || *x->at == '.' || *x->at == '+' || *x->at == '-');
         x->at++) {
        const bool sign = *x->at == '+' || *x->at == '-';
        if (sign && (x->at == first || (x->at[-1] != 'e' && x->at[-1] != 'E') || !(is_digit(*first) || *first == '.')))
            break;
    }
    if (x->at == first)
        return fail(x, from, E0020, "expected a value");
    n->kind = is_digit(*first) || *first == '.' ? AC_PT_NUMBER : AC_PT_WORD;
    n->text.n = (size_t)(x->at - from);
    return AC_OK;
}

/* The tree. */

static ac_pt_node *append(ac_pt *pt, ac_pt_node *up, ac_pt_node *n)
{
    ac_pt_node *own = ac_copy(pt->cx->region, n, sizeof *n);
    own->up = up;
    own->next = NULL;
    if (up->last)
        up->last->next = own;
    else
        up->first = own;
    up->last = own;
    return own;
}

ac_pt_node *ac_pt_add(ac_pt *pt, ac_pt_node *up, const char *name, ac_pt_kind kind, ac_span text)
{
    ac_pt_node n = {.name = ac_intern(pt->cx, name), .kind = kind, .text = text, .line = up->line, .col = up->col};
    return append(pt, up, &n);
}

/* The open messages around the cursor, and the list that a message is in. */
typedef struct open_message {
    ac_pt_node *message;
    char close;   /* } or > */
    bool in_list; /* the message is an element: after it comes , or ] */
} open_message;

typedef struct parser {
    lexer x;
    open_message open[AC_PT_DEPTH + 1];
    int32_t depth;
} parser;

static int open_one(parser *p, ac_pt_node *field, bool in_list)
{
    lexer *x = &p->x;
    const char close = *x->at == '{' ? '}' : '>';
    if (p->depth >= AC_PT_DEPTH)
        return fail(x, x->at, E0014, "messages are nested more than 100 deep");
    x->at++;
    field->kind = AC_PT_MESSAGE;
    field->text.n = 0;
    ac_pt_node *own = append(x->pt, p->open[p->depth].message, field);
    p->open[++p->depth] = (open_message){own, close, in_list};
    return AC_OK;
}

static bool at_message(lexer *x)
{
    skip_blanks(x);
    return x->at < x->end && (*x->at == '{' || *x->at == '<');
}

static void skip_separator(lexer *x)
{
    if (!accept(x, ';'))
        (void)accept(x, ',');
}

/* Elements of a list after the cursor, until its ] or until an element is a message, which is then open. */
static int read_elements(parser *p, ac_pt_node *field)
{
    lexer *x = &p->x;
    for (;;) {
        if (at_message(x))
            return open_one(p, field, true);
        AC_TRY(read_scalar(x, field));
        (void)append(x->pt, p->open[p->depth].message, field);
        if (accept(x, ']')) {
            skip_separator(x);
            return AC_OK;
        }
        if (!accept(x, ','))
            return fail(x, x->at, E0020, "expected , or ] in a list");
        skip_blanks(x);
    }
}

static int read_field(parser *p)
{
    lexer *x = &p->x;
    ac_pt_node field = {.kind = AC_PT_MESSAGE};
    AC_TRY(read_name(x, &field));
    const bool colon = accept(x, ':');
    if (at_message(x))
        return open_one(p, &field, false);
    if (accept(x, '[')) {
        if (accept(x, ']')) {
            skip_separator(x);
            return AC_OK;
        }
        return read_elements(p, &field);
    }
    if (!colon)
        return fail(x, x->at, E0020, "expected : or { after the name of a field");
    AC_TRY(read_scalar(x, &field));
    (void)append(x->pt, p->open[p->depth].message, &field);
    skip_separator(x);
    return AC_OK;
}

/* After the closing mark of a message. */
static int close_one(parser *p)
{
    lexer *x = &p->x;
    const open_message *m = &p->open[p->depth--];
    if (!m->in_list) {
        skip_separator(x);
        return AC_OK;
    }
    if (accept(x, ']')) {
        skip_separator(x);
        return AC_OK;
    }
    if (!accept(x, ','))
        return fail(x, x->at, E0020, "expected , or ] in a list");
    ac_pt_node field = {.name = m->message->name, .line = x->line};
    skip_blanks(x);
    field.text.p = x->at;
    field.line = x->line;
    field.col = ac_column(x->line_start, x->at);
    if (x->at >= x->end)
        return fail(x, x->at, E0020, "the text ends inside a list");
    return read_elements(p, &field);
}

int ac_pt_parse(ac_pt *pt, ac_ctx *cx, const char *file, ac_span text)
{
    *pt = (ac_pt){.cx = cx, .file = file, .all = text, .root = AC_NEW(cx->region, ac_pt_node)};
    parser p = {.x = {.pt = pt, .at = text.p, .end = text.p + text.n, .line_start = text.p, .line = 1}, .depth = 0};
    lexer *x = &p.x;
    pt->root->name = "";
    pt->root->text.p = text.p;
    p.open[0].message = pt->root;
    if (ac_span_starts(text, 0, "\xef\xbb\xbf", 3))
        x->at += 3;
    for (;;) {
        skip_blanks(x);
        if (x->at >= x->end) {
            if (!p.depth)
                return AC_OK;
            const ac_pt_node *m = p.open[p.depth].message;
            return ac_error(cx, ac_pt_place(pt, m), E0010, "the text ends inside of '%s', which starts here", m->name);
        }
        if (p.depth && *x->at == (uint8_t)p.open[p.depth].close) {
            x->at++;
            AC_TRY(close_one(&p));
        } else if (*x->at == '}' || *x->at == '>' || *x->at == ']') {
            return fail(x, x->at, E0020, "this closing bracket has no opening one");
        } else {
            AC_TRY(read_field(&p));
        }
    }
}

/* Looking up. */

ac_pt_node *ac_pt_again(const ac_pt_node *field)
{
    for (ac_pt_node *n = field->next; n; n = n->next)
        if (n->name == field->name)
            return n;
    return NULL;
}

ac_pt_node *ac_pt_find(const ac_pt_node *message, const char *name)
{
    for (ac_pt_node *n = message ? message->first : NULL; n; n = n->next)
        if (!strcmp(n->name, name))
            return n;
    return NULL;
}

ac_pt_node *ac_pt_last(const ac_pt_node *message, const char *name)
{
    ac_pt_node *last = NULL;
    for (ac_pt_node *n = ac_pt_find(message, name); n; n = ac_pt_again(n))
        last = n;
    return last;
}

int32_t ac_pt_count(const ac_pt_node *message, const char *name)
{
    int32_t count = 0;
    for (ac_pt_node *n = ac_pt_find(message, name); n; n = ac_pt_again(n))
        count++;
    return count;
}
