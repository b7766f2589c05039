/* custom_file.c - reads a file of --custom, line by line; see custom.h for the rows. */
#include "ir/ops/custom.h"

#include "base/ascii.h"

#include <string.h>

typedef struct reader {
    ac_words words;
    ac_ctx *cx;
    ac_customs *to;
    ac_custom *row; /* NULL: before the first */
    const char *library;
    const char *at; /* in the line, after the last word */
} reader;

/* The next word; NULL: the line, or its part before a comment, ends. *from: where it begins. */
static const char *take(reader *r, const char **from)
{
    while (r->at < r->words.stop && (*r->at == ' ' || *r->at == '\t'))
        r->at++;
    *from = r->at;
    return r->at < r->words.stop && *r->at == '#' ? NULL : ac_words_take(&r->words, &r->at);
}

/* The same; reports that `what` is missing. */
static const char *need(reader *r, const char **from, const char *what)
{
    const char *word = take(r, from);
    if (word && *word)
        return word;
    ac_words_complain(&r->words, *from, ac_strf(r->cx->region, "expected %s", what));
    return NULL;
}

static int complain(reader *r, const char *at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static int complain(reader *r, const char *at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *text = ac_vstrf(r->cx->region, fmt, ap);
    va_end(ap);
    return ac_words_complain(&r->words, at, text);
}

static bool is_identifier(const char *s)
{
    if (!*s || ac_is_digit(*s))
        return false;
    while (ac_is_alnum(*s) || *s == '_')
        s++;
    return !*s;
}

static int32_t find_tensor(const ac_custom_tensor *t, int32_t n, const char *name)
{
    for (int32_t i = 0; i < n; i++)
        if (!strcmp(t[i].name, name))
            return i;
    return -1;
}

/* ------------------------------------------------------------------ names in expressions */

/* True if `name` is a size of an operand, or an attribute of type i32. */
static bool is_bound(const ac_custom *c, const char *name, size_t n)
{
    for (int32_t i = 0; i < c->in.n; i++)
        for (int32_t d = 0; d < c->in.item[i].rank; d++) {
            const char *own = c->in.item[i].dim[d];
            if (own && strlen(own) == n && !strncmp(own, name, n) && !ac_is_digit(*own) && strcmp(own, "_") != 0)
                return true;
        }
    for (int32_t i = 0; i < c->attr.n; i++)
        if (c->attr.item[i].type == AC_CUSTOM_I32 && strlen(c->attr.item[i].name) == n &&
            !strncmp(c->attr.item[i].name, name, n))
            return true;
    return false;
}

static int check_expression(reader *r, const char *at, const char *text)
{
    for (const char *s = text; *s;) {
        size_t n = 0;
        while (ac_is_alnum(s[n]) || s[n] == '_')
            n++;
        if (!n && !strchr("+-*/()", *s))
            return complain(r, at, "expected numbers and names of sizes with + - * / and brackets, found '%s'", text);
        if (n && !ac_is_digit(*s) && !is_bound(r->row, s, n))
            return complain(r, at, "'%.*s' is neither a size of an operand above nor an attribute of type i32", (int)n,
                            s);
        s += n ? n : 1;
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ operands and results */

static int read_types(reader *r, const char *at, const char *word, bool result, ac_custom_tensor *t)
{
    t->like = result ? find_tensor(r->row->in.item, r->row->in.n, word) : -1;
    if (t->like >= 0)
        return AC_OK;
    uint32_t all = 0;
    for (int d = AC_F32; d <= AC_BOOL; d++)
        all |= (uint32_t)1 << d;
    if (!result && !strcmp(word, "any"))
        t->types = all;
    for (const char *s = word; !t->types || s != word; s++) {
        const size_t n = strcspn(s, "|");
        const ac_dtype d = ac_dtype_find(s, (int)n);
        if (!(all >> d & 1) || (result && s[n]))
            return result ? complain(r, at, "expected an element type, or an operand above with it, found '%s'", word)
                          : complain(r, at, "expected element types, joined by '|', or any, found '%s'", word);
        t->types |= (uint32_t)1 << d;
        s += n;
        if (!*s)
            break;
    }
    return AC_OK;
}

/* "[n,..,2*c]" */
static int read_shape(reader *r, const char *at, const char *word, bool result, ac_custom_tensor *t)
{
    const size_t n = strlen(word);
    int32_t dots = 0;
    t->shape = word;
    if (!result && !strcmp(word, "any")) {
        t->rank = -1;
        return AC_OK;
    }
    if (n < 2 || *word != '[' || word[n - 1] != ']')
        return complain(r, at, "expected a shape in brackets, without blanks, found '%s'", word);
    for (const char *s = word + 1; s < word + n - 1;) {
        const size_t len = strcspn(s, ",]");
        const char *dim = ac_intern_n(r->cx, s, len);
        const bool dot = !strcmp(dim, "..");
        const bool number = *dim && strspn(dim, "0123456789") == len && len < 10;
        if (t->rank == AC_CUSTOM_RANK)
            return complain(r, at, "expected at most 8 dimensions, found '%s'", word);
        if (!*dim || (dot && dots++))
            return complain(r, at, "expected dimensions between commas, and '..' once, found '%s'", word);
        if (!dot && !result && !number && !is_identifier(dim))
            return complain(r, at, "expected a number, a name, '_' or '..' as a dimension of an operand, found '%s'",
                            dim);
        if (!dot && result)
            AC_TRY(check_expression(r, at, dim));
        t->dim[t->rank++] = dot ? NULL : dim;
        s += len + 1;
        if (s == word + n - 1 && s[-1] == ',')
            return complain(r, at, "expected a dimension after the last comma of '%s'", word);
    }
    return AC_OK;
}

static int read_tensor(reader *r, bool result)
{
    ac_custom *c = r->row;
    ac_custom_tensor t = {.like = -1};
    const char *at, *type_at, *shape_at;
    const char *name = need(r, &at, result ? "the name of a result" : "the name of an operand");
    const char *types = name ? need(r, &type_at, "element types") : NULL;
    const char *shape = types ? need(r, &shape_at, "a shape, as in [n,..,c]") : NULL;
    if (!shape)
        return AC_FAIL;
    const size_t n = strlen(name);
    t.optional = !result && name[n - 1] == '?';
    t.repeated = !result && name[n - 1] == '*';
    t.name = ac_intern_n(r->cx, name, n - (t.optional || t.repeated));
    if (!is_identifier(t.name) || ac_dtype_find(t.name, (int)strlen(t.name)) || !strcmp(t.name, "any"))
        return complain(r, at, "expected a name of letters, digits and _ that is not a type, found '%s'", name);
    if (find_tensor(c->in.item, c->in.n, t.name) >= 0 || find_tensor(c->out.item, c->out.n, t.name) >= 0)
        return complain(r, at, "'%s' is the name of another operand or result", t.name);
    if (!result && c->in.n && c->in.item[c->in.n - 1].repeated)
        return complain(r, at, "operand '%s' comes after one with '*', which is the last", t.name);
    if (!result && !c->in.n && (t.optional || t.repeated))
        return complain(r, at, "the first operand, '%s', cannot be left out", t.name);
    if ((result ? c->out.n : c->in.n) == AC_CUSTOM_MOST)
        return complain(r, at, "'%s' is one too many: at most 60 operands, and 60 results", t.name);
    AC_TRY(read_types(r, type_at, types, result, &t));
    AC_TRY(read_shape(r, shape_at, shape, result, &t));
    if (result)
        ac_push(r->cx->region, &c->out, t);
    else
        ac_push(r->cx->region, &c->in, t);
    return AC_OK;
}

/* ------------------------------------------------------------------ other rows */

static int read_attr(reader *r)
{
    ac_custom_attr a = {0};
    const char *at, *type_at, *init_at;
    int32_t k = 0;
    a.name = need(r, &at, "the name of an attribute");
    const char *type = a.name ? need(r, &type_at, "i32, f32, ints, floats or text") : NULL;
    if (!type)
        return AC_FAIL;
    const size_t n = strlen(a.name);
    a.optional = a.name[n - 1] == '?';
    a.name = ac_intern_n(r->cx, a.name, n - a.optional);
    if (!is_identifier(a.name))
        return complain(r, at, "expected a name of letters, digits and _, found '%s'", a.name);
    for (int32_t i = 0; i < r->row->attr.n; i++)
        if (!strcmp(r->row->attr.item[i].name, a.name))
            return complain(r, at, "there are two attributes '%s'", a.name);
    if (r->row->attr.n == AC_CUSTOM_MOST)
        return complain(r, at, "attribute '%s' is one too many: at most 60", a.name);
    while (k < AC_CUSTOM_N_TYPES && strcmp(ac_custom_type_name[k], type) != 0)
        k++;
    if (k == AC_CUSTOM_N_TYPES)
        return complain(r, type_at, "expected i32, f32, ints, floats or text, found '%s'", type);
    a.type = (ac_custom_type)k;
    a.init = take(r, &init_at);
    ac_custom_value v;
    if (a.init && a.optional)
        return complain(r, init_at, "'%s' has a default: omit the '?' or the default", a.name);
    if (a.init && !ac_custom_value_read(r->cx, a.type, a.init, &v))
        return complain(r, init_at, "'%s' is not a value of type %s", a.init, type);
    ac_push(r->cx->region, &r->row->attr, a);
    return AC_OK;
}

static int read_name(reader *r, ac_custom_format format)
{
    const char *at, *from;
    const char *domain = format == AC_CUSTOM_ONNX ? need(r, &at, "the domain of the operator, or ai.onnx") : "";
    const char *name = domain ? need(r, &from, "the name of the operator in files of that format") : NULL;
    if (!name)
        return AC_FAIL;
    domain = strcmp(domain, "ai.onnx") ? domain : "";
    if (ac_custom_of(r->cx, format, domain, name))
        return complain(r, from, "'%s' is bound by another row already", name);
    ac_push(r->cx->region, &r->row->names, ((ac_custom_name){format, domain, name}));
    return AC_OK;
}

static int read_call(reader *r)
{
    const char *at;
    const char *name = need(r, &at, "the name of a C function");
    if (!name)
        return AC_FAIL;
    if (!is_identifier(name))
        return complain(r, at, "expected the name of a C function, found '%s'", name);
    r->row->function = name;
    return AC_OK;
}

static int read_scratch(reader *r)
{
    const char *at;
    r->row->scratch = need(r, &at, "a number of bytes, or an expression of sizes");
    return r->row->scratch ? check_expression(r, at, r->row->scratch) : AC_FAIL;
}

static int read_inplace(reader *r)
{
    const char *at, *name = need(r, &at, "the name of an operand");
    for (; name; name = take(r, &at)) {
        const int32_t i = find_tensor(r->row->in.item, r->row->in.n, name);
        if (i < 0 || r->row->in.item[i].repeated)
            return complain(r, at, "expected the name of a single operand above, found '%s'", name);
        if (i >= 32)
            return complain(r, at, "'%s' is not one of the first 32 operands", name);
        r->row->inplace |= (uint32_t)1 << i;
    }
    return r->row->inplace ? AC_OK : AC_FAIL;
}

static int read_library(reader *r)
{
    const char *at, *path = need(r, &at, "the path of a shared library");
    const char *slash = strrchr(r->words.file, '/');
    if (!path)
        return AC_FAIL;
    r->library = *path == '/' ? path
                 : !slash     ? ac_strf(r->cx->region, "./%s", path)
                              : ac_strf(r->cx->region, "%.*s/%s", (int)(slash - r->words.file), r->words.file, path);
    if (r->row)
        r->row->library = r->library;
    return AC_OK;
}

/* ------------------------------------------------------------------ operators */

static int end_row(reader *r)
{
    ac_custom *c = r->row;
    if (!c)
        return AC_OK;
    const char *missing = !c->in.n ? "in" : !c->out.n ? "out" : NULL;
    if (missing)
        return ac_error(r->cx, c->at, E0020, "operator '%s' has no row '%s'", c->name, missing);
    if (!c->function && !is_identifier(c->name))
        return ac_error(r->cx, c->at, E0020, "operator '%s' needs a row 'call': its name is not that of a C function",
                        c->name);
    if (!c->function)
        c->function = c->name;
    r->row = NULL;
    return AC_OK;
}

static int read_operator(reader *r)
{
    const char *at, *name;
    AC_TRY(end_row(r));
    if (!(name = need(r, &at, "the name of an operator")))
        return AC_FAIL;
    if (ac_custom_find(r->cx, name))
        return complain(r, at, "there are two operators '%s'", name);
    r->row = AC_NEW(r->cx->region, ac_custom);
    *r->row = (ac_custom){.name = name, .library = r->library};
    r->row->at =
        (ac_place){.file = r->words.file,
                   .line = r->words.number,
                   .col = ac_column(r->words.line, at),
                   .source = ac_strf(r->cx->region, "%.*s", (int)(r->words.stop - r->words.line), r->words.line)};
    ac_push(r->cx->region, &r->to->row, r->row);
    return AC_OK;
}

static int read_in(reader *r)
{
    return read_tensor(r, false);
}

static int read_out(reader *r)
{
    return read_tensor(r, true);
}

static int read_pure(reader *r)
{
    r->row->pure = true;
    return AC_OK;
}

static int read_options(reader *r)
{
    r->row->options = true;
    return AC_OK;
}

/* The rows by their first word; those of formats come after them. */
#define ROWS(X) X(library) X(operator) X(call) X(in) X(out) X(attr) X(scratch) X(inplace) X(options) X(pure)
enum { N_ROWS = 10, N_FREE = 2, N_KEYS = N_ROWS + AC_CUSTOM_N_FORMATS }; /* free: also outside of an operator */

static int read_key(reader *r, const char *at, const char *key)
{
#define NAME(id, text) text,
#define KEY(word)      #word,
#define READ(word)     read_##word,
    static const char *const KEYS[N_KEYS] = {ROWS(KEY) AC_CUSTOM_FORMATS(NAME)};
    static int (*const READERS[N_ROWS])(reader *) = {ROWS(READ)};
#undef READ
#undef KEY
#undef NAME
    int k = 0;
    while (k < N_KEYS && strcmp(KEYS[k], key) != 0)
        k++;
    if (k == N_KEYS) {
        complain(r, at, "unknown row '%s'", key);
        const char *near = ac_closest(key, KEYS, N_KEYS);
        return near ? ac_help(r->cx, "did you mean '%s'?", near) : AC_FAIL;
    }
    if (!r->row && k >= N_FREE)
        return complain(r, at, "expected a row 'operator' before '%s'", key);
    return k < N_ROWS ? READERS[k](r) : read_name(r, (ac_custom_format)(k - N_ROWS));
}

static int read_line(reader *r)
{
    const char *from, *more;
    r->at = r->words.line;
    const char *key = take(r, &from);
    if (!key)
        return AC_OK;
    AC_TRY(read_key(r, from, key));
    return take(r, &more) ? complain(r, more, "unexpected text after '%s'", key) : AC_OK;
}

int ac_custom_read(ac_ctx *cx, const char *file, const char *text, size_t n)
{
    reader r = {.words = {.cx = cx, .file = file, .at = text, .end = text + n}, .cx = cx};
    r.to = AC_NEW(cx->region, ac_customs);
    for (int32_t i = 0; cx->customs && i < cx->customs->row.n; i++)
        ac_push(cx->region, &r.to->row, cx->customs->row.item[i]);
    cx->customs = r.to;
    while (ac_words_line(&r.words))
        AC_TRY(read_line(&r));
    return end_row(&r);
}
