/* compose_einsum.c - Einstein sums as products of matrices. */
#include "ir/make/compose_einsum.h"

#include <inttypes.h>
#include <string.h>

enum { LABELS = 16, OPERANDS = 8, ELLIPSIS = 52 }; /* labels of letters, then those of dimensions under `...` */

/* A tensor and the label of each of its dimensions. */
typedef struct term {
    ac_tensor *t;
    int32_t label[AC_MAX_RANK], rank;
} term;

/* ------------------------------------------------------------------ terms */

static bool has(const term *e, int32_t label)
{
    for (int32_t d = 0; d < e->rank; d++)
        if (e->label[d] == label)
            return true;
    return false;
}

static int32_t place_of(const term *e, int32_t label)
{
    int32_t d = 0;
    while (d < e->rank && e->label[d] != label)
        d++;
    return d;
}

static bool add(term *e, int32_t label)
{
    if (e->rank == AC_MAX_RANK)
        return false;
    e->label[e->rank++] = label;
    return true;
}

/* The dimensions of e, each with a label of its own, in the order of `label`. */
static ac_tensor *ordered(const ac_maker *b, const term *e, const int32_t *label)
{
    int32_t perm[AC_MAX_RANK];
    for (int32_t d = 0; d < e->rank; d++)
        perm[d] = place_of(e, label[d]);
    return ac_make_transpose(b, e->t, perm);
}

/* ------------------------------------------------------------------ products of one or two terms */

/* The general form: our einsum, with labels numbered anew. */
static ac_tensor *general(const ac_maker *b, const term *e, int32_t count, const term *out, const char **reason)
{
    int32_t seen[LABELS], k = 0, at = 0;
    int64_t v[3 * AC_MAX_RANK];
    ac_tensor *in[2];
    ac_attrs a;
    for (int32_t i = 0; i <= count; i++) {
        const term *t = i < count ? &e[i] : out;
        for (int32_t d = 0; d < t->rank; d++) {
            int32_t j = 0;
            while (j < k && seen[j] != t->label[d])
                j++;
            if (j == LABELS)
                return *reason = "a product has more than 16 labels", NULL;
            if (j == k)
                seen[k++] = t->label[d];
            v[at++] = j;
        }
        if (i < count)
            in[i] = t->t;
    }
    ac_attrs_init(AC_OP_EINSUM, &a);
    a.einsum.labels = ac_make_list(b, at, v);
    return ac_make_op(b, AC_OP_EINSUM, in, count, &a, AC_NONE);
}

/* The role of a label in a product of x and y. */
enum { BATCH, ROW, COLUMN, SUMMED, KINDS };

/* Labels of each kind, in the order of x, then y; false: not a product of matrices. */
static bool split(const term *x, const term *y, const term *out, int32_t list[KINDS][AC_MAX_RANK], int32_t n[KINDS])
{
    memset(n, 0, KINDS * sizeof *n);
    for (int32_t i = 0; i < 2; i++) {
        const term *e = i ? y : x, *other = i ? x : y;
        for (int32_t d = 0; d < e->rank; d++) {
            const int32_t k = e->label[d];
            const bool shared = has(other, k), kept = has(out, k);
            if (place_of(e, k) != d || (!shared && !kept) ||
                (shared && e->t->dim[d] != other->t->dim[place_of(other, k)]))
                return false;
            const int32_t kind = shared ? (kept ? BATCH : SUMMED) : i ? COLUMN : ROW;
            if (!(i && shared))
                list[kind][n[kind]++] = k;
        }
    }
    return n[SUMMED] > 0 && n[BATCH] + n[ROW] + n[COLUMN] == out->rank && ac_dtype_is_float(x->t->dtype);
}

static int64_t extent(const term *x, const term *y, int32_t label)
{
    return has(x, label) ? x->t->dim[place_of(x, label)] : y->t->dim[place_of(y, label)];
}

