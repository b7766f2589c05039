/* batch.c - a batch whose size the file leaves open is 1.
 *
 * Exporters leave the batch open far more often than any other size, and a program that runs on a device has one
 * sample. The first dimension of an input is its batch if the file gives it no name (and there are others), a name for
 * batches, or a name that a converter invented. A dimension with another name ("seq", "height") is not a batch, nor is
 * one whose name an input has twice (the nodes of a graph by its nodes): such a size stays an error. */
#include "base/ascii.h"
#include "import/build/reading.h"

#include <string.h>

/* Does `name`, in small letters, start with `word`? */
static bool starts(const char *name, const char *word)
{
    while (*word && ac_lower(*name) == *word)
        name++, word++;
    return !*word;
}

static bool contains(const char *name, const char *word)
{
    for (; *name; name++)
        if (starts(name, word))
            return true;
    return false;
}

/* "s0", "dim0", "unk__12": the word and a number. */
static bool numbered(const char *name, const char *word)
{
    if (!starts(name, word))
        return false;
    const char *digits = name + strlen(word);
    return *digits && !digits[strspn(digits, "0123456789")];
}

static bool is_batch_name(const char *name)
{
    static const char *const WHOLE[] = {"n", "b", "bs", "none", "?", "-1", "samples", "dynamic"};
    static const char *const NUMBERED[] = {"s", "dim", "unk__", "unknown_", "unknown"};
    for (size_t i = 0; i < sizeof WHOLE / sizeof *WHOLE; i++)
        if (ac_same_letters(name, WHOLE[i]))
            return true;
    for (size_t i = 0; i < sizeof NUMBERED / sizeof *NUMBERED; i++)
        if (numbered(name, NUMBERED[i]))
            return true;
    return contains(name, "batch") || contains(name, "_dynamic_axes_");
}

static bool has_twice(const ac_graph *g, const char *name)
{
    for (int32_t i = 0; i < g->input.n; i++) {
        const ac_tensor *t = g->input.item[i];
        int32_t n = 0;
        for (int32_t d = 0; d < t->rank; d++)
            n += t->dim_name[d] && !strcmp(t->dim_name[d], name);
        if (n > 1)
            return true;
    }
    return false;
}

bool ac_is_open_batch(const ac_graph *g, const ac_tensor *t)
{
    const char *name = t->dim_name[0];
    if (!t->input || t->rank < 1 || t->dim[0] >= 0)
        return false;
    return name ? is_batch_name(name) && !has_twice(g, name) : t->rank > 1;
}
