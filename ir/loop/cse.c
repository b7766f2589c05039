/* cse.c - finds common values, forwards stores to loads, and keeps names unique.
 *
 * Two uses of one structure: a hash table with chains whose entries are also a stack. The newest entry is always
 * the head of its chain, so leaving a block undoes in O(1) per entry. Lookups stop after DEPTH entries: cost stays
 * bounded. */
#include "ir/loop/builder.h"

#include "base/ascii.h"

#include <string.h>

enum { FIRST_CAP = 256, DEPTH = 32 };

struct ac_lb_name {
    const char *text; /* NULL: empty slot */
    bool used;        /* false: it belonged to a loop that has ended, or only its numbered forms are in use */
    bool fixed;       /* in use up to the function's end */
    bool loop;        /* a loop has or had it */
    int32_t next;     /* number to try for the next numbered form */
};

struct ac_lb_cse *ac_lb_cse_new(ac_region *r)
{
    struct ac_lb_cse *t = AC_NEW(r, struct ac_lb_cse);
    t->cap = FIRST_CAP;
    t->bucket = AC_NEW_N(r, int32_t, t->cap);
    t->cap_names = 64;
    t->name = AC_NEW_N(r, struct ac_lb_name, t->cap_names);
    return t;
}

static uint32_t mix(uint32_t h, uint64_t v)
{
    uint64_t x = (h ^ v) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(x >> 32);
}

/* Lanes of the pool that belong to the instruction: compared by content, not by position. */
static int32_t pooled(const ac_ins *i)
{
    return i->op == AC_L_CONSTV || i->op == AC_L_SHUFFLE ? i->lanes : 0;
}

static uint32_t hash_of(const ac_loop_fn *fn, const ac_ins *i, int64_t stamp)
{
    uint32_t h =
        mix(17, (uint64_t)i->op | (uint64_t)i->dtype << 8 | (uint64_t)i->flags << 16 | (uint64_t)i->lanes << 24);
    h = mix(h, (uint64_t)(uint32_t)i->a | (uint64_t)(uint32_t)i->b << 32);
    h = mix(h, (uint64_t)i->k.i ^ (uint64_t)(uint32_t)i->c << 20);
    h = mix(h, (uint64_t)stamp);
    if (!pooled(i))
        return mix(h, (uint64_t)(uint32_t)i->aux);
    for (int32_t l = 0; l < pooled(i); l++)
        h = mix(h, (uint64_t)fn->pool.item[i->aux + l]);
    return h;
}

static bool equal(const ac_loop_fn *fn, const ac_ins *x, const ac_ins *y)
{
    if (x->op != y->op || x->dtype != y->dtype || x->flags != y->flags || x->lanes != y->lanes || x->a != y->a ||
        x->b != y->b || x->c != y->c || x->k.i != y->k.i)
        return false;
    if (!pooled(x))
        return x->aux == y->aux;
    return !memcmp(fn->pool.item + x->aux, fn->pool.item + y->aux, (size_t)pooled(x) * sizeof(int64_t));
}

static void link_entry(struct ac_lb_cse *t, int32_t i)
{
    int32_t *head = &t->bucket[t->entry.item[i].hash & (t->cap - 1)];
    t->entry.item[i].next = *head;
    *head = i + 1;
}

static void grow(ac_lb *b)
{
    struct ac_lb_cse *t = b->cse;
    t->cap *= 4;
    t->bucket = AC_NEW_N(b->region, int32_t, t->cap);
    for (int32_t i = 0; i < t->entry.n; i++) /* oldest first: chains keep the newest at their heads */
        link_entry(t, i);
}

ac_x ac_lb_pure(ac_lb *b, ac_ins ins, int64_t stamp)
{
    struct ac_lb_cse *t = b->cse;
    const ac_loop_fn *fn = b->fn;
    uint32_t h = hash_of(fn, &ins, stamp);
    int32_t depth = 0;
    for (int32_t e = t->bucket[h & (t->cap - 1)]; e && depth < DEPTH; e = t->entry.item[e - 1].next, depth++) {
        const ac_lb_entry *k = &t->entry.item[e - 1];
        if (k->hash != h || k->stamp != stamp || !equal(fn, &fn->code.item[k->x], &ins))
            continue;
        if (pooled(&ins) && ins.aux + pooled(&ins) == fn->pool.n && fn->code.item[k->x].aux != ins.aux)
            b->fn->pool.n -= pooled(&ins); /* its lanes were just added: not needed */
        return k->x;
    }
    ac_x x = ac_lb_append(b, ins);
    if ((uint32_t)t->entry.n >= t->cap)
        grow(b);
    ac_push(b->region, &t->entry, ((ac_lb_entry){.x = x, .hash = h, .stamp = stamp}));
    link_entry(t, t->entry.n - 1);
    return x;
}