/* Transposed and reshaped to [batch, rows, inner] and [batch, columns, inner]. */
static ac_tensor *product(const ac_maker *b, const term *x, const term *y, const term *out,
                          int32_t list[KINDS][AC_MAX_RANK], const int32_t count[KINDS])
{
    int64_t size[KINDS] = {1, 1, 1, 1}, dim[AC_MAX_RANK];
    int32_t rows[2 * AC_MAX_RANK], columns[2 * AC_MAX_RANK], nr = 0, nc = 0;
    term z = {0};
    for (int32_t kind = 0; kind < KINDS; kind++)
        for (int32_t k = 0; k < count[kind]; k++)
            size[kind] *= extent(x, y, list[kind][k]);
    static const int32_t OF_X[] = {BATCH, ROW, SUMMED}, OF_Y[] = {BATCH, COLUMN, SUMMED}, OF_Z[] = {BATCH, ROW, COLUMN};
    for (int32_t g = 0; g < 3; g++) {
        for (int32_t k = 0; k < count[OF_X[g]]; k++)
            rows[nr++] = list[OF_X[g]][k];
        for (int32_t k = 0; k < count[OF_Y[g]]; k++)
            columns[nc++] = list[OF_Y[g]][k];
        for (int32_t k = 0; k < count[OF_Z[g]]; k++) { /* as many as the result has */
            dim[z.rank] = extent(x, y, list[OF_Z[g]][k]);
            add(&z, list[OF_Z[g]][k]);
        }
    }
    ac_tensor *l = ordered(b, x, rows), *r = ordered(b, y, columns);
    if (size[BATCH] == 1 && size[SUMMED] > 0 && x->t->dtype == AC_F32 && ac_tensor_is_moved_const(y->t)) {
        l = ac_make_reshape(b, l, 2, (int64_t[]){size[ROW], size[SUMMED]});
        z.t = ac_make_dense(b, l, ac_make_reshape(b, r, 2, (int64_t[]){size[COLUMN], size[SUMMED]}), NULL);
    } else {
        l = ac_make_reshape(b, l, 3, (int64_t[]){size[BATCH], size[ROW], size[SUMMED]});
        r = ac_make_reshape(b, r, 3, (int64_t[]){size[BATCH], size[COLUMN], size[SUMMED]});
        z.t = ac_make_matmul(b, l, r, false, true);
    }
    z.t = ac_make_reshape(b, z.t, z.rank, dim);
    return z.t ? ordered(b, &z, out->label) : NULL;
}

static ac_tensor *join(const ac_maker *b, const term *e, int32_t count, const term *out, const char **reason)
{
    int32_t list[KINDS][AC_MAX_RANK], kinds[KINDS];
    if (count == 1 && e->rank == out->rank) {
        bool all = true;
        for (int32_t d = 0; d < e->rank; d++)
            all &= has(out, e->label[d]) && place_of(e, e->label[d]) == d;
        if (all)
            return ordered(b, e, out->label);
    }
    if (count == 2 && split(&e[0], &e[1], out, list, kinds))
        return product(b, &e[0], &e[1], out, list, kinds);
    return general(b, e, count, out, reason);
}

/* The labels of x and y that a later term or the result needs. */
static bool step_labels(const term *x, const term *y, const term *rest, int32_t n_rest, const term *out, term *to)
{
    to->rank = 0;
    for (int32_t i = 0; i < 2; i++)
        for (int32_t d = 0; d < (i ? y : x)->rank; d++) {
            const int32_t k = (i ? y : x)->label[d];
            bool needed = has(out, k);
            for (int32_t r = 0; r < n_rest; r++)
                needed |= has(&rest[r], k);
            if (needed && !has(to, k) && !add(to, k))
                return false;
        }
    return true;
}

/* ------------------------------------------------------------------ the equation */

static int letter(char c)
{
    return c >= 'a' && c <= 'z' ? c - 'a' : c >= 'A' && c <= 'Z' ? c - 'A' + 26 : -1;
}

