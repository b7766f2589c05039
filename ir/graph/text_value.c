/* text_value.c - parses types and constant values of the .ag text form.
 *
 * Hostile input: sizes are checked before anything is allocated, values before they are stored; a list needs memory in
 * proportion to its text, other constants at most the rest of the heap's limit (8 GiB without one). */
#include "base/ascii.h"
#include "base/beside.h"
#include "base/random.h"
#include "base/sink.h"
#include "ir/graph/text_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int ac_text_error(ac_lex *x, const ac_tok *t, ac_code code, const char *fmt, ...)
{
    if (t->kind == AC_T_BAD)
        return ac_error(x->cx, ac_lex_place(x, t), E0020, "%s", t->text);
    va_list ap;
    va_start(ap, fmt);
    const char *s = ac_vstrf(x->cx->region, fmt, ap);
    va_end(ap);
    return ac_error(x->cx, ac_lex_place(x, t), code, "%s", s);
}

bool ac_text_is(const ac_lex *x, char punct)
{
    return x->tok.kind == AC_T_PUNCT && x->tok.punct == punct;
}

int ac_text_expect(ac_lex *x, char punct, const char *what)
{
    if (!ac_text_is(x, punct))
        return ac_text_error(x, &x->tok, E0020, "expected '%c' %s, found %s", punct, what, ac_lex_show(x, &x->tok));
    ac_lex_next(x);
    return AC_OK;
}

static bool int_of(const ac_tok *t, int64_t *v)
{
    if (t->kind != AC_T_INT || t->magnitude > (uint64_t)INT64_MAX + t->negative)
        return false;
    if (t->negative && t->magnitude > INT64_MAX)
        *v = INT64_MIN;
    else
        *v = t->negative ? -(int64_t)t->magnitude : (int64_t)t->magnitude;
    return true;
}

int ac_text_int(ac_lex *x, int64_t lo, int64_t hi, const char *what, int64_t *v)
{
    if (x->tok.kind != AC_T_INT && x->tok.kind != AC_T_NUM)
        return ac_text_error(x, &x->tok, E0020, "expected %s, found %s", what, ac_lex_show(x, &x->tok));
    const bool wrong = !int_of(&x->tok, v) || *v < lo || *v > hi;
    if (wrong && lo == hi)
        return ac_text_error(x, &x->tok, E0103, "%s must be %lld, found %s", what, (long long)lo,
                             ac_lex_show(x, &x->tok));
    if (wrong)
        return ac_text_error(x, &x->tok, E0103, "%s must be an integer from %lld to %lld, found %s", what,
                             (long long)lo, (long long)hi, ac_lex_show(x, &x->tok));
    ac_lex_next(x);
    return AC_OK;
}

static bool is_num(const ac_tok *t)
{
    return t->kind == AC_T_INT || t->kind == AC_T_NUM ||
           (t->kind == AC_T_NAME && (!strcmp(t->text, "inf") || !strcmp(t->text, "nan")));
}

int ac_text_num(ac_lex *x, const char *what, double *v)
{
    if (!is_num(&x->tok))
        return ac_text_error(x, &x->tok, E0020, "expected %s, found %s", what, ac_lex_show(x, &x->tok));
    *v = x->tok.num;
    ac_lex_next(x);
    return AC_OK;
}

/* scale zero, or scale, zero */
static int read_scale(ac_lex *x, const ac_text_type *ty, bool comma, float *scale, int32_t *zero)
{
    ac_tok at = x->tok;
    double s;
    int64_t z;
    AC_TRY(ac_text_num(x, "a scale", &s));
    *scale = (float)s;
    if (!isfinite(*scale) || *scale <= 0)
        return ac_text_error(x, &at, E0106, "a scale must be a positive number, found %s", ac_lex_show(x, &at));
    if (comma)
        AC_TRY(ac_text_expect(x, ',', "between scale and zero point"));
    at = x->tok;
    AC_TRY(ac_text_int(x, INT32_MIN, INT32_MAX, "a zero point", &z));
    if (ac_dtype_is_int(ty->dtype) && (z < ac_dtype_min(ty->dtype) || z > ac_dtype_max(ty->dtype)))
        return ac_text_error(x, &at, E0106, "zero point %lld does not fit in %s", (long long)z,
                             ac_dtype_name(ty->dtype));
    *zero = (int32_t)z;
    return AC_OK;
}

