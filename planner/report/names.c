/* names.c - see names.h: which runs of parts each name has, and which of them no other has. */
#include "planner/report/names.h"

#include "base/vec.h"
#include "base/visible.h"

#include <stdlib.h>
#include <string.h>

enum {
    PARTS = 12,  /* of a name between two ';': the last ones */
    MANY = 20000 /* names: more are shown as they are */
};

typedef struct run {
    uint64_t hash;
    const char *name; /* the full name; interned, so equal names are one */
} run;

struct ac_name_list {
    ac_ctx *cx;
    AC_VEC(run) run; /* sorted by hash; empty: no name is long */
};

/* After "rows of ": windows are named after the tensor whose rows they keep. */
static const char *after_lead(const char *name)
{
    static const char LEAD[] = "rows of ";
    return strncmp(name, LEAD, sizeof LEAD - 1) ? name : name + sizeof LEAD - 1;
}

static uint64_t hash_of(const char *s, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
    return h;
}

/* The parts of the name at s up to its ';': part k is [at[k], end[k]). Returns where the next name begins, or NULL. */
static const char *split(const char *s, const char *at[PARTS], const char *end[PARTS], int *n)
{
    const char *stop = s + strcspn(s, ";");
    *n = 0;
    for (const char *p = s; p <= stop;) {
        size_t len = 0;
        while (p + len < stop && p[len] != '/')
            len++;
        if (*n == PARTS) {
            memmove(at, at + 1, (PARTS - 1) * sizeof *at);
            memmove(end, end + 1, (PARTS - 1) * sizeof *end);
            --*n;
        }
        if (len) {
            at[*n] = p;
            end[(*n)++] = p + len;
        }
        p += len + 1;
    }
    return *stop ? stop + 1 : NULL;
}

static void add_name(ac_name_list *x, const char *name)
{
    const char *at[PARTS], *end[PARTS];
    const char *own = after_lead(name);
    int n;
    for (const char *s = own; s;) {
        const char *next = split(s, at, end, &n);
        for (int i = 0; i < n; i++)
            for (int k = i; k < n; k++)
                ac_push(x->cx->region, &x->run, ((run){hash_of(at[i], (size_t)(end[k] - at[i])), own}));
        s = next;
    }
}

static int by_hash(const void *a, const void *b)
{
    const run *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

ac_name_list *ac_names_new(ac_ctx *cx, const char *const *name, int32_t n)
{
    ac_name_list *x = AC_NEW(cx->region, ac_name_list);
    bool some = false;
    x->cx = cx;
    for (int32_t i = 0; i < n; i++)
        some |= strlen(name[i]) > AC_NAME_LONG;
    for (int32_t i = 0; some && i < n && n <= MANY; i++)
        add_name(x, name[i]);
    if (x->run.n)
        qsort(x->run.item, (size_t)x->run.n, sizeof *x->run.item, by_hash);
    return x;
}

ac_name_list *ac_names_of(ac_ctx *cx, const ac_report *r)
{
    const ac_problem *p = r->problem;
    const char **name = AC_NEW_N(cx->region, const char *, r->n_tensors + p->n + r->n_steps + 1);
    for (int32_t t = 0; t < r->n_tensors; t++)
        name[t] = r->tensor[t].name;
    for (int32_t i = 0; i < p->n; i++)
        name[r->n_tensors + i] = p->item[i].name;
    for (int32_t s = 0; s < r->n_steps; s++)
        name[r->n_tensors + p->n + s] = r->step[s].name;
    return ac_names_new(cx, name, r->n_tensors + p->n + r->n_steps);
}

/* A part without letters, such as "0", is not a name. */
static bool has_letter(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((s[i] | 0x20) >= 'a' && (s[i] | 0x20) <= 'z')
            return true;
    return false;
}

/* Has only the name `own` this run? Its own runs are in the list, so a search finds one. */
static bool is_own(const ac_name_list *x, const char *own, uint64_t hash)
{
    int32_t lo = 0, hi = x->run.n;
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (x->run.item[mid].hash < hash)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < x->run.n && x->run.item[lo].hash == hash; lo++)
        if (strcmp(x->run.item[lo].name, own))
            return false;
    return true;
}

const char *ac_name_short(const ac_name_list *x, const char *name)
{
    const char *own = after_lead(name), *at[PARTS], *end[PARTS], *best = NULL;
    size_t length = 0;
    int parts = PARTS + 1, n;
    if (strlen(name) <= AC_NAME_LONG || !x->run.n)
        return name;
    for (const char *s = own; s;) { /* the fewest parts; of these the first */
        const char *next = split(s, at, end, &n);
        for (int i = 0; i < n; i++)
            for (int k = i; k < n && k - i + 1 < parts; k++) {
                const size_t len = (size_t)(end[k] - at[i]);
                if (!has_letter(at[i], len) || !is_own(x, own, hash_of(at[i], len)))
                    continue;
                best = at[i];
                length = len;
                parts = k - i + 1;
            }
        s = next;
    }
    return best ? ac_strf(x->cx->region, "%.*s%.*s", (int)(own - name), name, (int)length, best) : name;
}

/* Does a character begin at s, and not in its middle? */
static bool begins(const char *s)
{
    return ((unsigned char)*s & 0xc0) != 0x80;
}

const char *ac_name_fit(const ac_name_list *x, const char *name, size_t width)
{
    const char *s = ac_visible(x->cx->region, ac_name_short(x, name));
    const size_t n = strlen(s);
    if (n <= width)
        return s;
    size_t head = (width - 2) / 2, tail = width - 2 - head;
    while (head && !begins(s + head))
        head--;
    while (tail && !begins(s + n - tail))
        tail--;
    return ac_strf(x->cx->region, "%.*s..%s", (int)head, s, s + n - tail);
}
