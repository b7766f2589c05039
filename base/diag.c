/* diag.c - making, ordering and printing diagnostics. */
#include "base/ascii.h"
#include "base/ctx.h"
#include "base/file.h"
#include "base/format.h"
#include "base/interrupt.h"
#include "base/visible.h"

#include <string.h>

static const struct {
    const char *name, *title, *explain;
    ac_exit exit;
} CODES[AC_CODE_COUNT] = {
#define ERR(code, exit, title, explain) [code] = {#code, title, explain, exit},
#include "base/errors.def"
#undef ERR
};

const char *ac_code_name(ac_code code)
{
    return CODES[code].name;
}
const char *ac_code_title(ac_code code)
{
    return CODES[code].title;
}
const char *ac_code_explain(ac_code code)
{
    return CODES[code].explain;
}
ac_exit ac_code_exit(ac_code code)
{
    return CODES[code].exit;
}

bool ac_code_find(const char *name, ac_code *code)
{
    for (int i = 0; i < AC_CODE_COUNT; i++)
        if (ac_same_letters(CODES[i].name, name)) {
            *code = (ac_code)i;
            return true;
        }
    return false;
}

/* A text for a message: nothing in it drives a terminal, and no name fills the screen. */
static const char *shown(ac_ctx *cx, const char *text)
{
    return ac_brief(cx->region, ac_visible(cx->region, text));
}

static const char *name_shown(ac_ctx *cx, const char *name)
{
    return name ? ac_brief_name(cx->region, ac_visible(cx->region, ac_intern(cx, name))) : NULL;
}

static ac_place keep_place(ac_ctx *cx, ac_place at)
{
    at.file = at.file ? ac_visible(cx->region, ac_intern(cx, at.file)) : NULL;
    at.node = name_shown(cx, at.node);
    at.op = name_shown(cx, at.op);
    if (at.source) {                    /* the source text may go away: keep this one line */
        enum { SHOWN = AC_BRIEF_MOST }; /* a longer line is not shown */
        size_t n = 0;
        while (n < SHOWN && at.source[n] && at.source[n] != '\r' && at.source[n] != '\n')
            n++;
        char *line = n < SHOWN ? ac_strf(cx->region, "%.*s", (int)n, at.source) : NULL;
        if (line)
            ac_hide(line);
        at.source = line;
    }
    return at;
}

bool ac_diags_full(const ac_diags *d)
{
    return d->errors >= (d->limit ? d->limit : 20);
}

/* A diagnostic of its own, not yet in the list; NULL: there are too many like it. */
static ac_diag *fresh(ac_ctx *cx, ac_severity sev, ac_place at, ac_code code)
{
    ac_diags *d = &cx->diags;
    const ac_exit exit = ac_code_exit(code);
    if (sev == AC_ERROR && (exit == AC_EXIT_INVALID || exit == AC_EXIT_UNSAFE) && ac_diags_full(d)) {
        d->dropped++;
        d->last = NULL; /* its details go nowhere */
        d->errors++;
        return NULL;
    }
    ac_diag *x = AC_NEW(cx->region, ac_diag);
    x->severity = sev;
    x->code = code;
    x->at = keep_place(cx, at);
    x->tail = &x->line;
    return x;
}

static void append(ac_diags *d, ac_diag *x)
{
    if (!d->tail)
        d->tail = &d->first;
    *d->tail = x;
    d->tail = &x->next;
    d->last = x;
    if (x->severity == AC_ERROR)
        d->errors++;
    else if (x->severity == AC_WARNING)
        d->warnings++;
}

__attribute__((format(printf, 5, 0))) static void add(ac_ctx *cx, ac_severity sev, ac_place at, ac_code code,
                                                      const char *fmt, va_list ap)
{
    ac_diag *x = fresh(cx, sev, at, code);
    if (!x)
        return;
    x->text = shown(cx, ac_vstrf(cx->region, fmt, ap));
    append(&cx->diags, x);
}

int ac_error(ac_ctx *cx, ac_place at, ac_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add(cx, AC_ERROR, at, code, fmt, ap);
    va_end(ap);
    return AC_FAIL;
}

