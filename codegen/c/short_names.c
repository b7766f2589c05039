/* short_names.c - shortens names of tensors in comments of firmware code. Importers join the names of fused nodes to
 * very long ones; a comment shows as many of the last parts of the first name as are needed to make it unique:
 *
 *     functional_1/activation_1/Relu;functional_1/batch_normalization_1/FusedBatchNormV3;...     activation_1/Relu
 *
 * Reports have all names in full. */
#include "codegen/c/emit.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS = 2, LONGEST = 48 }; /* minimum number of parts to show; maximum number of characters */

struct ac_short_names {
    AC_VEC(const char *) full; /* each once, sorted */
    AC_VEC(const char *) tail; /* of all of them, sorted */
};

static int by_text(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

/* The last `parts` parts of the first name in `s`; *whole: these are all. */
static const char *tail(ac_region *r, const char *s, int parts, bool *whole)
{
    const size_t n = strcspn(s, ";");
    size_t at = n;
    while (at > 0 && (s[at - 1] != '/' || --parts > 0))
        at--;
    *whole = !at;
    return ac_strf(r, "%.*s", (int)(n - at), s + at);
}

static void gather(const ac_module *m, ac_short_names *t)
{
    ac_region *r = m->cx->region;
    for (int32_t i = 0; i < m->n_calls; i++) {
        const ac_lowered *low = m->call[i].low;
        ac_push(r, &t->full, m->call[i].name);
        for (int32_t a = 0; a < low->arg.n; a++)
            if (low->arg.item[a].tensor)
                ac_push(r, &t->full, low->arg.item[a].tensor->name);
    }
}

const ac_short_names *ac_emit_short_names(const ac_module *m)
{
    ac_region *r = m->cx->region;
    ac_short_names *t = AC_NEW(r, ac_short_names);
    gather(m, t);
    if (!t->full.n)
        return NULL;
    qsort(t->full.item, (size_t)t->full.n, sizeof *t->full.item, by_text);
    int32_t n = 0;
    for (int32_t i = 0; i < t->full.n; i++)
        if (!n || strcmp(t->full.item[i], t->full.item[n - 1]) != 0)
            t->full.item[n++] = t->full.item[i];
    t->full.n = n;
    for (int32_t i = 0; i < n; i++) {
        bool whole = false;
        for (int parts = 1; !whole; parts++)
            ac_push(r, &t->tail, tail(r, t->full.item[i], parts, &whole));
    }
    qsort(t->tail.item, (size_t)t->tail.n, sizeof *t->tail.item, by_text);
    return t;
}

/* Does it end at most one name? */
static bool is_telling(const ac_short_names *t, const char *word)
{
    const char **first = t->tail.item, **end = first + t->tail.n;
    const char **at = bsearch(&word, first, (size_t)t->tail.n, sizeof word, by_text);
    return !at || ((at == first || strcmp(at[-1], word) != 0) && (at + 1 == end || strcmp(at[1], word) != 0));
}

const char *ac_emit_short_name(const ac_emit *e, const char *name)
{
    ac_region *r = e->region;
    const char *s = name;
    bool whole = !e->names, found = false;
    for (int parts = PARTS; !whole && !found; parts++) {
        const char *end = tail(r, name, parts, &whole);
        found = *end && is_telling(e->names, end);
        s = found ? end : name;
    }
    s = ac_c_comment_text(r, s);
    return strlen(s) > LONGEST ? ac_strf(r, "%.*s..", LONGEST - 2, s) : s;
}

const char *ac_emit_short_note(const ac_emit *e, const char *note)
{
    ac_sink s;
    ac_sink_open(&s, e->m->cx);
    while (*note) {
        const size_t n = strcspn(note, " '");
        const char *word = ac_strf(e->region, "%.*s", (int)n, note);
        ac_put(&s, strpbrk(word, "/;") ? ac_emit_short_name(e, word) : word);
        note += n;
        if (*note)
            ac_putc(&s, *note++);
    }
    return ac_sink_text(&s);
}
