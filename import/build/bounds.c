/* bounds.c - finds upper bounds of sizes that are computed at run time; see bounds.h. */
#include "import/build/bounds.h"
#include "base/shell.h"
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

/* A bound of the whole name takes precedence over one of a part. A word that is the whole name of another result never
 * matches as a part. */
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
        ac_strf(b->cx->region, "limit its elements: --bound %s; or make its source constant: %s",
                ac_shell_set(b->cx, result, "N"), ac_const_options(b, t)));
}

/* Names of all sized results, each once (a node may look up its bound several times, and in both runs). */
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

/* ------------------------------------------------------------------ lists of sizes */

/* Sets maximum size and count of dimension s->at from element i of t, which is computed at run time. */
static int bound(const ac_maker *b, ac_tensor *t, int64_t i, const char *result, ac_late_sizes *s)
{
    const int64_t said = ac_bound_of(b, result);
    int64_t most;
    ac_tensor *one = ac_tensor_count(t) == 1 ? t : ac_make_slice(b, t, 0, i, 1);
    if (!one)
        return AC_FAIL;
    s->count = ac_count_at(b, t, i, &most);
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
            return ac_operand_late(b, *t); /* a tensor has one dynamically sized dimension */
        } else {
            late = e;
            where = at;
            s->at = (int32_t)i;
        }
    }
    return late ? bound(b, late, where, result, s) : AC_OK;
}
