/* sizes.c - symbolic sizes: expressions of SymPy as text, in the notation of functions or as formulas.
 *
 *     Add(Symbol('s27', positive=True, integer=True), Integer(1))        s27 + 1        FloorDiv(s0, 2)        s0//2
 *
 * They are computed in doubles, where integers of sizes are exact. */
#include "import/pt2/pt2.h"

#include "base/ascii.h"
#include "base/decimal.h"

#include <math.h>
#include <string.h>

enum { DEEPEST = 48, MOST_ARGS = 64, MOST_PARTS = 512 };

typedef enum kind { NUMBER, SYMBOL, SUM, PRODUCT, POWER, QUOTIENT, FLOOR, CEIL, MODULO, LEAST, MOST, PART, OTHER } kind;

struct ac_ep_size {
    kind kind;
    double value;
    const char *name;
    int32_t n;
    const ac_ep_size **arg;
};

typedef struct text {
    ac_ctx *cx;
    const char *at;
    int32_t depth, parts;
    bool failed;
} text;

static const struct {
    const char *name;
    kind kind;
    int32_t n; /* arguments; 0: any number */
} FUNCTIONS[] = {
    {"Add", SUM, 0},           {"Mul", PRODUCT, 0},        {"Pow", POWER, 2},        {"PowByNatural", POWER, 2},
    {"FloorDiv", FLOOR, 2},    {"CleanDiv", FLOOR, 2},     {"CeilDiv", CEIL, 2},     {"Mod", MODULO, 2},
    {"Max", MOST, 0},          {"Min", LEAST, 0},          {"PythonMod", MODULO, 2}, {"ModularIndexing", PART, 3},
    {"Rational", QUOTIENT, 2}, {"IntTrueDiv", QUOTIENT, 2}};

static const ac_ep_size *sum(text *t);

static const ac_ep_size *fail(text *t)
{
    t->failed = true;
    return NULL;
}

static void skip(text *t)
{
    while (*t->at == ' ')
        t->at++;
}

static bool take(text *t, const char *word)
{
    skip(t);
    if (strncmp(t->at, word, strlen(word)) != 0)
        return false;
    t->at += strlen(word);
    return true;
}

static const ac_ep_size *made(text *t, kind k, const ac_ep_size *a, const ac_ep_size *b)
{
    ac_ep_size *e = AC_NEW(t->cx->region, ac_ep_size);
    if (!a || !b)
        return fail(t);
    *e = (ac_ep_size){.kind = k, .n = 2, .arg = AC_NEW_N(t->cx->region, const ac_ep_size *, 2)};
    e->arg[0] = a;
    e->arg[1] = b;
    return e;
}

static const ac_ep_size *number(text *t, double v)
{
    ac_ep_size *e = AC_NEW(t->cx->region, ac_ep_size);
    *e = (ac_ep_size){.kind = NUMBER, .value = v};
    return e;
}

static const ac_ep_size *symbol(text *t, const char *name, size_t n)
{
    ac_ep_size *e = AC_NEW(t->cx->region, ac_ep_size);
    *e = (ac_ep_size){.kind = SYMBOL, .name = ac_intern_n(t->cx, name, n)};
    return e;
}

/* 's27', positive=True, integer=True) */
static const ac_ep_size *quoted_symbol(text *t)
{
    if (!take(t, "'"))
        return fail(t);
    const char *from = t->at;
    while (ac_is_alnum(*t->at) || *t->at == '_')
        t->at++;
    const size_t n = (size_t)(t->at - from), rest = strcspn(t->at, ")");
    if (*t->at != '\'' || !n || !t->at[rest])
        return fail(t);
    t->at += rest + 1;
    return symbol(t, from, n);
}

/* The arguments of a function, after its bracket. */
static const ac_ep_size *function(text *t, const char *name, size_t n)
{
    ac_ep_size *e = AC_NEW(t->cx->region, ac_ep_size);
    *e = (ac_ep_size){.kind = OTHER, .arg = AC_NEW_N(t->cx->region, const ac_ep_size *, MOST_ARGS)};
    int32_t want = 0;
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++)
        if (strlen(FUNCTIONS[i].name) == n && !strncmp(FUNCTIONS[i].name, name, n)) {
            e->kind = FUNCTIONS[i].kind;
            want = FUNCTIONS[i].n;
        }
    if (n == 6 && !strncmp(name, "Symbol", n))
        return quoted_symbol(t);
    do {
        if (e->n == MOST_ARGS || t->failed)
            return fail(t);
        e->arg[e->n++] = sum(t);
    } while (take(t, ","));
    if (!take(t, ")") || t->failed || (want && e->n != want))
        return fail(t);
    return n == 7 && !strncmp(name, "Integer", n) ? e->arg[0] : e;
}

static const ac_ep_size *primary(text *t)
{
    const ac_ep_size *e = NULL;
    skip(t);
    if (++t->depth > DEEPEST || ++t->parts > MOST_PARTS || t->failed)
        return fail(t);
    if (take(t, "(")) {
        e = sum(t);
        e = take(t, ")") ? e : fail(t);
    } else if (take(t, "-")) {
        e = made(t, PRODUCT, number(t, -1), primary(t));
    } else if (*t->at >= '0' && *t->at <= '9') {
        e = number(t, ac_read_real(t->at, &t->at));
    } else {
        const char *from = t->at;
        while (ac_is_alnum(*t->at) || *t->at == '_')
            t->at++;
        const size_t n = (size_t)(t->at - from);
        e = !n ? fail(t) : take(t, "(") ? function(t, from, n) : symbol(t, from, n);
    }
    if (e && take(t, "**"))
        e = made(t, POWER, e, primary(t));
    t->depth--;
    return e;
}

