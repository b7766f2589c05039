/* bounds.c - sizes that are computed at run time; see bounds.h. */
#include "import/build/bounds.h"
#include "base/text/named.h"
#include "import/build/counted.h"
#include "import/build/operands.h"
#include "import/build/params.h"
#include "import/build/wanted_outputs.h"
#include "ir/ops/decode/axis.h"
#include "ir/ops/decode/slice.h"

#include <inttypes.h>
#include <string.h>

static bool is_sized(const ac_reading *r, const char *name)
{
    bool found = false;
    for (int32_t k = 0; !found && k < r->sized.n; k++)
        found = !strcmp(r->sized.item[k].name, name);
    return found;
}

/* A bound of the whole name goes before those of a part, and a word that is another's whole name is none of a part. */
int64_t ac_bound_of(const ac_maker *b, const char *result)
{
    ac_reading *r = b->reading;
    ac_sized mine = {result, -1};
    int32_t whole = -1;
    for (int32_t i = 0; result && i < r->opt.n_bounds; i++) {
        const char *word = r->opt.bound[i].name;
        if (!strcmp(word, result))
            whole = i;
        else if (ac_named_part(word, result) && !is_sized(r, word))
            mine.by_part = i;
    }
    if (!result || !r->opt.n_bounds)
        return -1;
    mine.by_part = whole < 0 ? mine.by_part : -1;
    ac_push(b->cx->region, &r->sized, mine);
    return whole >= 0 ? r->opt.bound[whole].value : mine.by_part >= 0 ? r->opt.bound[mine.by_part].value : -1;
}

int ac_bound_missing(const ac_maker *b, const ac_tensor *t, const char *result)
{
    if (!b->reading->again || !result)
        return ac_operand_late(b, t);
    return ac_refuse(
        b->reading, b->at, E0203, b->at.op,
        ac_strf(b->cx->region,
                "the length of '%s' depends on operand '%s', which is computed at run time, and has no bound", result,
                t->name),
        ac_strf(b->cx->region, "limit its elements: --bound %s=N; or make its source constant: --const NAME=FILE.npy",
                result));
}

/* Each once: a node asks more than once, and in both runs. */
static ac_name_list sized_names(const ac_maker *b)
{
    const ac_reading *r = b->reading;
    ac_name_list out = {0};
    for (int32_t k = 0; k < r->sized.n; k++) {
        bool known = false;
        for (int32_t i = 0; !known && i < out.n; i++)
            known = !strcmp(out.item[i], r->sized.item[k].name);
        if (!known)
            ac_push(b->cx->region, &out, r->sized.item[k].name);
    }
    return out;
}

int ac_bounds_met(const ac_maker *b)
{
    const ac_reading *r = b->reading;
    int rc = AC_OK;
    for (int32_t i = 0; i < r->opt.n_bounds; i++) {
        const char *word = r->opt.bound[i].name, *first = is_sized(r, word) ? word : NULL;
        bool several = false;
        for (int32_t k = 0; k < r->sized.n; k++) {
            const ac_sized *s = &r->sized.item[k];
            first = s->by_part == i && !first ? s->name : first;
            several |= s->by_part == i && strcmp(s->name, first) != 0;
        }
        if (first && !several)
            continue;
        ac_error(b->cx, b->at, E0501,
                 first ? "--bound '%s' matches several results whose size depends on data"
                       : "--bound '%s' is not a result whose size depends on data",
                 word);
        const ac_name_list known = sized_names(b);
        rc = ac_named_help(b->cx, word, known.item, known.n);
    }
    return rc;
}

/* ------------------------------------------------------------------ counts */

ac_tensor *ac_bounded_count(const ac_maker *b, ac_tensor *size, int64_t most)
{
    size = ac_make_cast(b, ac_make_reshape(b, size, 0, NULL), AC_I64);
    size = ac_make_2(b, AC_OP_MINIMUM, size, ac_make_number(b, AC_I64, (double)most));
    return ac_make_2(b, AC_OP_MAXIMUM, size, ac_make_number(b, AC_I64, 0));
}

static ac_tensor *count_at(const ac_maker *b, ac_tensor *t, int64_t i, int64_t *most);

