/* expression.c - evaluates sizes that are sums and products of others: "past_sequence_length + 1", "2*n". */
#include "base/text/expression.h"

#include "base/ascii.h"

#include <string.h>

enum { DEEPEST = 16 };

typedef struct text {
    const char *at;
    const ac_pin *pin;
    int32_t n;
    bool *used; /* by pin */
    bool failed;
} text;

static bool is_name(char c)
{
    return ac_is_alnum(c) || c == '_' || c == '.' || c == ':';
}

static void skip_spaces(text *t)
{
    while (*t->at == ' ')
        t->at++;
}

static bool take(text *t, const char *word)
{
    skip_spaces(t);
    if (strncmp(t->at, word, strlen(word)) != 0)
        return false;
    t->at += strlen(word);
    return true;
}

/* Checks that v fits the 32 bits of a size. */
static int64_t bounded(text *t, int64_t v)
{
    t->failed |= v > INT32_MAX || v < -INT32_MAX;
    return t->failed ? 0 : v;
}

static int64_t named(text *t)
{
    const char *from = t->at;
    while (is_name(*t->at))
        t->at++;
    const size_t n = (size_t)(t->at - from);
    for (int32_t i = 0; i < t->n; i++)
        if (strlen(t->pin[i].name) == n && !strncmp(t->pin[i].name, from, n)) {
            t->used[i] = true;
            return bounded(t, t->pin[i].value);
        }
    t->failed = true;
    return 0;
}

static int64_t sum(text *t, int32_t depth);

static int64_t factor(text *t, int32_t depth)
{
    int64_t v = 0;
    if (take(t, "(") && depth < DEEPEST) {
        v = sum(t, depth + 1);
        t->failed |= !take(t, ")");
    } else if (ac_is_digit(*t->at)) {
        while (ac_is_digit(*t->at) && !t->failed)
            v = bounded(t, v * 10 + (*t->at++ - '0'));
    } else if (is_name(*t->at)) {
        v = named(t);
    } else {
        t->failed = true;
    }
    return v;
}

static int64_t product(text *t, int32_t depth)
{
    int64_t v = factor(t, depth);
    while (!t->failed) {
        if (take(t, "*")) {
            v = bounded(t, v * factor(t, depth));
        } else if (take(t, "//") || take(t, "/")) {
            const int64_t by = factor(t, depth);
            t->failed |= by <= 0 || v < 0;
            v = t->failed ? 0 : v / by;
        } else {
            break;
        }
    }
    return v;
}

static int64_t sum(text *t, int32_t depth)
{
    int64_t v = product(t, depth);
    while (!t->failed) {
        if (take(t, "+"))
            v = bounded(t, v + product(t, depth));
        else if (take(t, "-"))
            v = bounded(t, v - product(t, depth));
        else
            break;
    }
    return v;
}

bool ac_pin_expression(const char *expression, const ac_pin *pin, int32_t n, bool *used, int64_t *value)
{
    text t = {.at = expression, .pin = pin, .n = n, .used = used};
    *value = sum(&t, 0);
    skip_spaces(&t);
    return !t.failed && !*t.at;
}