static const ac_ep_size *product(text *t)
{
    const ac_ep_size *e = primary(t);
    while (!t->failed) {
        if (take(t, "//"))
            e = made(t, FLOOR, e, primary(t));
        else if (take(t, "*"))
            e = made(t, PRODUCT, e, primary(t));
        else if (take(t, "/"))
            e = made(t, QUOTIENT, e, primary(t));
        else if (take(t, "%"))
            e = made(t, MODULO, e, primary(t));
        else
            break;
    }
    return e;
}

static const ac_ep_size *sum(text *t)
{
    const ac_ep_size *e = product(t);
    while (!t->failed) {
        if (take(t, "+"))
            e = made(t, SUM, e, product(t));
        else if (take(t, "-"))
            e = made(t, SUM, e, made(t, PRODUCT, number(t, -1), product(t)));
        else
            break;
    }
    return e;
}

const ac_ep_size *ac_ep_size_read(ac_ctx *cx, const char *from)
{
    text t = {.cx = cx, .at = from};
    const ac_ep_size *e = sum(&t);
    skip(&t);
    return t.failed || *t.at ? NULL : e;
}

/* ------------------------------------------------------------------ values */

static const ac_ep_symbol *find(const ac_ep *r, const char *name)
{
    for (int32_t i = 0; i < r->symbol.n; i++)
        if (r->symbol.item[i].name == name)
            return &r->symbol.item[i];
    return NULL;
}

static double apply(kind k, double x, double y)
{
    switch (k) {
    case SUM:
        return x + y;
    case PRODUCT:
        return x * y;
    case POWER:
        return pow(x, y);
    case QUOTIENT:
        return x / y;
    case FLOOR:
        return floor(x / y);
    case CEIL:
        return ceil(x / y);
    case MODULO:
        return x - floor(x / y) * y;
    case LEAST:
        return x < y ? x : y;
    case MOST:
        return x > y ? x : y;
    case NUMBER:
    case SYMBOL:
    case PART:
    case OTHER:
        break;
    }
    return (double)NAN;
}

/* NaN: unknown. The symbol `trial` is v. */
static double value(const ac_ep *r, const ac_ep_size *e, const char *trial, double v)
{
    if (e->kind == NUMBER)
        return e->value;
    if (e->kind == SYMBOL) {
        const ac_ep_symbol *s = find(r, e->name);
        return trial && e->name == trial ? v : s && s->known ? (double)s->value : (double)NAN;
    }
    double y = value(r, e->arg[0], trial, v);
    if (e->kind == PART)
        return apply(MODULO, apply(FLOOR, y, value(r, e->arg[1], trial, v)), value(r, e->arg[2], trial, v));
    for (int32_t i = 1; i < e->n; i++) {
        const double x = value(r, e->arg[i], trial, v);
        y = isnan(x) || isnan(y) ? (double)NAN : apply(e->kind, y, x);
    }
    return e->kind == OTHER ? (double)NAN : y;
}

static bool whole(double v, int64_t *to)
{
    if (isnan(v) || fabs(v) > 0x1p52 || v != floor(v))
        return false;
    *to = (int64_t)v;
    return true;
}

bool ac_ep_size_of(const ac_ep *r, const ac_ep_size *e, int64_t *v)
{
    return whole(value(r, e, NULL, 0), v);
}

bool ac_ep_size_is_symbol(const ac_ep_size *e)
{
    return e->kind == SYMBOL;
}

/* The symbols of e without a value: the last one, and how many others. */
static void unknown(const ac_ep *r, const ac_ep_size *e, const char **name, int32_t *more)
{
    if (e->kind == SYMBOL) {
        const ac_ep_symbol *s = find(r, e->name);
        if (s && s->known)
            return;
        *more += *name && *name != e->name;
        *name = e->name;
    }
    for (int32_t i = 0; i < e->n; i++)
        unknown(r, e->arg[i], name, more);
}

static void set(ac_ep *r, const char *name, int64_t v)
{
    const ac_ep_symbol s = {name, true, v};
    ac_push(r->cx->region, &r->symbol, s);
}

void ac_ep_size_solve(ac_ep *r, const ac_ep_size *e, int64_t size)
{
    const char *name = NULL;
    int32_t more = 0;
    int64_t v;
    unknown(r, e, &name, &more);
    if (!name || more)
        return;
    const double at0 = value(r, e, name, 0), at1 = value(r, e, name, 1), slope = at1 - at0;
    if (slope != 0 && whole(((double)size - at0) / slope, &v) && value(r, e, name, (double)v) == (double)size)
        set(r, name, v);
}

/* ------------------------------------------------------------------ names */

static const char *joined(ac_ctx *cx, const ac_ep_size *e, const char *by)
{
    const char *y = NULL;
    for (int32_t i = 0; i < e->n; i++) {
        const char *x = ac_ep_size_name(cx, e->arg[i]);
        const bool brackets = e->kind != SUM && e->arg[i]->kind == SUM;
        if (!x)
            return NULL;
        x = brackets ? ac_strf(cx->region, "(%s)", x) : x;
        y = y ? ac_strf(cx->region, "%s%s%s", y, by, x) : x;
    }
    return y;
}

const char *ac_ep_size_name(ac_ctx *cx, const ac_ep_size *e)
{
    const char *y = NULL;
    if (e->kind == SYMBOL)
        return e->name;
    if (e->kind == NUMBER && e->value >= 0 && e->value < 0x1p31)
        return ac_strf(cx->region, "%.0f", e->value);
    if (e->kind == SUM)
        y = joined(cx, e, " + ");
    else if (e->kind == PRODUCT)
        y = joined(cx, e, "*");
    else if (e->kind == FLOOR)
        y = joined(cx, e, "/");
    return y ? ac_intern(cx, y) : NULL;
}