void ac_warn(ac_ctx *cx, ac_place at, ac_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add(cx, AC_WARNING, at, code, fmt, ap);
    va_end(ap);
}

void ac_note(ac_ctx *cx, ac_place at, ac_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add(cx, AC_NOTE, at, code, fmt, ap);
    va_end(ap);
}

int ac_no_memory(ac_ctx *cx, const char *file)
{
    ac_last_words *w = &cx->last_words;
    for (const ac_diag *x = cx->diags.first; x; x = x->next)
        if (x == &w->diag)
            return AC_FAIL;
    const bool system = cx->heap.exhausted;
    ac_print(w->text, sizeof w->text,
             system ? "the system gives no more memory than %zu KiB"
                    : "the model needs more than %zu MiB of memory to compile",
             system ? cx->heap.used >> 10 : cx->heap.limit >> 20);
    w->help = (ac_diag_line){.kind = 'h',
                             .text = system ? "end other programs, or take a machine with more memory"
                                            : "raise it with --max-memory SIZE if the model is really that large"};
    w->diag = (ac_diag){
        .severity = AC_ERROR, .code = system ? E0403 : E0402, .at = {.file = file}, .text = w->text, .line = &w->help};
    w->diag.tail = &w->help.next;
    append(&cx->diags, &w->diag);
    return AC_FAIL;
}

static int append_line(ac_ctx *cx, char kind, const char *text)
{
    ac_diag *x = cx->diags.last;
    ac_diag_line *l = AC_NEW(cx->region, ac_diag_line);
    l->kind = kind;
    l->text = text;
    *x->tail = l;
    x->tail = &l->next;
    return AC_FAIL;
}

__attribute__((format(printf, 3, 0))) static int add_line(ac_ctx *cx, char kind, const char *fmt, va_list ap)
{
    return cx->diags.last ? append_line(cx, kind, shown(cx, ac_vstrf(cx->region, fmt, ap))) : AC_FAIL;
}

void ac_diags_copy(ac_ctx *cx, const ac_diags *from)
{
    for (const ac_diag *d = from->first; d; d = d->next) {
        ac_diag *x = fresh(cx, d->severity, d->at, d->code);
        if (!x)
            continue;
        x->text = ac_strdup(cx->region, d->text);
        append(&cx->diags, x);
        for (const ac_diag_line *l = d->line; l; l = l->next)
            append_line(cx, l->kind, ac_strdup(cx->region, l->text));
    }
    cx->diags.dropped += from->dropped;
    cx->diags.errors += from->dropped;
}

#define LINE_FN(name, kind)                    \
    int name(ac_ctx *cx, const char *fmt, ...) \
    {                                          \
        va_list ap;                            \
        va_start(ap, fmt);                     \
        int r = add_line(cx, kind, fmt, ap);   \
        va_end(ap);                            \
        return r;                              \
    }
LINE_FN(ac_detail, '|')
LINE_FN(ac_reason, 'r')
LINE_FN(ac_help, 'h')

bool ac_quietly(ac_ctx *cx, ac_diags before, int status)
{
    if (status == AC_OK)
        return true;
    cx->diags = before;
    if (before.tail)
        *before.tail = NULL;
    return false;
}

ac_exit ac_diags_exit(const ac_diags *d)
{
    static const ac_exit ORDER[] = {AC_EXIT_INTERNAL, AC_EXIT_USAGE,       AC_EXIT_IO,
                                    AC_EXIT_INVALID,  AC_EXIT_UNSUPPORTED, AC_EXIT_BUDGET,
                                    AC_EXIT_UNSAFE,   AC_EXIT_CHANGED,     AC_EXIT_DIFFERS};
    for (size_t i = 0; i < sizeof ORDER / sizeof *ORDER; i++) {
        if (ORDER[i] == AC_EXIT_INVALID && d->dropped)
            return AC_EXIT_INVALID;
        for (const ac_diag *x = d->first; x; x = x->next)
            if (x->severity == AC_ERROR && ac_code_exit(x->code) == ORDER[i])
                return ORDER[i];
    }
    return d->werror && d->warnings ? AC_EXIT_INVALID : AC_EXIT_OK;
}

