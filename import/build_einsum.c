#include "import/build_einsum.h"

#include <string.h>

enum { MOST_OPERANDS = 16, ELLIPSIS = 1 }; /* dimensions of an ellipsis have labels 1, 2, .. counted from the last */

typedef struct term { /* a tensor whose dimensions have labels */
    ac_tensor *t;
    int32_t n;
    char label[AC_MAX_RANK];
} term;

static bool has(const term *x, char label)
{
    return memchr(x->label, label, (size_t)x->n) != NULL;
}

static int32_t place_of(const term *x, char label)
{
    return (int32_t)((const char *)memchr(x->label, label, (size_t)x->n) - x->label);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Labels of one operand up to the end of its part of the equation; *at moves behind it. rank -1: the result. */
static const char *read_term(const char **at, int32_t rank, int32_t ellipsis, term *x)
{
    int32_t letters = 0;
    for (const char *p = *at; *p && *p != ',' && *p != '-'; p++)
        letters += is_letter(*p);
    x->n = 0;
    for (; **at && **at != ',' && **at != '-'; ++*at) {
        const char c = **at;
        const int32_t count = c == '.' ? rank < 0 ? ellipsis : rank - letters : 1;
        if (c == ' ')
            continue;
        if (c == '.' ? strncmp(*at, "...", 3) != 0 || count < 0 : !is_letter(c))
            return "its equation is not understood";
        *at += c == '.' ? 2 : 0;
        for (int32_t k = 0; k < count; k++) {
            const char label = c == '.' ? (char)(ELLIPSIS + count - 1 - k) : c;
            if (x->n == AC_MAX_RANK)
                return "an operand has more than 8 dimensions";
            if (has(x, label))
                return "its equation names a dimension twice in one operand";
            x->label[x->n++] = label;
        }
    }
    return rank >= 0 && x->n != rank ? "its equation does not fit the dimensions of its operands" : NULL;
}

/* The dimensions of x in the order of `label`. */
static ac_tensor *arrange(const ac_build *b, const term *x, const char *label)
{
    int32_t perm[AC_MAX_RANK];
    for (int32_t d = 0; d < x->n; d++)
        perm[d] = place_of(x, label[d]);
    return ac_build_transpose(b, x->t, perm);
}

/* Sums over the labels that neither `a` nor `z` has. */
static void sum_others(const ac_build *b, term *x, const term *a, const term *z)
{
    uint32_t mask = 0;
    int32_t kept = 0;
    for (int32_t d = 0; d < x->n; d++) {
        if (!has(z, x->label[d]) && (!a || !has(a, x->label[d])))
            mask |= 1u << d;
        else
            x->label[kept++] = x->label[d];
    }
    x->n = kept;
    x->t = ac_build_reduce(b, AC_OP_SUM, x->t, mask, false);
}

/* Labels of x of one kind, appended to `list`; *size gets their product. */
static int32_t take(const term *x, const term *y, const term *z, bool in_y, bool in_z, char *list, int32_t at,
                    int64_t *size)
{
    *size = 1;
    for (int32_t d = 0; d < x->n; d++)
        if (has(y, x->label[d]) == in_y && has(z, x->label[d]) == in_z) {
            list[at++] = x->label[d];
            *size *= x->t->dim[d];
        }
    return at;
}

/* x times y, over the labels that z does not need. */
static const char *multiply(const ac_build *b, term *x, term *y, const term *z)
{
    char lx[AC_MAX_RANK], ly[AC_MAX_RANK];
    int64_t batch, rows, columns, inner;
    term out = {.n = 0};
    ac_attrs a;
    sum_others(b, x, y, z);
    sum_others(b, y, x, z);
    if (!x->t || !y->t)
        return NULL;
    for (int32_t d = 0; d < x->n; d++)
        if (has(y, x->label[d]) && y->t->dim[place_of(y, x->label[d])] != x->t->dim[d])
            return "two dimensions with one label differ in size (an ellipsis that broadcasts is not supported)";
    const int32_t nb = take(x, y, z, true, true, lx, 0, &batch);
    const int32_t nr = take(x, y, z, false, true, lx, nb, &rows);
    const int32_t ni = take(x, y, z, true, false, lx, nr, &inner);
    memcpy(ly, lx, (size_t)nb);
    const int32_t nc = take(y, x, z, false, true, ly, nb, &columns);
    memcpy(ly + nc, lx + nr, (size_t)(ni - nr));
    for (int32_t d = 0; d < nr; d++)
        out.label[out.n++] = lx[d];
    for (int32_t d = nb; d < nc; d++) {
        if (out.n == AC_MAX_RANK)
            return "a product has more than 8 dimensions";
        out.label[out.n++] = ly[d];
    }
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d < out.n; d++)
        dim[d] = d < nr ? x->t->dim[place_of(x, out.label[d])] : y->t->dim[place_of(y, out.label[d])];
    ac_tensor *in[] = {ac_build_reshape(b, arrange(b, x, lx), 3, (int64_t[]){batch, rows, inner}),
                       ac_build_reshape(b, arrange(b, y, ly), 3, (int64_t[]){batch, columns, inner})};
    if (batch == 1 && ac_build_constant(y->t) && inner > 0) {
        in[0] = ac_build_reshape(b, in[0], 2, (int64_t[]){rows, inner});
        in[1] = ac_build_reshape(b, in[1], 2, (int64_t[]){columns, inner});
        ac_attrs_init(AC_OP_FULLY_CONNECTED, &a);
        a.dense.keep_dims = true;
        out.t = ac_build_op(b, AC_OP_FULLY_CONNECTED, in, 2, &a, AC_NONE);
    } else {
        ac_attrs_init(AC_OP_BATCH_MATMUL, &a);
        a.matmul.adj_y = true;
        out.t = ac_build_op(b, AC_OP_BATCH_MATMUL, in, 2, &a, AC_NONE);
    }
    out.t = ac_build_reshape(b, out.t, out.n, dim);
    *x = out;
    return NULL;
}