void ac_lb_enter(ac_lb *b)
{
    ac_push(b->region, &b->cse->mark, b->cse->entry.n);
}

void ac_lb_leave(ac_lb *b, bool pop)
{
    struct ac_lb_cse *t = b->cse;
    int32_t keep = t->mark.item[t->mark.n - 1];
    while (t->entry.n > keep) {
        const ac_lb_entry *e = &t->entry.item[--t->entry.n];
        t->bucket[e->hash & (t->cap - 1)] = e->next;
    }
    if (pop)
        t->mark.n--;
}

/* Names. */

static uint32_t hash_name(const char *s)
{
    uint32_t h = 1;
    for (; *s; s++)
        h = mix(h, (uint64_t)(unsigned char)*s);
    return h;
}

static struct ac_lb_name *slot_of(struct ac_lb_name *table, uint32_t cap, const char *s)
{
    uint32_t k = hash_name(s) & (cap - 1);
    while (table[k].text && strcmp(table[k].text, s) != 0)
        k = (k + 1) & (cap - 1);
    return &table[k];
}

static struct ac_lb_name *find_name(ac_lb *b, const char *s)
{
    struct ac_lb_cse *t = b->cse;
    if (t->n_names * 2 >= t->cap_names) {
        uint32_t cap = t->cap_names * 2;
        struct ac_lb_name *fresh = AC_NEW_N(b->region, struct ac_lb_name, cap);
        for (uint32_t i = 0; i < t->cap_names; i++)
            if (t->name[i].text)
                *slot_of(fresh, cap, t->name[i].text) = t->name[i];
        t->name = fresh;
        t->cap_names = cap;
    }
    struct ac_lb_name *n = slot_of(t->name, t->cap_names, s);
    if (!n->text) {
        *n = (struct ac_lb_name){.text = ac_strdup(b->region, s), .next = 1};
        t->n_names++;
    }
    return n;
}

/* Letters, digits and _, not beginning with a digit, not a keyword of C. */
static char *identifier(ac_region *r, const char *hint)
{
    static const char *const WORDS[] = {
        "auto",    "break",    "case",     "char",     "const",        "continue",      "default", "do",     "double",
        "else",    "enum",     "extern",   "float",    "for",          "goto",          "if",      "inline", "int",
        "long",    "register", "restrict", "return",   "short",        "signed",        "sizeof",  "static", "struct",
        "switch",  "typedef",  "union",    "unsigned", "void",         "volatile",      "while",   "bool",   "true",
        "false",   "asm",      "class",    "new",      "this",         "template",      "private", "public", "operator",
        "alignas", "alignof",  "typeof",   "nullptr",  "thread_local", "static_assert", "main"};
    char *s = ac_strf(r, "%s%s", ac_is_digit(*hint) ? "_" : "", *hint ? hint : "_");
    for (char *p = s; *p; p++)
        if (!ac_is_alnum(*p))
            *p = '_';
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (!strcmp(s, WORDS[i]))
            return ac_strf(r, "%s_", s);
    return s;
}

static bool name_free(const struct ac_lb_name *n, bool everywhere)
{
    return !n->used && !n->fixed && !(everywhere && n->loop);
}

const char *ac_lb_unique(ac_lb *b, const char *hint, bool everywhere)
{
    char *s = identifier(b->region, hint);
    struct ac_lb_name *n = find_name(b, s);
    while (!name_free(n, everywhere)) {
        struct ac_lb_name *base = find_name(b, s);
        int32_t number = everywhere ? base->next++ : 1;
        n = find_name(b, ac_strf(b->region, "%s_%d", s, number));
        while (!everywhere && !name_free(n, false)) /* loops are few and nest shallow: count from 1 */
            n = find_name(b, ac_strf(b->region, "%s_%d", s, ++number));
    }
    n->used = true;
    n->fixed = everywhere;
    n->loop |= !everywhere;
    return n->text;
}

void ac_lb_release(ac_lb *b, const char *name)
{
    find_name(b, name)->used = false;
}