bool ac_known_element(const ac_maker *b, ac_tensor *t, int64_t i, double *v)
{
    ac_tensor *e = ac_list_element(b, t, &i);
    const void *data = e && ac_tensor_is_const(e) ? ac_tensor_force(b->cx, e) : NULL;
    if (data)
        *v = ac_dtype_get_num(e->dtype, data, i);
    return data != NULL;
}

/* Element i of a condition: 1, 0, or -1, where it is computed. A count equals no number below 0, which is how exporters
 * say "as it is" in a list of sizes. */
static int truth(const ac_maker *b, ac_tensor *cond, int64_t i)
{
    double v[2];
    int64_t most;
    if (ac_known_element(b, cond, i, &v[0]))
        return v[0] != 0;
    const ac_node *n = cond->def;
    if (!n || n->op != AC_OP_EQUAL || n->in[0]->rank != 1 || !ac_dims_equal(n->in[0], n->in[1]->rank, n->in[1]->dim))
        return -1;
    bool known[2];
    for (int32_t k = 0; k < 2; k++)
        known[k] = ac_known_element(b, n->in[k], i, &v[k]);
    if (known[0] && known[1])
        return v[0] == v[1];
    for (int32_t k = 0; k < 2; k++)
        if (known[k] && v[k] < 0 && count_at(b, n->in[!k], i, &most))
            return 0;
    return -1;
}

/* The operand of a sum that the other one, of which element i is 0, leaves as it is; -1: there is none. */
static int adds_nothing(const ac_maker *b, const ac_node *n, int64_t i)
{
    double v;
    for (int k = 0; k < 2; k++)
        if (ac_dtype_is_int(n->in[k]->dtype) && ac_tensor_count(n->in[k]) == ac_tensor_count(n->out[0]) &&
            ac_tensor_is_const(n->in[!k]) &&
            ac_known_element(b, n->in[!k], ac_tensor_count(n->in[!k]) == 1 ? 0 : i, &v) && v == 0)
            return k;
    return -1;
}

/* Is n's result its only operand, of one element? */
static bool reduces_one(const ac_node *n)
{
    const bool any =
        n->op == AC_OP_SUM || n->op == AC_OP_REDUCE_PROD || n->op == AC_OP_REDUCE_MAX || n->op == AC_OP_REDUCE_MIN;
    return any && ac_tensor_count(n->in[0]) == 1 && !n->in[0]->count;
}

ac_tensor *ac_list_element(const ac_maker *b, ac_tensor *t, int64_t *i)
{
    enum { MOST_STEPS = 64 };
    for (int32_t step = 0; step < MOST_STEPS && t->def && !t->count; step++) {
        const ac_node *n = t->def;
        int32_t axis, batch;
        if (*i < 0 || *i >= ac_tensor_count(t))
            return NULL;
        if (n->op == AC_OP_RESHAPE || n->op == AC_OP_SQUEEZE || n->op == AC_OP_EXPAND_DIMS || reduces_one(n)) {
            t = n->in[0];
        } else if (n->op == AC_OP_CAST && ac_dtype_is_int(t->dtype) && ac_dtype_is_int(n->in[0]->dtype)) {
            t = n->in[0];
        } else if (n->op == AC_OP_CONCATENATION && (t->rank == 1 || n->attrs.axis.axis == 0)) {
            int32_t k = 0;
            while (k < n->n_in && *i >= ac_tensor_count(n->in[k]))
                *i -= ac_tensor_count(n->in[k++]);
            if (k == n->n_in)
                return NULL;
            t = n->in[k];
        } else if (n->op == AC_OP_ADD && t->rank <= 1 && adds_nothing(b, n, *i) >= 0) {
            t = n->in[adds_nothing(b, n, *i)];
        } else if (n->op == AC_OP_SELECT && t->rank == 1 && ac_dims_equal(n->in[0], 1, t->dim)) {
            const int yes = truth(b, n->in[0], *i);
            if (yes < 0 || !ac_dims_equal(n->in[yes ? 1 : 2], 1, t->dim))
                break;
            t = n->in[yes ? 1 : 2];
        } else if (n->op == AC_OP_PACK && (t->rank == 1 || n->attrs.axis.axis == 0) && ac_tensor_count(n->in[0])) {
            const int64_t each = ac_tensor_count(n->in[0]);
            t = n->in[*i / each];
            *i %= each;
        } else if ((n->op == AC_OP_SLICE || n->op == AC_OP_STRIDED_SLICE) && n->in[0]->rank == 1) {
            ac_slice s;
            if ((n->op == AC_OP_SLICE ? ac_slice_of(b->cx, n, &s) : ac_strided_slice_of(b->cx, n, &s)) != AC_OK)
                return NULL;
            *i = s.begin[0] + *i * s.step[0];
            t = n->in[0];
        } else if (n->op == AC_OP_GATHER && n->in[0]->rank == 1 && ac_tensor_is_const(n->in[1]) &&
                   ac_gather_of(b->cx, n, &axis, &batch) == AC_OK && !batch) {
            const void *at = ac_tensor_force(b->cx, n->in[1]);
            if (!at)
                return NULL;
            *i = ac_dtype_get_int(n->in[1]->dtype, at, *i);
            *i += *i < 0 ? n->in[0]->dim[0] : 0;
            t = n->in[0];
        } else {
            break;
        }
    }
    return *i >= 0 && *i < ac_tensor_count(t) ? t : NULL;
}