/* Without "->": the labels that occur once, in the order of the alphabet. */
static void implied(const term *x, int32_t n, int32_t ellipsis, term *z)
{
    z->n = 0;
    for (int32_t k = ellipsis; k > 0; k--)
        z->label[z->n++] = (char)(ELLIPSIS + k - 1);
    for (char c = 'A'; c <= 'z'; c++) {
        int32_t count = 0;
        for (int32_t i = 0; i < n; i++)
            count += has(&x[i], c);
        if (count == 1 && z->n < AC_MAX_RANK)
            z->label[z->n++] = c;
    }
}

ac_tensor *ac_build_einsum(const ac_build *b, const char *equation, ac_tensor *const *x, int32_t n, const char **reason)
{
    term in[MOST_OPERANDS], out = {.n = 0};
    const char *at = equation;
    int32_t ellipsis = 0;
    *reason = n < 1 || n > MOST_OPERANDS ? "it has more than 16 operands" : NULL;
    for (int32_t i = 0; i < n && !*reason; i++) {
        if (!x[i])
            return NULL;
        in[i].t = x[i];
        *reason = read_term(&at, x[i]->rank, 0, &in[i]);
        for (int32_t d = 0; !*reason && d < in[i].n; d++)
            ellipsis = in[i].label[d] < ' ' && in[i].label[d] > ellipsis ? in[i].label[d] : ellipsis;
        if (!*reason && (i + 1 < n ? *at++ != ',' : *at == ','))
            *reason = "its equation does not have a part for each operand";
    }
    if (!*reason && !strncmp(at, "->", 2)) {
        at += 2;
        *reason = read_term(&at, -1, ellipsis, &out);
    } else if (!*reason) {
        implied(in, n, ellipsis, &out);
    }
    if (!*reason && *at)
        *reason = "its equation is not understood";
    for (int32_t d = 0; d < out.n && !*reason; d++) {
        bool known = false;
        for (int32_t i = 0; i < n; i++)
            known |= has(&in[i], out.label[d]);
        *reason = known ? NULL : "its result has a label that no operand has";
    }
    for (int32_t i = 1; i < n && !*reason; i++) { /* what later operands need stays */
        term keep = out;
        for (int32_t k = i + 1; k < n; k++)
            for (int32_t d = 0; d < in[k].n; d++)
                if (!has(&keep, in[k].label[d])) {
                    if (keep.n == AC_MAX_RANK)
                        return *reason = "a product has more than 8 dimensions", NULL;
                    keep.label[keep.n++] = in[k].label[d];
                }
        *reason = multiply(b, &in[0], &in[i], &keep);
        if (!in[0].t)
            return NULL;
    }
    if (*reason)
        return NULL;
    sum_others(b, &in[0], NULL, &out);
    if (!in[0].t || in[0].n != out.n)
        return in[0].t ? (*reason = "its result has a label that no operand has", NULL) : NULL;
    return arrange(b, &in[0], out.label);
}