/* q(scale, zero)   or   q(axis 0: scale zero, scale zero, ...) */
static int read_quant(ac_lex *x, ac_text_type *ty)
{
    ac_region *r = x->cx->region;
    AC_VEC(float) scale = {0};
    AC_VEC(int32_t) zero = {0};
    ac_quant *q = AC_NEW(r, ac_quant);
    ac_tok at = x->tok;
    float s;
    int32_t z;
    ac_lex_next(x);
    AC_TRY(ac_text_expect(x, '(', "after q"));
    if (x->tok.kind == AC_T_NAME && !strcmp(x->tok.text, "axis")) {
        int64_t axis;
        ac_lex_next(x);
        AC_TRY(ac_text_int(x, 0, ty->rank - 1, "the axis of the scales", &axis));
        AC_TRY(ac_text_expect(x, ':', "after the axis"));
        q->axis = (int32_t)axis;
        for (;;) {
            AC_TRY(read_scale(x, ty, false, &s, &z));
            ac_push(r, &scale, s);
            ac_push(r, &zero, z);
            if (!ac_text_is(x, ','))
                break;
            ac_lex_next(x);
        }
        if (ty->dim[axis] >= 0 && scale.n != ty->dim[axis])
            return ac_text_error(x, &at, E0106, "%d scales for dimension %lld, which has %lld elements", scale.n,
                                 (long long)axis, (long long)ty->dim[axis]);
    } else {
        AC_TRY(read_scale(x, ty, true, &s, &z));
        ac_push(r, &scale, s);
        ac_push(r, &zero, z);
    }
    *q = (ac_quant){q->axis, scale.n, scale.item, zero.item};
    ty->quant = q;
    return ac_text_expect(x, ')', "after the scales");
}

static int read_dim(ac_lex *x, ac_text_type *ty)
{
    int64_t *d = &ty->dim[ty->rank];
    *d = -1;
    ty->dim_name[ty->rank] = NULL;
    if (ac_text_is(x, '?')) {
        ac_lex_next(x);
    } else {
        bool named = x->tok.kind == AC_T_NAME || x->tok.kind == AC_T_STRING;
        if (named) {
            ty->dim_name[ty->rank] = ac_intern(x->cx, x->tok.text);
            ac_lex_next(x);
        }
        if (!named || ac_text_is(x, '=')) {
            if (named)
                ac_lex_next(x);
            ac_tok at = x->tok;
            if (at.kind != AC_T_INT && !(at.kind == AC_T_NUM && at.num >= 0x1p63))
                return ac_text_error(x, &at, E0020, "expected a dimension: a number, a name, or ?, found %s",
                                     ac_lex_show(x, &at));
            if (!int_of(&at, d))
                return ac_text_error(x, &at, E0015, "dimension %s does not fit in 63 bits", ac_lex_show(x, &at));
            if (*d < 0)
                return ac_text_error(x, &at, E0201, "a dimension cannot be negative, found %s", ac_lex_show(x, &at));
            ac_lex_next(x);
        }
    }
    ty->rank++;
    return AC_OK;
}

static int measure(ac_lex *x, ac_text_type *ty)
{
    int64_t widest = 1;
    ty->count = 1;
    for (int32_t i = 0; i < ty->rank; i++) {
        ty->open |= ty->dim[i] < 0;
        if (ty->dim[i] > 0 && (!ac_mul_ok(widest, ty->dim[i], &widest) || widest > (int64_t)1 << 57))
            return ac_text_error(x, &ty->at, E0015, "this tensor is larger than any machine");
        ty->count *= ty->dim[i] == 0 ? 0 : 1;
    }
    ty->count *= widest;
    ty->bytes = ac_dtype_size(ty->dtype, ty->count);
    return AC_OK;
}

/* [text | word] */
static int read_words_kind(ac_lex *x, ac_text_type *ty)
{
    const ac_tok at = x->tok;
    if (at.kind == AC_T_NAME && !strcmp(at.text, "text"))
        ty->words = AC_TEXT_ANY;
    else if (at.kind == AC_T_NAME && !strcmp(at.text, "word"))
        ty->words = AC_TEXT_KNOWN;
    else
        return AC_OK;
    if (ty->dtype != AC_I32 || ty->quant)
        return ac_text_error(x, &at, E0105, "codes of texts are i32, not %s", ac_dtype_name(ty->dtype));
    ac_lex_next(x);
    return AC_OK;
}