/* The count of a tensor of g that element i of c is; NULL: none. */
static ac_tensor *count_in(const ac_maker *b, const ac_graph *g, const ac_tensor *c, int64_t i, int64_t *most)
{
    for (int32_t k = 0; c && !ac_tensor_is_const(c) && k < g->tensor.n; k++) {
        const ac_tensor *of = g->tensor.item[k];
        int64_t j = 0;
        if (of->count && ac_list_element(b, of->count, &j) == c && i == j) {
            *most = of->dim[of->count_dim];
            return of->count;
        }
    }
    return NULL;
}

/* The count that element i of t is, of a tensor of this graph or of the main one; NULL: none. */
static ac_tensor *count_at(const ac_maker *b, ac_tensor *t, int64_t i, int64_t *most)
{
    const ac_tensor *c = ac_list_element(b, t, &i);
    *most = -1;
    ac_tensor *count = count_in(b, b->g, c, i, most);
    return !count && b->reading && b->reading->g != b->g ? count_in(b, b->reading->g, c, i, most) : count;
}

/* Of how many flags each element of a sum of n's operand is; -1: of others. */
static int64_t flags_summed(const ac_node *n)
{
    const ac_node *from = n->op == AC_OP_SUM ? n->in[0]->def : NULL;
    const bool flags = from && from->op == AC_OP_CAST && from->in[0]->dtype == AC_BOOL && !from->in[0]->count;
    return flags && ac_tensor_count(n->out[0]) > 0 ? ac_tensor_count(n->in[0]) / ac_tensor_count(n->out[0]) : -1;
}

enum { MOST_DEPTH = 8, MOST_SIZE = 1 << 30 };

static int64_t most_of(const ac_maker *b, ac_tensor *t, int64_t i, int32_t depth);

/* The most that the only element of n's result may be; -1: unknown. */
static int64_t most_made(const ac_maker *b, const ac_node *n, int32_t depth)
{
    int64_t most = -1;
    if (n->op == AC_OP_MINIMUM || n->op == AC_OP_REDUCE_MIN) {
        for (int32_t k = 0; k < (n->op == AC_OP_MINIMUM ? 2 : 1); k++)
            for (int64_t j = 0; j < ac_tensor_count(n->in[k]) && j < AC_MAX_RANK; j++) {
                const int64_t of = most_of(b, n->in[k], j, depth);
                most = of >= 0 && (most < 0 || of < most) ? of : most;
            }
        return most;
    }
    if (n->op == AC_OP_SUM)
        return flags_summed(n);
    if (n->op == AC_OP_SUB) { /* less than it, if it is not a number below 0 that is taken off */
        int64_t of;
        double v = 0;
        const bool less = count_at(b, n->in[1], 0, &of) || (ac_known_element(b, n->in[1], 0, &v) && v >= 0);
        most = less ? most_of(b, n->in[0], 0, depth) : -1;
        return most < 0 ? -1 : most > (int64_t)v ? most - (int64_t)v : 0;
    }
    if (n->op != AC_OP_MAXIMUM && n->op != AC_OP_ADD)
        return -1;
    const int64_t x = most_of(b, n->in[0], 0, depth), y = most_of(b, n->in[1], 0, depth);
    if (x < 0 || y < 0)
        return -1;
    most = n->op == AC_OP_ADD ? x + y : x > y ? x : y;
    return most <= MOST_SIZE ? most : -1;
}