static void print_place(const ac_place *at, FILE *to)
{
    if (at->file)
        fprintf(to, "%s:", at->file);
    if (at->line)
        fprintf(to, "%d", at->line);
    if (at->line && at->col)
        fprintf(to, ":%d", at->col);
    if (at->subgraph)
        fprintf(to, "subgraph%d:", at->subgraph);
    if (at->op_index)
        fprintf(to, "op%d", at->op_index - 1);
    if (at->byte)
        fprintf(to, "%sbyte 0x%llx", at->op_index ? " " : "", (unsigned long long)(at->byte - 1));
    if (at->node)
        fprintf(to, " '%s'", at->node);
    if (at->op)
        fprintf(to, " (%s)", at->op);
    if (at->line || at->op_index || at->byte || at->node || at->op)
        fputc(':', to);
    if (at->file || at->line || at->node || at->op)
        fputc(' ', to);
}

void ac_diags_print(const ac_diags *d, FILE *to, bool color)
{
    static const char *const SEV[] = {"error", "warning", "note"};
    static const char *const TINT[] = {"\033[1;31m", "\033[1;35m", "\033[1;36m"};
    for (const ac_diag *x = d->first; x; x = x->next) {
        print_place(&x->at, to);
        fprintf(to, "%s%s[%s]%s: %s\n", color ? TINT[x->severity] : "", SEV[x->severity], ac_code_name(x->code),
                color ? "\033[0m" : "", x->text);
        if (x->at.source && x->at.line) {
            fprintf(to, "  | %s\n  | ", x->at.source);
            for (int i = 1; i < x->at.col && x->at.source[i - 1]; i++)
                fputc(x->at.source[i - 1] == '\t' ? '\t' : ' ', to);
            fputs("^\n", to);
        }
        for (const ac_diag_line *l = x->line; l; l = l->next)
            fprintf(to, "  %s%s\n", l->kind == '|' ? "| " : l->kind == 'r' ? "= reason: " : "= help: ", l->text);
    }
    if (d->dropped)
        fprintf(to, "(%d more errors not shown; --max-errors N shows more)\n", d->dropped);
}

/* Edit distance with a cut-off, a swap of neighbours counted as one (optimal string alignment); words are short, so
 * three rows on the stack are enough. */
static int distance(const char *a, const char *b)
{
    enum { MAX = 48 };
    const size_t n = strlen(a), m = strlen(b);
    if (n >= MAX || m >= MAX)
        return MAX;
    int rows[3][MAX + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int *const spare = before;
        before = last;
        last = row;
        row = spare;
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int best = last[j - 1] + (a[i - 1] != b[j - 1]);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

const char *ac_closest(const char *word, const char *const *names, int32_t n)
{
    const char *best = NULL;
    int best_d = (int)strlen(word) / 3 + 2;
    for (int32_t i = 0; i < n; i++) {
        int d = distance(word, names[i]);
        if (d < best_d) {
            best_d = d;
            best = names[i];
        }
    }
    for (int32_t i = 0; i < n && !best; i++) /* m4: cortex-m4; sequence: seq */
        if (word[0] && word[1] && (strstr(names[i], word) || (strlen(names[i]) > 2 && strstr(word, names[i]))))
            best = names[i];
    return best;
}

void ac_ctx_open(ac_ctx *cx)
{
    memset(cx, 0, sizeof *cx);
}
void ac_ctx_start(ac_ctx *cx)
{
    cx->region = ac_region_open(&cx->heap);
}
void ac_ctx_close(ac_ctx *cx)
{
    ac_folders_forget(cx);
    ac_mapped_forget(cx);
    for (const ac_kept *k = cx->kept; k; k = k->next)
        k->unmap(k->map, k->n);
    ac_heap_close(&cx->heap);
    memset(cx, 0, sizeof *cx);
}
