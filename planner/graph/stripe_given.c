/* stripe_given.c - --stripe 2-5,conv1-pool1: groups of steps as the user lists them. */
#include "planner/graph/stripe.h"

#include "base/text/named.h"

#include <stdlib.h>
#include <string.h>

typedef struct given {
    int32_t first, last;
} given;

/* The step of a number or a node's name; -1: none. */
static int32_t step_of(const ac_stripes *v, const char *text)
{
    char *end;
    const long n = strtol(text, &end, 10);
    const char **names = AC_NEW_N(v->cx->region, const char *, v->n_steps + 1);
    for (int32_t s = 0; s < v->n_steps; s++)
        names[s] = v->step[s]->node->name;
    const int32_t named = ac_named(text, names, v->n_steps);
    if (named >= 0)
        return named;
    return *text && !*end && n >= 0 && n < v->n_steps ? (int32_t)n : -1;
}

/* "A-B" or "A"; names may hold dashes, so every dash is tried. */
static bool range_of(const ac_stripes *v, char *text, given *out)
{
    out->first = out->last = step_of(v, text);
    for (char *dash = strchr(text, '-'); dash && out->first < 0; dash = strchr(dash + 1, '-')) {
        *dash = 0;
        out->first = step_of(v, text);
        out->last = step_of(v, dash + 1);
        if (out->last < 0)
            out->first = -1;
        *dash = '-';
    }
    return out->first >= 0 && out->first <= out->last;
}

/* Reports why a word is not a run of steps. */
static int unknown(const ac_stripes *v, const char *word)
{
    enum { MOST = 64 };
    ac_ctx *cx = v->cx;
    const char *names[MOST] = {"off", "auto"};
    char *end;
    int32_t n = 2;
    const long first = strtol(word, &end, 10), last = end > word && *end == '-' ? strtol(end + 1, &end, 10) : first;
    const long beyond = first >= v->n_steps ? first : last;
    if (*word < '0' || *word > '9' || *end) {
        for (int32_t s = 0; s < v->n_steps && n < MOST; s++)
            names[n++] = v->step[s]->node->name;
        ac_error(cx, (ac_place){0}, E0501, "--stripe '%s' is not a range of steps", word);
        (void)ac_named_help(cx, word, names, n);
    } else if (beyond >= v->n_steps) {
        ac_error(cx, (ac_place){0}, E0501, "--stripe '%s': step %ld does not exist, the last is %d", word, beyond,
                 v->n_steps - 1);
    } else {
        ac_error(cx, (ac_place){0}, E0501, "--stripe '%s' ends before it begins", word);
    }
    return ac_help(
        cx,
        "give off, auto, or the first and last step, such as 2-5, by number or by name; the model has steps 0 to %d",
        v->n_steps - 1);
}

/* Reports why the steps cannot be a group: the first one without rows, or their order. */
static int refuse(ac_stripes *v, const given *x)
{
    ac_ctx *cx = v->cx;
    ac_error(cx, (ac_place){0}, E0501, "--stripe %d-%d: these steps cannot work row by row together", x->first,
             x->last);
    for (int32_t s = x->first; s <= x->last; s++)
        if (!ac_stripe_form_of(v, s)->ok)
            return ac_detail(cx, "step %d '%s' needs all of its operands at once", s, v->step[s]->node->name);
    return ac_detail(cx, "one of them needs rows that another computes too late, or reads a view of another's result");
}

int ac_stripe_given(ac_stripes *v, const char *list, ac_stripe_how how, ac_lowered **out, int32_t *n, int32_t *groups)
{
    ac_ctx *cx = v->cx;
    char *text = ac_strdup(v->region, list), *save = NULL;
    int32_t *last = AC_NEW_N(v->region, int32_t, v->n_steps + 1); /* by first step: 1 + last; 0: no group */
    int32_t *owner = AC_NEW_N(v->region, int32_t, v->n_steps + 1);
    char *word = strtok_r(text, ",", &save);
    for (bool more = true; more; more = (word = strtok_r(NULL, ",", &save)) != NULL) {
        given x;
        if (!word || !range_of(v, word, &x))
            return unknown(v, word ? word : list);
        for (int32_t s = x.first; s <= x.last; s++)
            if (owner[s]++)
                return ac_error(cx, (ac_place){0}, E0501, "--stripe: step %d is in two groups", s);
        last[x.first] = x.last + 1;
    }
    *n = *groups = 0;
    for (int32_t s = 0; s < v->n_steps; s++) {
        ac_stripe_group q;
        if (!last[s]) {
            out[(*n)++] = v->step[s];
            continue;
        }
        if (!ac_stripe_group_of(v, s, last[s], how, v->region, &q))
            return refuse(v, &(given){s, last[s] - 1});
        if (!(out[(*n)++] = ac_stripe_lower(v, &q)))
            return AC_FAIL;
        ++*groups;
        s = last[s] - 1;
    }
    return AC_OK;
}
