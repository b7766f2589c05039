/* parse.c - parses the text form.
 *
 * Reads what dump.c writes. Nothing is folded, and numbers must be the instructions' positions, so that the text
 * round-trips. Only syntax is checked here (E0020, with the position); ac_loop_verify checks the rest. */
#include "base/ascii.h"
#include "base/decimal.h"
#include "ir/loop/builder.h"
#include "ir/loop/kernel.h"
#include "ir/loop/requants.h"
#include "ir/loop/text_words.h"
#include "ir/loop/tiles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum kind { END_OF_TEXT, WORD, NUMBER, VALUE, TEXT, MARK }; /* VALUE: %12; MARK: one of = [ ] or .. */

typedef struct reader {
    ac_ctx *cx;
    const char *file, *text, *end, *p;
    int32_t line;
    const char *line_start;
    enum kind kind; /* the present token */
    const char *tok;
    size_t len;
    const char *name; /* of the function, for messages */
    ac_loop_fn *fn;
} reader;

static int syntax(reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int syntax(reader *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *text = ac_vstrf(r->cx->region, fmt, ap);
    va_end(ap);
    ac_place at = {.file = r->file, .line = r->line, .col = (int32_t)(r->tok - r->line_start) + 1};
    size_t n = 0;
    while (r->line_start + n < r->end && r->line_start[n] != '\n')
        n++;
    char *source = ac_alloc(r->cx->region, n + 1);
    memcpy(source, r->line_start, n);
    at.source = source;
    return ac_error(r->cx, at, E0020, "%s", text);
}

static bool word_char(char ch)
{
    return ac_is_alnum(ch) || ch == '_';
}

static bool number_start(const reader *r)
{
    const char *p = r->p;
    if (p < r->end && (*p == '-' || *p == '+'))
        p++;
    if (p >= r->end)
        return false;
    bool named = *p == 'n' || *p == 'i'; /* -nan, -inf */
    return ac_is_digit(*p) || (p > r->p && named);
}

/* The next token. Spaces, line ends and # comments separate. */
static void next(reader *r)
{
    for (; r->p < r->end; r->p++) {
        if (*r->p == '\n') {
            r->line++;
            r->line_start = r->p + 1;
        } else if (*r->p == '#') {
            while (r->p + 1 < r->end && r->p[1] != '\n')
                r->p++;
        } else if (*r->p != ' ' && *r->p != '\t' && *r->p != '\r') {
            break;
        }
    }
    r->tok = r->p;
    if (r->p >= r->end) {
        r->kind = END_OF_TEXT;
    } else if (*r->p == '%') {
        r->kind = VALUE;
        for (r->p++; r->p < r->end && ac_is_digit(*r->p);)
            r->p++;
    } else if (number_start(r)) {
        r->kind = NUMBER;
        for (r->p++; r->p < r->end &&
                     (word_char(*r->p) || *r->p == '.' || ((*r->p == '-' || *r->p == '+') && (r->p[-1] == 'e')));)
            r->p++;
    } else if (word_char(*r->p)) {
        r->kind = WORD;
        while (r->p < r->end && word_char(*r->p))
            r->p++;
    } else if (*r->p == '"') {
        r->kind = TEXT;
        for (r->p++; r->p < r->end && *r->p != '"' && *r->p != '\n';)
            r->p++;
        r->p += r->p < r->end && *r->p == '"';
    } else {
        r->kind = MARK;
        r->p += *r->p == '.' && r->p + 1 < r->end && r->p[1] == '.' ? 2 : 1;
    }
    r->len = (size_t)(r->p - r->tok);
}

static bool is(const reader *r, const char *word)
{
    return r->kind != END_OF_TEXT && strlen(word) == r->len && !memcmp(word, r->tok, r->len);
}

static bool take(reader *r, const char *word)
{
    if (!is(r, word))
        return false;
    next(r);
    return true;
}

static int expect(reader *r, const char *word)
{
    return take(r, word) ? AC_OK : syntax(r, "expected '%s'", word);
}

static char *token(const reader *r)
{
    char *s = ac_alloc(r->cx->region, r->len + 1);
    memcpy(s, r->tok, r->len);
    return s;
}

static int read_name(reader *r, const char **out)
{
    if (r->kind != WORD)
        return syntax(r, "expected a name");
    *out = ac_intern_n(r->cx, r->tok, r->len);
    next(r);
    return AC_OK;
}

static int read_int(reader *r, int64_t lo, int64_t hi, int64_t *out)
{
    char *end, *s = token(r);
    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (r->kind != NUMBER || *end || errno || v < lo || v > hi)
        return syntax(r, "expected an integer in %lld..%lld", (long long)lo, (long long)hi);
    *out = v;
    next(r);
    return AC_OK;
}

static int read_i32(reader *r, int64_t lo, int64_t hi, int32_t *out)
{
    int64_t v = 0;
    AC_TRY(read_int(r, lo, hi, &v));
    *out = (int32_t)v;
    return AC_OK;
}

/* A lane in the format of constants: an integer of the type, or the bits of a double. */
static int read_lane(reader *r, ac_dtype d, int64_t *out)
{
    char *s = token(r), *last = s;
    const char *end;
    errno = 0;
    if (r->kind != NUMBER && !(r->kind == WORD && (is(r, "nan") || is(r, "inf"))))
        return syntax(r, "expected a number");
    if (ac_dtype_is_float(d)) {
        double v = ac_read_real(s, &end);
        memcpy(out, &v, sizeof v);
    } else if (d == AC_U64) {
        *out = (int64_t)strtoull(s, &last, 10);
        end = last;
    } else {
        *out = strtoll(s, &last, 10);
        end = last;
        if (*out < ac_dtype_min(d) || *out > ac_dtype_max(d))
            errno = ERANGE;
    }
    if (*end || (errno && !ac_dtype_is_float(d)))
        return syntax(r, "%s is no %s", s, ac_dtype_name(d));
    next(r);
    return AC_OK;
}

static int read_value(reader *r, ac_x *out)
{
    int32_t n = r->kind == VALUE && r->len > 1 && r->len <= 10 ? atoi(token(r) + 1) : 0;
    if (n <= 0 || n >= r->fn->code.n)
        return syntax(r, "expected the number of an earlier instruction, as in %%3");
    *out = n;
    next(r);
    return AC_OK;
}

static int read_type(reader *r, ac_ins *i)
{
    if (r->kind != WORD)
        return syntax(r, "expected a type, as in f32 or f32x16");
    const char *x = memchr(r->tok, 'x', r->len);
    size_t n = x ? (size_t)(x - r->tok) : r->len;
    ac_dtype d = ac_dtype_find(r->tok, (int)n);
    int lanes = x ? atoi(token(r) + n + 1) : 1;
    if (d == AC_NONE || lanes < 1 || lanes > AC_MAX_LANES)
        return syntax(r, "'%s' is not a type", token(r));
    i->dtype = (uint8_t)d;
    i->lanes = (uint16_t)lanes;
    next(r);
    return AC_OK;
}

static const char *read_note(reader *r)
{
    if (r->kind != TEXT)
        return NULL;
    char *s = token(r);
    s[r->len - 1] = 0;
    next(r);
    return s + 1;
}

static int read_keyword(reader *r, const char *const *words, int32_t n, int32_t *out)
{
    for (int32_t i = 0; i < n; i++)
        if (take(r, words[i])) {
            *out = i;
            return AC_OK;
        }
    return syntax(r, "'%s' is not known here", token(r));
}

static int read_buf(reader *r)
{
    ac_buf m = {0};
    ac_ins type = {0};
    int32_t role = 0;
    AC_TRY(read_name(r, &m.name));
    AC_TRY(read_keyword(r, AC_ROLE_TEXT, 6, &role));
    m.role = (ac_role)role;
    AC_TRY(read_type(r, &type));
    m.dtype = (ac_dtype)type.dtype;
    AC_TRY(read_int(r, 0, INT32_MAX, &m.count));
    AC_TRY(expect(r, "align"));
    AC_TRY(read_i32(r, 1, 1 << 20, &m.align));
    for (int32_t w = AC_WHERE_SHARED; w <= AC_WHERE_SPREAD; w++)
        m.where = take(r, AC_WHERE_TEXT[w]) ? (ac_where)w : m.where;
    m.note = read_note(r);
    ac_push(r->cx->region, &r->fn->buf, m);
    return AC_OK;
}

static int read_buffer(reader *r, ac_ins *i)
{
    const char *name = "";
    AC_TRY(read_name(r, &name));
    i->aux = -1;
    for (int32_t k = 0; k < r->fn->buf.n; k++)
        if (!strcmp(r->fn->buf.item[k].name, name))
            i->aux = k;
    if (i->aux < 0)
        return syntax(r, "no buffer '%s'", name);
    return AC_OK;
}

static int read_place(reader *r, ac_ins *i) /* NAME[%3] */
{
    AC_TRY(read_buffer(r, i));
    AC_TRY(expect(r, "["));
    AC_TRY(read_value(r, &i->a));
    return expect(r, "]");
}

static int read_mma(reader *r, ac_ins *i) /* i8 acc[%1] words[%2] words[%3] */
{
    ac_ins type = {0}, x = {0}, y = {0};
    AC_TRY(read_type(r, &type));
    AC_TRY(read_place(r, i));
    AC_TRY(read_place(r, &x));
    AC_TRY(read_place(r, &y));
    if (x.aux != y.aux)
        return syntax(r, "both fragments are of one buffer");
    i->dtype = type.dtype;
    i->b = x.a;
    i->c = y.a;
    i->k.i = x.aux;
    return AC_OK;
}

static int read_spread(reader *r, ac_ins *i, ac_tile *t) /* 8 to[%1] 21 3 x[%2] 64 %3 */
{
    ac_ins to = {0};
    t->rows = 1;
    AC_TRY(read_i32(r, 1, AC_TILE_CHANNELS, &t->channels));
    AC_TRY(read_place(r, &to));
    AC_TRY(read_i32(r, 0, AC_TILE_PITCH, &t->pitch));
    AC_TRY(read_i32(r, 0, AC_TILE_SHIFT, &t->shift));
    AC_TRY(read_place(r, i));
    i->b = to.a;
    t->acc = to.aux;
    AC_TRY(read_i32(r, 0, AC_TILE_PITCH, &t->stride));
    t->depth = take(r, "words") ? 4 : 0;
    return AC_OK;
}

static int read_sums(reader *r, ac_ins *i, ac_tile *t) /* 3 x 2 acc x[%1] w[%2] */
{
    ac_ins acc = {0}, w = {0};
    const bool matrix = t->form == AC_TILE_MATRIX;
    AC_TRY(read_i32(r, matrix, matrix ? AC_TILE_MATRIX_ROWS : AC_TILE_ROWS, &t->rows));
    AC_TRY(expect(r, "x"));
    AC_TRY(read_i32(r, 1, AC_TILE_CHANNELS, &t->channels));
    AC_TRY(read_buffer(r, &acc));
    AC_TRY(read_place(r, i));
    const bool pitched = t->form == AC_TILE_EACH || ac_tile_is_wide(t);
    if (pitched || matrix)
        AC_TRY(read_i32(r, 0, AC_TILE_PITCH, &t->pitch));
    AC_TRY(read_place(r, &w));
    if (pitched)
        AC_TRY(read_i32(r, 0, AC_TILE_SHIFT, &t->shift));
    if (pitched || t->form == AC_TILE_UNSIGNED)
        AC_TRY(read_i32(r, 0, AC_TILE_SHIFT, &t->depth));
    i->b = w.a;
    t->w = w.aux;
    t->acc = acc.aux;
    return AC_OK;
}

static int read_tile(reader *r, ac_ins *i) /* pairs 3 x 2 acc x[%1] w[%2] %3 */
{
    ac_tile t = {0};
    while (t.form < AC_TILE_FORMS && !take(r, ac_tile_text[t.form]))
        t.form++;
    if (t.form == AC_TILE_FORMS)
        return syntax(r,
                      "'pairs', 'bytes', 'each', 'spread', 'row', 'outer', 'lanes', 'unsigned', 'matrix' or 'words'");
    AC_TRY((t.form == AC_TILE_SPREAD ? read_spread : read_sums)(r, i, &t));
    AC_TRY(read_value(r, &i->c));
    i->dtype = (uint8_t)r->fn->buf.item[i->aux].dtype;
    t.x = i->aux;
    ac_tile_put(i, &t);
    return AC_OK;
}

static int read_requant(reader *r, ac_ins *i) /* 4 y[%1] acc 0 table[%2] %3 -128 -128 .. 127 pre 0 away */
{
    ac_ins acc = {0}, table = {0};
    ac_requants q = {0};
    AC_TRY(read_i32(r, 1, 32, &q.lanes));
    AC_TRY(read_place(r, i));
    AC_TRY(read_buffer(r, &acc));
    AC_TRY(read_i32(r, 0, 15, &q.row));
    AC_TRY(read_place(r, &table));
    AC_TRY(read_value(r, &i->c));
    AC_TRY(read_i32(r, INT8_MIN, INT8_MAX, &q.zero));
    AC_TRY(read_i32(r, INT8_MIN, INT8_MAX, &q.lo));
    AC_TRY(expect(r, ".."));
    AC_TRY(read_i32(r, INT8_MIN, INT8_MAX, &q.hi));
    AC_TRY(expect(r, "pre"));
    AC_TRY(read_i32(r, 0, 31, &q.pre));
    q.away = take(r, "away");
    q.y = i->aux;
    q.acc = acc.aux;
    q.table = table.aux;
    i->b = table.a;
    i->dtype = AC_I8;
    ac_requant_put(i, &q);
    return AC_OK;
}

static int read_pool(reader *r, ac_ins *i, ac_dtype d)
{
    i->aux = r->fn->pool.n;
    AC_TRY(expect(r, "["));
    for (int32_t l = 0; l < i->lanes; l++) {
        int64_t k = 0;
        AC_TRY(read_lane(r, d, &k));
        ac_push(r->cx->region, &r->fn->pool, k);
    }
    return expect(r, "]");
}

static int read_operands(reader *r, ac_ins *i)
{
    ac_x *use[3] = {&i->a, &i->b, &i->c};
    for (int32_t k = 0; k < ac_lop_arity((ac_lop)i->op); k++)
        if (!(i->op == AC_L_SHUFFLE && k == 1 && r->kind != VALUE))
            AC_TRY(read_value(r, use[k]));
    return AC_OK;
}

static int read_body(reader *r, ac_ins *i)
{
    ac_lop op = (ac_lop)i->op;
    if (op == AC_L_CONST) {
        AC_TRY(read_lane(r, (ac_dtype)i->dtype, &i->k.i));
        i->flags |= take(r, "shape") ? AC_F_SHAPE : 0;
        return AC_OK;
    }
    if (op == AC_L_CONSTV)
        return read_pool(r, i, (ac_dtype)i->dtype);
    if (op == AC_L_GET)
        return read_value(r, &i->aux);
    if (op == AC_L_MMA)
        return read_mma(r, i);
    if (op == AC_L_TILE)
        return read_tile(r, i);
    if (op == AC_L_REQUANT)
        return read_requant(r, i);
    if (ac_lop_has_buffer(op)) {
        AC_TRY(read_place(r, i));
        return op == AC_L_STORE ? read_value(r, &i->b) : AC_OK;
    }
    if (op == AC_L_FOR) {
        AC_TRY(read_value(r, &i->a));
        AC_TRY(expect(r, ".."));
        AC_TRY(read_value(r, &i->b));
        AC_TRY(expect(r, "step"));
        return read_int(r, INT32_MIN, INT32_MAX, &i->k.i);
    }
    AC_TRY(read_operands(r, i));
    if (op == AC_L_SHUFFLE)
        return read_pool(r, i, AC_I64);
    if (op == AC_L_SET) {
        AC_TRY(expect(r, "to"));
        return read_value(r, &i->aux);
    }
    if (op == AC_L_LANE) {
        AC_TRY(expect(r, "at"));
        return read_i32(r, 0, AC_MAX_LANES - 1, &i->aux);
    }
    if (op == AC_L_FAIL_IF) {
        AC_TRY(expect(r, "status"));
        return read_i32(r, 1, INT32_MAX, &i->aux);
    }
    return AC_OK;
}

static int read_tail(reader *r, ac_ins *i)
{
    ac_lop op = (ac_lop)i->op;
    if ((op == AC_L_FOR || op == AC_L_VAR) && take(r, "as"))
        AC_TRY(read_name(r, &i->name));
    for (int32_t m = 0; op == AC_L_FOR && m <= AC_MARK_BLOCK; m++)
        if (take(r, AC_MARK_TEXT[m]))
            i->aux = m;
    if (take(r, "wrap"))
        i->flags |= AC_F_WRAP;
    if (take(r, "aligned"))
        i->flags |= AC_F_ALIGNED;
    if (take(r, "narrow"))
        i->flags |= AC_F_NARROW;
    if (take(r, "late"))
        i->flags |= AC_F_LATE;
    int32_t left = -1;
    if (op == AC_L_FOR && take(r, "groups"))
        AC_TRY(read_i32(r, 0, AC_GROUPS_OPEN, &left));
    i->groups = (uint8_t)(left + 1);
    return AC_OK;
}

static int read_ins(reader *r)
{
    static const char *const WORDS[] = {
        "none",
#define LOP(id, text, cls, abc, meaning) [AC_L_##id] = text,
#include "ir/loop/loop.def"
#undef LOP
    };
    ac_ins i = {0};
    bool numbered = r->kind == VALUE;
    int32_t op = 0;
    if (numbered) {
        if (r->len > 10 || atoi(token(r) + 1) != r->fn->code.n)
            return syntax(r, "this is instruction %%%d", r->fn->code.n);
        next(r);
        AC_TRY(expect(r, "="));
    }
    AC_TRY(read_keyword(r, WORDS, AC_L_COUNT, &op));
    if (!op)
        return syntax(r, "expected an instruction");
    i.op = (uint8_t)op;
    bool value = ac_lop_class((ac_lop)op) == 'V' || op == AC_L_FOR || op == AC_L_VAR;
    if (value != numbered)
        return syntax(r, value ? "'%s' makes a value: %%%d = %s ..." : "'%s' makes no value", WORDS[op], r->fn->code.n,
                      WORDS[op]);
    if (value)
        AC_TRY(read_type(r, &i));
    AC_TRY(read_body(r, &i));
    AC_TRY(read_tail(r, &i));
    if (op == AC_L_STORE || op == AC_L_SET) { /* the type of the stored value */
        const ac_ins *v = &r->fn->code.item[op == AC_L_STORE ? i.b : i.a];
        i.dtype = v->dtype;
        i.lanes = v->lanes;
    }
    r->fn->fails |= op == AC_L_FAIL_IF;
    ac_push(r->cx->region, &r->fn->code, i);
    return AC_OK;
}

int ac_loop_read(ac_ctx *cx, const char *file, const char *text, size_t n, ac_loop_fn **out)
{
    reader r = {.cx = cx, .file = file, .text = text, .end = text + n, .p = text, .line = 1, .line_start = text};
    ac_loop_fn *fn = r.fn = AC_NEW(cx->region, ac_loop_fn);
    ac_push(cx->region, &fn->code, ((ac_ins){0}));
    next(&r);
    AC_TRY(expect(&r, "fn"));
    AC_TRY(read_name(&r, &fn->name));
    fn->note = read_note(&r);
    while (take(&r, "buf"))
        AC_TRY(read_buf(&r));
    while (r.kind != END_OF_TEXT)
        AC_TRY(read_ins(&r));
    *out = fn;
    return AC_OK;
}