/* The labels of one term up to ',' '-' or the end; `...` is `wide` dimensions, `most` over all operands. */
static const char *read_term(const char *s, term *e, int32_t wide, int32_t most, int32_t *letters)
{
    bool dots = false;
    e->rank = *letters = 0;
    for (; *s && *s != ',' && *s != '-'; s++) {
        if (*s == ' ')
            continue;
        if (!strncmp(s, "...", 3) && !dots) {
            dots = true;
            for (int32_t d = 0; d < wide && e->rank < AC_MAX_RANK; d++)
                add(e, ELLIPSIS + most - wide + d);
            s += 2;
            continue;
        }
        const int k = letter(*s);
        if (k < 0 || !add(e, k))
            return NULL;
        ++*letters;
    }
    return s;
}

/* Without `->`: the dimensions under `...`, then the letters that occur once, in the order of ASCII. */
static bool implicit(const term *e, int32_t count, int32_t most, term *out)
{
    out->rank = 0;
    for (int32_t d = 0; d < most; d++)
        add(out, ELLIPSIS + d);
    for (int32_t c = 0; c < 52; c++) {
        const int32_t k = c < 26 ? c + 26 : c - 26;
        int32_t times = 0;
        for (int32_t i = 0; i < count; i++)
            for (int32_t d = 0; d < e[i].rank; d++)
                times += e[i].label[d] == k;
        if (times == 1 && !add(out, k))
            return false;
    }
    return true;
}

/* Terms and result of the equation. */
static int parse(const ac_maker *b, const char *equation, ac_tensor *const *x, int32_t n, term *e, term *out,
                 const char **reason)
{
    int32_t most = 0, letters = 0;
    const char *s = equation;
    for (int32_t i = 0; i < n; i++) { /* the number of dimensions of `...` */
        const char *begin = s;
        s = read_term(s, &e[i], 0, 0, &letters);
        const bool dots = s && memchr(begin, '.', (size_t)(s - begin)) != NULL;
        if (!s || letters > x[i]->rank || (*s != ',') != (i == n - 1))
            return ac_error(b->cx, b->at, E0103, "equation '%s' does not fit operand %d", equation, i);
        if (dots && x[i]->rank - letters > most)
            most = x[i]->rank - letters;
        s += *s == ',';
    }
    s = equation;
    for (int32_t i = 0; i < n; i++) {
        read_term(s, &e[i], 0, 0, &letters);
        s = read_term(s, &e[i], x[i]->rank - letters, most, &letters);
        if (e[i].rank != x[i]->rank)
            return ac_error(b->cx, b->at, E0103, "equation '%s' does not fit operand '%s' %s", equation, x[i]->name,
                            ac_shape_str(b->cx, x[i]));
        e[i].t = x[i];
        s += *s == ',';
    }
    if (*s != '-') {
        if (!implicit(e, n, most, out))
            *reason = "its result has more than 8 dimensions";
        return AC_OK;
    }
    if (s[1] != '>' || !(s = read_term(s + 2, out, most, most, &letters)) || *s)
        return ac_error(b->cx, b->at, E0103, "equation '%s' is malformed", equation);
    return AC_OK;
}

ac_tensor *ac_make_einsum(const ac_maker *b, const char *equation, ac_tensor *const *x, int32_t n, const char **reason)
{
    term e[OPERANDS], out = {0};
    *reason = n < 1 || n > OPERANDS ? "the number of its operands is not in 1..8" : NULL;
    for (int32_t i = 0; i < n; i++)
        if (!x[i])
            return *reason = NULL, NULL;
    if (*reason || parse(b, equation, x, n, e, &out, reason) < 0)
        return NULL;
    while (n > 2 && !*reason) {
        term next = {0};
        if (!step_labels(&e[0], &e[1], e + 2, n - 2, &out, &next))
            return *reason = "a partial product has more than 8 dimensions", NULL;
        next.t = join(b, e, 2, &next, reason);
        if (!next.t)
            return NULL;
        e[0] = next;
        memmove(e + 1, e + 2, (size_t)(n - 2) * sizeof *e);
        n--;
    }
    return *reason ? NULL : join(b, e, n, &out, reason);
}
