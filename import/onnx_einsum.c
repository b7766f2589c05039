/* Einsum of ONNX. Operands are joined from left to right, two at a time; each step keeps the labels that are needed
 * later. Two operands that make a product of matrices become batch_matmul, all else our einsum. */
#include "import/onnx_ops.h"

#include <inttypes.h>
#include <string.h>

enum { LABELS = 16, OPERANDS = 8, ELLIPSIS = 52 }; /* labels of letters, then those of dimensions under `...` */

/* A tensor and the label of each of its dimensions. */
typedef struct term {
    ac_tensor *t;
    int32_t label[AC_MAX_RANK], rank;
} term;

static int letter(char c)
{
    return c >= 'a' && c <= 'z' ? c - 'a' : c >= 'A' && c <= 'Z' ? c - 'A' + 26 : -1;
}

/* The labels of one term up to ',' '-' or the end; `wide` dimensions stand under `...`, of `most` in all. */
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
                e->label[e->rank++] = ELLIPSIS + most - wide + d;
            s += 2;
            continue;
        }
        const int k = letter(*s);
        if (k < 0 || e->rank == AC_MAX_RANK)
            return NULL;
        e->label[e->rank++] = k;
        ++*letters;
    }
    return s;
}

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

/* Labels in order, each once: the dimensions of a transpose of e. */
static ac_tensor *ordered(ac_onx_node *n, const term *e, const int32_t *label)
{
    int32_t perm[AC_MAX_RANK];
    for (int32_t d = 0; d < e->rank; d++)
        perm[d] = place_of(e, label[d]);
    return ac_onx_transpose(n, e->t, perm);
}

/* The general form: our einsum, with labels numbered anew. */
static ac_tensor *general(ac_onx_node *n, const term *e, int32_t count, const term *out)
{
    int32_t seen[LABELS], k = 0;
    int64_t *v = AC_NEW_N(n->r->cx->region, int64_t, (OPERANDS + 1) * AC_MAX_RANK);
    int32_t at = 0;
    ac_tensor *in[OPERANDS];
    ac_attrs a;
    for (int32_t i = 0; i <= count; i++) {
        const term *t = i < count ? &e[i] : out;
        for (int32_t d = 0; d < t->rank; d++) {
            int32_t j = 0;
            while (j < k && seen[j] != t->label[d])
                j++;
            if (j == LABELS)
                return (void)ac_onx_cannot(n, "it has more than %d labels", LABELS), NULL;
            if (j == k)
                seen[k++] = t->label[d];
            v[at++] = j;
        }
        if (i < count)
            in[i] = t->t;
    }
    ac_attrs_init(AC_OP_EINSUM, &a);
    a.einsum.labels = (ac_ints){at, v};
    return ac_onx_make(n, AC_OP_EINSUM, in, count, &a, AC_NONE);
}

/* What a label is in a product of x and y. */
enum { BATCH, ROW, COLUMN, SUMMED, KINDS };

/* Labels of each kind, in the order of x, then y; false: it is no product of matrices. */
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
    return n[SUMMED] > 0 && n[BATCH] + n[ROW] + n[COLUMN] == out->rank && x->t->dtype == AC_F32;
}

static int64_t extent(const term *x, const term *y, int32_t label)
{
    return has(x, label) ? x->t->dim[place_of(x, label)] : y->t->dim[place_of(y, label)];
}

static ac_tensor *product(ac_onx_node *n, const term *x, const term *y, const term *out,
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
        for (int32_t k = 0; k < count[OF_Z[g]]; k++) {
            if (z.rank == AC_MAX_RANK)
                return NULL;
            dim[z.rank] = extent(x, y, list[OF_Z[g]][k]);
            z.label[z.rank++] = list[OF_Z[g]][k];
        }
    }
    ac_attrs a;
    ac_attrs_init(AC_OP_BATCH_MATMUL, &a);
    a.matmul.adj_y = true;
    ac_tensor *in[] = {
        ac_onx_reshape(n, ordered(n, x, rows), 3, (int64_t[]){size[BATCH], size[ROW], size[SUMMED]}),
        ac_onx_reshape(n, ordered(n, y, columns), 3, (int64_t[]){size[BATCH], size[COLUMN], size[SUMMED]})};
    z.t = ac_onx_reshape(n, ac_onx_make(n, AC_OP_BATCH_MATMUL, in, 2, &a, AC_NONE), z.rank, dim);
    return z.t ? ordered(n, &z, out->label) : NULL;
}

