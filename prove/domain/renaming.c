/* renaming.c - copies of an iteration's unknowns; see renaming.h. */
#include "prove/domain/renaming.h"

void ac_renaming_open(ac_renaming *r, ac_knowledge *know, int32_t since, int32_t n)
{
    *r = (ac_renaming){.know = know, .since = since, .n = n};
    r->to = AC_NEW_N(know->region, int32_t, n - since + 1);
}

ac_affine ac_rename_sum(ac_renaming *r, const ac_affine *a)
{
    ac_affine sum = ac_affine_of(a->c);
    sum.lost = a->lost;
    for (int32_t i = 0; i < a->n; i++) {
        const ac_affine u = ac_affine_unknown(ac_renamed(r, a->term[i].unknown));
        sum = ac_affine_add(&sum, &u, a->term[i].k);
    }
    return sum;
}

/* The unknown in another iteration: a copy whose bounds and alternatives name copies. */
int32_t ac_renamed(ac_renaming *r, int32_t unknown)
{
    ac_knowledge *k = r->know;
    if (unknown < r->since || unknown >= r->n)
        return unknown;
    int32_t *to = &r->to[unknown - r->since];
    if (*to)
        return *to;
    const ac_unknown from = k->unknown.item[unknown];
    const int32_t u = ac_know(k, from.in.lo, from.in.hi);
    *to = u;
    /* Bounds name older unknowns, whose copies have larger numbers than u: so bounds are added last. */
    for (int32_t i = 0; i < from.at_most.n; i++) {
        const ac_affine sum = ac_rename_sum(r, &from.at_most.item[i].sum);
        ac_know_at_most(k, u, from.at_most.item[i].k, &sum);
    }
    for (int32_t i = 0; i < from.at_least.n; i++) {
        const ac_affine sum = ac_rename_sum(r, &from.at_least.item[i].sum);
        ac_know_at_least(k, u, from.at_least.item[i].k, &sum);
    }
    if (from.n_one_of) {
        ac_alternative *each = AC_NEW_N(r->know->region, ac_alternative, from.n_one_of);
        for (int32_t i = 0; i < from.n_one_of; i++) {
            each[i].value = ac_rename_sum(r, &from.one_of[i].value);
            ac_affine *guard = AC_NEW_N(r->know->region, ac_affine, from.one_of[i].n_guard + 1);
            for (int32_t g = 0; g < from.one_of[i].n_guard; g++)
                guard[g] = ac_rename_sum(r, &from.one_of[i].guard[g]);
            each[i].guard = guard;
            each[i].n_guard = from.one_of[i].n_guard;
        }
        k->unknown.item[u].one_of = each;
        k->unknown.item[u].n_one_of = from.n_one_of;
    }
    return u;
}

void ac_rename_all(ac_renaming *r, const ac_affine *sum, int32_t n)
{
    AC_VEC(int32_t) need = {0};
    bool *seen = AC_NEW_N(r->know->region, bool, r->n + 1);
    for (int32_t k = 0; k < n; k++)
        for (int32_t i = 0; i < sum[k].n; i++)
            ac_push(r->know->region, &need, sum[k].term[i].unknown);
    for (int32_t at = 0; at < need.n; at++) {
        const int32_t u = need.item[at];
        if (u < r->since || seen[u])
            continue;
        seen[u] = true;
        const ac_unknown *from = &r->know->unknown.item[u];
        for (int32_t i = 0; i < from->at_most.n; i++)
            for (int32_t t = 0; t < from->at_most.item[i].sum.n; t++)
                ac_push(r->know->region, &need, from->at_most.item[i].sum.term[t].unknown);
        for (int32_t i = 0; i < from->at_least.n; i++)
            for (int32_t t = 0; t < from->at_least.item[i].sum.n; t++)
                ac_push(r->know->region, &need, from->at_least.item[i].sum.term[t].unknown);
        for (int32_t i = 0; i < from->n_one_of; i++) {
            for (int32_t t = 0; t < from->one_of[i].value.n; t++)
                ac_push(r->know->region, &need, from->one_of[i].value.term[t].unknown);
            for (int32_t g = 0; g < from->one_of[i].n_guard; g++)
                for (int32_t t = 0; t < from->one_of[i].guard[g].n; t++)
                    ac_push(r->know->region, &need, from->one_of[i].guard[g].term[t].unknown);
        }
    }
    for (int32_t u = r->since; u < r->n; u++)
        if (seen[u])
            ac_renamed(r, u);
}