int ac_text_read_type(ac_lex *x, ac_text_type *ty)
{
    *ty = (ac_text_type){.at = x->tok};
    ty->dtype = x->tok.kind == AC_T_NAME ? ac_dtype_find(x->tok.text, (int)x->tok.len) : AC_NONE;
    if (!ty->dtype) {
        ac_text_error(x, &x->tok, x->tok.kind == AC_T_NAME ? E0021 : E0020, "expected an element type, found %s",
                      ac_lex_show(x, &x->tok));
        return ac_help(x->cx, "the types are f32 f16 bf16 f64 i8 i16 i32 i64 u8 u16 u32 u64 bool i4 u4");
    }
    ac_lex_next(x);
    AC_TRY(ac_text_expect(x, '[', "and the dimensions after the element type ([] is a scalar)"));
    while (!ac_text_is(x, ']')) {
        if (ty->rank == AC_MAX_RANK)
            return ac_text_error(x, &x->tok, E0205, "more than %d dimensions", AC_MAX_RANK);
        AC_TRY(read_dim(x, ty));
        if (!ac_text_is(x, ','))
            break;
        ac_lex_next(x);
    }
    AC_TRY(ac_text_expect(x, ']', "after the dimensions"));
    AC_TRY(measure(x, ty));
    if (x->tok.kind == AC_T_NAME && !strcmp(x->tok.text, "q"))
        AC_TRY(read_quant(x, ty));
    return read_words_kind(x, ty);
}

/* One value of a constant, at the current word, into dst (element 0). */
static int read_element(ac_lex *x, ac_dtype d, void *dst)
{
    ac_tok at = x->tok;
    int64_t v = 0;
    if (at.kind == AC_T_NAME && d == AC_BOOL && (!strcmp(at.text, "true") || !strcmp(at.text, "false"))) {
        v = at.text[0] == 't';
    } else if (!is_num(&at)) {
        return ac_text_error(x, &at, E0020, "expected a value of type %s, found %s", ac_dtype_name(d),
                             ac_lex_show(x, &at));
    } else if (!ac_dtype_is_float(d)) {
        bool big = d == AC_U64 && at.kind == AC_T_INT && (!at.negative || !at.magnitude);
        if (big)
            v = (int64_t)at.magnitude;
        else if (!int_of(&at, &v) || v < ac_dtype_min(d) || v > ac_dtype_max(d))
            return ac_text_error(x, &at, E0016, "%s is not a value of type %s", ac_lex_show(x, &at), ac_dtype_name(d));
    }
    ac_lex_next(x);
    if (ac_dtype_is_float(d))
        ac_dtype_put_num(d, dst, at.num);
    else
        ac_dtype_put_int(d, dst, v);
    return AC_OK;
}

static int read_list(ac_lex *x, const ac_text_type *ty, ac_text_value *out)
{
    AC_VEC(uint8_t) bytes = {0};
    ac_tok at = x->tok;
    size_t size = (size_t)ac_dtype_size(ty->dtype, 1);
    int64_t n = 0;
    ac_lex_next(x);
    while (!ac_text_is(x, ']')) {
        uint8_t one[8] = {0};
        AC_TRY(read_element(x, ty->dtype, one));
        for (size_t i = 0; i < size; i++)
            ac_push(x->cx->region, &bytes, one[i]);
        n++;
        if (!ac_text_is(x, ','))
            break;
        ac_lex_next(x);
    }
    if (n != ty->count)
        return ac_text_error(x, &at, E0016, "%lld values, expected %lld", (long long)n, (long long)ty->count);
    AC_TRY(ac_text_expect(x, ']', "after the values"));
    out->data = n ? bytes.item : ac_alloc(x->cx->region, 1);
    return AC_OK;
}

static int read_hex(ac_lex *x, int64_t bytes, ac_text_value *out)
{
    ac_tok at = x->tok;
    if (at.kind != AC_T_STRING)
        return ac_text_error(x, &at, E0020, "expected a string of hexadecimal digits, found %s", ac_lex_show(x, &at));
    if (at.len % 2 || (int64_t)(at.len / 2) != bytes)
        return ac_text_error(x, &at, E0016, "%zu hexadecimal digits, expected %lld (two for each byte)", at.len,
                             (long long)bytes * 2);
    uint8_t *p = ac_alloc(x->cx->region, at.len / 2 + 1);
    for (size_t i = 0; i < at.len / 2; i++) {
        int hi = ac_hex_digit(at.text[2 * i]), lo = ac_hex_digit(at.text[2 * i + 1]);
        if (hi < 0 || lo < 0)
            return ac_text_error(x, &at, E0020, "byte %zu of the string is not a pair of hexadecimal digits", i);
        p[i] = (uint8_t)(hi * 16 + lo);
    }
    out->data = p;
    ac_lex_next(x);
    return AC_OK;
}

