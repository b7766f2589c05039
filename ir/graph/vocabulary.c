/* vocabulary.c - the texts of a model (vocabulary.h). */
#include "ir/graph/vocabulary.h"

#include <stdlib.h>
#include <string.h>

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void ac_vocabulary_sort(ac_vocabulary_pair *p, const char **text, int32_t n)
{
    int32_t kept = 0;
    if (n)
        qsort(text, (size_t)n, sizeof *text, by_bytes);
    for (int32_t i = 0; i < n; i++)
        if (!kept || strcmp(text[kept - 1], text[i]) != 0)
            text[kept++] = text[i];
    p->known = (ac_vocabulary){.text = text, .n = kept};
    p->any = (ac_vocabulary){.text = text, .n = kept, .other = true};
}

/* strcmp of a text that has no end. */
static int compare(const char *text, size_t size, const char *with)
{
    const size_t n = strlen(with);
    const int c = memcmp(text, with, size < n ? size : n);
    return c ? c : (size > n) - (size < n);
}

int32_t ac_vocabulary_code(const ac_vocabulary *w, const char *text, size_t size)
{
    int32_t low = 0, high = w->n;
    while (low < high) {
        const int32_t at = low + (high - low) / 2;
        const int c = compare(text, size, w->text[at]);
        if (!c)
            return at;
        if (c < 0)
            high = at;
        else
            low = at + 1;
    }
    return w->n;
}

bool ac_vocabulary_equal(const ac_vocabulary *a, const ac_vocabulary *b)
{
    bool same = a == b || (a && b && a->n == b->n && a->other == b->other);
    for (int32_t i = 0; same && a != b && i < a->n; i++)
        same = !strcmp(a->text[i], b->text[i]);
    return same;
}