static ac_tensor *join(ac_onx_node *n, const term *e, int32_t count, const term *out)
{
    int32_t list[KINDS][AC_MAX_RANK], kinds[KINDS];
    if (count == 1 && e->rank == out->rank) {
        bool all = true;
        for (int32_t d = 0; d < e->rank; d++)
            all &= has(out, e->label[d]) && place_of(e, e->label[d]) == d;
        if (all)
            return ordered(n, e, out->label);
    }
    if (count == 2 && split(&e[0], &e[1], out, list, kinds))
        return product(n, &e[0], &e[1], out, list, kinds);
    return general(n, e, count, out);
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
            if (!needed || has(to, k))
                continue;
            if (to->rank == AC_MAX_RANK)
                return false;
            to->label[to->rank++] = k;
        }
    return true;
}

/* Without `->`: the dimensions under `...`, then the letters that occur once, in the order of ASCII. */
static int implicit(ac_onx_node *n, const term *e, int32_t count, int32_t most, term *out)
{
    out->rank = 0;
    for (int32_t d = 0; d < most; d++)
        out->label[out->rank++] = ELLIPSIS + d;
    for (int32_t c = 0; c < 52; c++) {
        const int32_t k = c < 26 ? c + 26 : c - 26;
        int32_t times = 0;
        for (int32_t i = 0; i < count; i++)
            for (int32_t d = 0; d < e[i].rank; d++)
                times += e[i].label[d] == k;
        if (times != 1)
            continue;
        if (out->rank == AC_MAX_RANK)
            return ac_onx_cannot(n, "its result has more than %d dimensions", AC_MAX_RANK);
        out->label[out->rank++] = k;
    }
    return AC_OK;
}

/* Terms and result of the equation. */
static int parse(ac_onx_node *n, const char *equation, term *e, term *out)
{
    int32_t most = 0, letters = 0;
    const char *s = equation;
    for (int32_t i = 0; i < n->n_in; i++) { /* how many dimensions stand under `...` */
        const char *begin = s;
        s = read_term(s, &e[i], 0, 0, &letters);
        const bool dots = s && memchr(begin, '.', (size_t)(s - begin)) != NULL;
        if (!s || letters > n->in[i]->rank || (*s != ',') != (i == n->n_in - 1))
            return ac_error(n->r->cx, n->at, E0103, "equation '%s' does not fit operand %d", equation, i);
        if (dots && n->in[i]->rank - letters > most)
            most = n->in[i]->rank - letters;
        s += *s == ',';
    }
    s = equation;
    for (int32_t i = 0; i < n->n_in; i++) {
        const int32_t rank = n->in[i]->rank;
        read_term(s, &e[i], 0, 0, &letters);
        s = read_term(s, &e[i], rank - letters, most, &letters);
        if (e[i].rank != rank)
            return ac_error(n->r->cx, n->at, E0103, "equation '%s' does not fit operand '%s' %s", equation,
                            n->in[i]->name, ac_shape_str(n->r->cx, n->in[i]));
        e[i].t = n->in[i];
        s += *s == ',';
    }
    if (*s != '-')
        return implicit(n, e, n->n_in, most, out);
    if (s[1] != '>' || !(s = read_term(s + 2, out, most, most, &letters)) || *s)
        return ac_error(n->r->cx, n->at, E0103, "equation '%s' is malformed", equation);
    return AC_OK;
}

int ac_onx_do_einsum(ac_onx_node *n)
{
    term e[OPERANDS], out = {0};
    const char *equation = ac_onx_str(n, "equation", "");
    if (n->n_in > OPERANDS)
        return ac_onx_cannot(n, "it has %d operands; supported are up to %d", n->n_in, OPERANDS);
    AC_TRY(parse(n, equation, e, &out));
    int32_t count = n->n_in;
    while (count > 2) {
        term next = {0};
        if (!step_labels(&e[0], &e[1], e + 2, count - 2, &out, &next))
            return ac_onx_cannot(n, "a partial product has more than %d dimensions", AC_MAX_RANK);
        next.t = join(n, e, 2, &next);
        if (!next.t)
            return AC_FAIL;
        e[0] = next;
        memmove(e + 1, e + 2, (size_t)(count - 2) * sizeof *e);
        count--;
    }
    return ac_onx_result(n, 0, join(n, e, count, &out));
}

int ac_onx_do_det(ac_onx_node *n)
{
    return ac_onx_result(n, 0, ac_onx_1(n, AC_OP_DET, n->in[0]));
}