/* Memory for the values of a constant that costs more memory than text. */
static int room_for(ac_lex *x, const ac_text_type *ty, uint8_t **p)
{
    const ac_heap *h = &x->cx->heap;
    size_t most = h->limit ? h->limit - (h->used < h->limit ? h->used : h->limit) : (size_t)8 << 30;
    if ((uint64_t)ty->bytes + 4096 > most)
        return ac_text_error(x, &ty->at, E0402, "this constant takes %s bytes, more than the memory limit leaves",
                             ac_commas(x->cx, ty->bytes));
    *p = ac_alloc(x->cx->region, (uint64_t)ty->bytes + 8);
    return AC_OK;
}

static void fill_random(ac_dtype d, int64_t n, uint64_t seed, double lo, double hi, uint8_t *p)
{
    size_t size = (size_t)ac_dtype_size(d, 1);
    for (int64_t i = 0; i < n; i++) {
        double u = (double)(ac_splitmix64(&seed) >> 11) * 0x1p-53; /* 0 <= u < 1 */
        if (ac_dtype_is_float(d)) {
            ac_dtype_put_num(d, p + (size_t)i * size, lo + (hi - lo) * u);
            continue;
        }
        double w = floor(lo + (hi - lo + 1) * u);
        ac_dtype_put_num(d, p + (size_t)i * size, w > hi ? hi : w);
    }
}

/* random SEED (lo, hi): uniform; floats lo <= v < hi (default -1, 1), integers lo <= v <= hi (default -100, 100 or what
 * fits) */
static int read_random(ac_lex *x, const ac_text_type *ty, ac_text_value *out)
{
    bool real = ac_dtype_is_float(ty->dtype);
    double least = real ? -3e38 : fmax((double)ac_dtype_min(ty->dtype), -0x1p52);
    double most = real ? 3e38 : fmin((double)ac_dtype_max(ty->dtype), 0x1p52);
    double lo = real ? -1 : fmax(-100, least), hi = real ? 1 : fmin(100, most);
    int64_t seed;
    AC_TRY(ac_text_int(x, INT64_MIN, INT64_MAX, "a seed", &seed));
    if (ac_text_is(x, '(')) {
        ac_lex_next(x);
        ac_tok at = x->tok;
        AC_TRY(ac_text_num(x, "the least value", &lo));
        AC_TRY(ac_text_expect(x, ',', "between least and greatest value"));
        AC_TRY(ac_text_num(x, "the greatest value", &hi));
        if (!(lo >= least && lo <= hi && hi <= most) || (!real && (floor(lo) != lo || floor(hi) != hi)))
            return ac_text_error(x, &at, E0016, "(%g, %g) is not a range of %s", lo, hi, ac_dtype_name(ty->dtype));
        AC_TRY(ac_text_expect(x, ')', "after the range"));
    }
    uint8_t *p = NULL;
    AC_TRY(room_for(x, ty, &p));
    fill_random(ty->dtype, ty->count, (uint64_t)seed, lo, hi, p);
    out->data = p;
    return AC_OK;
}

int ac_text_file(ac_lex *x, const ac_tok *name, ac_file *f)
{
    const ac_beside found = ac_file_beside(x->cx, x->file ? x->file : "", name->text, f);
    if (found == AC_BESIDE_OK)
        return AC_OK;
    ac_text_error(x, name, found == AC_BESIDE_OUTSIDE ? E0012 : E0301, "file '%s' %s", f->path, ac_beside_why(found));
    return found == AC_BESIDE_OUTSIDE
               ? ac_help(x->cx, "files that a text names must be in its folder, under a relative name")
               : AC_FAIL;
}