static int64_t most_of(const ac_maker *b, ac_tensor *t, int64_t i, int32_t depth)
{
    int64_t most, at = i;
    ac_tensor *e = ac_list_element(b, t, &at);
    const void *data = e && ac_tensor_is_const(e) ? ac_tensor_force(b->cx, e) : NULL;
    if (data)
        return ac_dtype_get_int(e->dtype, data, at);
    if (count_at(b, t, i, &most))
        return most;
    const ac_node *n = e ? e->def : NULL;
    return n && depth < MOST_DEPTH && ac_tensor_count(e) == 1 && ac_dtype_is_int(e->dtype) ? most_made(b, n, depth + 1)
                                                                                           : -1;
}

int64_t ac_most_of(const ac_maker *b, ac_tensor *t, int64_t i)
{
    return most_of(b, t, i, 0);
}

ac_tensor *ac_count_behind(const ac_maker *b, ac_tensor *t, int64_t *most)
{
    return ac_tensor_count(t) == 1 ? count_at(b, t, 0, most) : NULL;
}

ac_tensor *ac_bounded(const ac_maker *b, ac_tensor *t, ac_tensor *count, int32_t dim)
{
    const bool constant = t && count && ac_tensor_is_const(t);
    t = ac_counted_as(t, count, dim);
    return constant ? ac_counted_as(ac_make_counted_fill(b, t, 0), count, dim) : t;
}

/* ------------------------------------------------------------------ lists of sizes */

bool ac_is_count(const ac_maker *b, ac_tensor *t)
{
    enum { MOST_SIZES = 2 * AC_MAX_RANK }; /* pads; a list of more is none */
    bool found = false;
    int64_t most;
    for (int64_t i = 0; !found && !ac_tensor_is_const(t) && i < ac_tensor_count(t) && i < MOST_SIZES; i++)
        found = count_at(b, t, i, &most) != NULL;
    return found;
}

/* The element of t that is computed decides how long the result is. */
static int bound(const ac_maker *b, ac_tensor *t, int64_t i, const char *result, ac_late_sizes *s)
{
    const int64_t said = ac_bound_of(b, result);
    int64_t most;
    ac_tensor *one = ac_tensor_count(t) == 1 ? t : ac_make_slice(b, t, 0, i, 1);
    if (!one)
        return AC_FAIL;
    s->count = count_at(b, t, i, &most);
    if (!s->count)
        most = ac_most_of(b, t, i);
    if (!s->count && said < 0 && most < 0)
        return ac_bound_missing(b, t, result);
    if (!s->count || (said >= 0 && said < most)) {
        most = said >= 0 && (most < 0 || said < most) ? said : most;
        s->count = ac_bounded_count(b, one, most);
    }
    s->dim[s->at] = most;
    return s->count ? AC_OK : AC_FAIL;
}

int ac_late_sizes_of(const ac_maker *b, ac_tensor **t, const char *result, ac_late_sizes *s)
{
    ac_ints known;
    ac_tensor *late = NULL;
    int64_t where = 0;
    const int64_t n = ac_tensor_count(*t);
    *s = (ac_late_sizes){.at = -1, .n = (int32_t)n};
    (void)ac_bound_of(b, result);
    if (n > AC_MAX_RANK)
        return ac_refuse(b->reading, b->at, E0205, b->at.op, "the result has more than 8 dimensions", NULL);
    if (!ac_is_count(b, *t) && ac_operand_known(b, t)) {
        AC_TRY(ac_constant_values(b, *t, &known));
        for (int32_t i = 0; i < known.n; i++)
            s->dim[i] = known.v[i];
        return AC_OK;
    }
    if (!b->reading->again)
        return ac_operand_late(b, *t);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i;
        ac_tensor *e = ac_list_element(b, *t, &at);
        const void *data = e && ac_tensor_is_const(e) ? ac_tensor_force(b->cx, e) : NULL;
        if (data) {
            s->dim[i] = ac_dtype_get_int(e->dtype, data, at);
        } else if (late || !e) {
            return ac_operand_late(b, *t); /* more than one: no count says how many of both there are */
        } else {
            late = e;
            where = at;
            s->at = (int32_t)i;
        }
    }
    return late ? bound(b, late, where, result, s) : AC_OK;
}