/* weights @offset: a slice of the weights file, in place */
static int read_slice(ac_lex *x, const ac_text_type *ty, const ac_weights_file *w, ac_text_value *out)
{
    const ac_tok at = x->tok;
    int64_t offset;
    if (!w)
        return ac_text_error(x, &at, E0020,
                             "the text names no weights file: weights \"FILE\" BYTES \"SHA-256\" above the graph");
    AC_TRY(ac_text_expect(x, '@', "and where in the weights file the values are"));
    AC_TRY(ac_text_int(x, AC_WEIGHTS_HEADER, INT64_MAX / 2, "a byte offset", &offset));
    if (offset > w->n || ty->bytes > w->n - offset)
        return ac_text_error(x, &at, E0010, "'%s' has fewer than %lld bytes after offset %lld", w->path,
                             (long long)ty->bytes, (long long)offset);
    if (offset % AC_WEIGHTS_ALIGN)
        return ac_text_error(x, &at, E0012, "constants of a weights file are at multiples of %d", AC_WEIGHTS_ALIGN);
    out->data = w->data + offset;
    return AC_OK;
}

/* NumPy's header would be the first numbers. */
static int refuse_npy(ac_lex *x, const ac_tok *at, const ac_file *f)
{
    static const uint8_t MAGIC[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    if (f->n < 12 || memcmp(f->data, MAGIC, sizeof MAGIC) != 0)
        return AC_OK;
    const bool short_header = f->data[6] == 1;
    const int64_t begin =
        short_header ? 10 + f->data[8] + 256 * f->data[9] : 12 + f->data[8] + 256 * f->data[9] + 65536 * f->data[10];
    ac_text_error(x, at, E0010, "'%s' is a .npy file, which begins with a header, not with numbers", f->path);
    return ac_help(x->cx, "its numbers begin at byte %lld: file \"%s\" @%lld", (long long)begin, at->text,
                   (long long)begin);
}

/* file "name" @offset: a slice of a file, its name relative to the .ag file */
static int read_file(ac_lex *x, const ac_text_type *ty, ac_text_value *out)
{
    ac_tok at = x->tok;
    int64_t offset = 0;
    if (at.kind != AC_T_STRING || !at.len)
        return ac_text_error(x, &at, E0020, "expected a file name in quotes, found %s", ac_lex_show(x, &at));
    ac_lex_next(x);
    const bool is_said = ac_text_is(x, '@');
    if (is_said) {
        ac_lex_next(x);
        AC_TRY(ac_text_int(x, 0, INT64_MAX / 2, "a byte offset", &offset));
    }
    ac_file f = {0};
    uint8_t *p = NULL; /* a copy: the slice need not be aligned */
    AC_TRY(room_for(x, ty, &p));
    AC_TRY(ac_text_file(x, &at, &f));
    if (!is_said && refuse_npy(x, &at, &f) != AC_OK) {
        ac_file_close(&f);
        return AC_FAIL;
    }
    const bool there = (uint64_t)offset <= f.n && (uint64_t)ty->bytes <= f.n - (uint64_t)offset;
    if (there)
        memcpy(p, f.data + offset, (size_t)ty->bytes);
    ac_file_close(&f);
    out->data = p;
    return there ? AC_OK
                 : ac_text_error(x, &at, E0010, "'%s' has fewer than %lld bytes after offset %lld", f.path,
                                 (long long)ty->bytes, (long long)offset);
}

int ac_text_read_value(ac_lex *x, const ac_text_type *ty, const ac_weights_file *w, ac_text_value *v)
{
    *v = (ac_text_value){0};
    if (ty->open)
        return ac_text_error(x, &ty->at, E0104, "a constant needs all of its dimensions");
    if (ac_text_is(x, '['))
        return read_list(x, ty, v);
    const char *how = x->tok.kind == AC_T_NAME ? x->tok.text : "";
    ac_tok at = x->tok;
    if (how[0])
        ac_lex_next(x);
    if (!strcmp(how, "hex"))
        return read_hex(x, ty->bytes, v);
    if (!strcmp(how, "random"))
        return read_random(x, ty, v);
    if (!strcmp(how, "file"))
        return read_file(x, ty, v);
    if (!strcmp(how, "weights"))
        return read_slice(x, ty, w, v);
    if (!strcmp(how, "splat")) {
        void *one = ac_alloc(x->cx->region, 8);
        *v = (ac_text_value){one, true};
        if (x->tok.kind == AC_T_NAME && !strcmp(x->tok.text, "hex")) {
            ac_lex_next(x);
            return read_hex(x, ac_dtype_size(ty->dtype, 1), v);
        }
        return read_element(x, ty->dtype, one);
    }
    ac_text_error(x, &at, E0020, "expected the values of a constant, found %s", ac_lex_show(x, &at));
    return ac_help(x->cx, "one of: [1, 2, 3]   hex \"00ff\"   splat 0   random 42 (-1, 1)   file \"weights.bin\" @0");
}
