/* parse.c - the values of options as text; see parse.h. */
#include "driver/request/parse.h"

#include "base/decimal.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ numbers and words */

bool ac_parse_bytes(const char *text, int64_t *out)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    unsigned long long v = strtoull(text, &end, 0);
    const int shift = *end == 'K' || *end == 'k'   ? 10
                      : *end == 'M' || *end == 'm' ? 20
                      : *end == 'G' || *end == 'g' ? 30
                                                   : 0;
    if (shift)
        end++;
    if (*end == 'i')
        end++;
    if (*end == 'B' || *end == 'b')
        end++;
    if (*end || v > (unsigned long long)INT64_MAX >> shift)
        return false;
    *out = (int64_t)(v << shift);
    return true;
}

static bool whole(const char *text, int64_t lo, int64_t hi, int64_t *out)
{
    char *end;
    if (!*text)
        return false;
    const long long v = strtoll(text, &end, 0);
    if (*end || v < lo || v > hi)
        return false;
    *out = v;
    return true;
}

static const char *piece(ac_ctx *cx, const char *s, size_t n)
{
    char *own = ac_alloc(cx->region, n + 1);
    memcpy(own, s, n);
    return own;
}

/* The text up to one of `ends`; *at moves there. */
static const char *until(ac_ctx *cx, const char **at, const char *ends)
{
    const size_t n = strcspn(*at, ends);
    *at += n;
    return piece(cx, *at - n, n);
}

/* ------------------------------------------------------------------ single values */

bool ac_parse_flag(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    (void)cx, (void)arg, (void)value;
    return *(ac_opt_flag *)field = true;
}

bool ac_parse_count(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    (void)cx, (void)arg, (void)value;
    return ++*(ac_opt_count *)field > 0;
}

bool ac_parse_on_off(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    (void)cx, (void)arg;
    *(ac_opt_on_off *)field = !strcmp(value, "on");
    return !strcmp(value, "on") || !strcmp(value, "off");
}

/* arg: "a|b|c", or "[a|b|c]" if the word is optional. The field is an enum of these words (options.h), numbered from 1;
 * an optional word that is missing is number 1. */
bool ac_parse_word(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    const size_t n = strlen(value);
    unsigned *number = field;
    (void)cx;
    *number = 1;
    if (*arg == '[' && !*value)
        return true;
    *number += *arg == '[';
    for (const char *p = arg + (*arg == '['); *p && *p != ']'; p += strcspn(p, "|]"), p += *p == '|', ++*number)
        if (strcspn(p, "|]") == n && !strncmp(p, value, n))
            return true;
    return false;
}

bool ac_parse_text(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    (void)cx, (void)arg;
    *(ac_opt_text *)field = value;
    return *value;
}

bool ac_parse_number(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    int64_t lo = 0, hi = INT64_MAX;
    const char *dots = strstr(arg, "..");
    if (dots && (!whole(piece(cx, arg, (size_t)(dots - arg)), 0, INT64_MAX, &lo) ||
                 !whole(dots[2] ? dots + 2 : "2147483647", 0, INT64_MAX, &hi)))
        return false;
    return whole(value, lo, hi, field);
}

bool ac_parse_real(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    enum { LONGEST = 64 };
    const char *end;
    (void)cx, (void)arg;
    if (strspn(value, "0123456789.eE+-") != strlen(value) || !*value || strlen(value) > LONGEST)
        return false; /* no hexadecimal ones, infinities or spaces */
    const double v = ac_read_real(value, &end);
    if (*end || !(v >= 0) || v > 3.4e38)
        return false;
    *(ac_opt_real *)field = v;
    return true;
}

bool ac_parse_power(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    enum { MOST = 4096 }; /* ac_parse_fault reports it */
    ac_opt_power *v = field;
    (void)cx, (void)arg;
    return whole(value, 1, MOST, v) && !(*v & (*v - 1));
}

bool ac_parse_size(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    enum { LEAST = 1 << 20 };
    ac_opt_size *v = field;
    (void)cx, (void)arg;
    return ac_parse_bytes(value, v) && *v >= LEAST;
}

bool ac_parse_amount(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    ac_opt_amount *v = field;
    (void)cx, (void)arg;
    return ac_parse_bytes(value, v) && *v >= 1;
}

/* [NAME=]SIZE */
bool ac_parse_budget(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    ac_opt_budget *b = field;
    const char *eq = strchr(value, '=');
    (void)arg;
    b->memory = eq ? piece(cx, value, (size_t)(eq - value)) : NULL;
    b->total = b->memory && !strcmp(b->memory, "total");
    b->memory = b->total ? NULL : b->memory;
    return eq != value && ac_parse_bytes(eq ? eq + 1 : value, &b->bytes);
}

bool ac_parse_stripe(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    const bool on = strcmp(value, "off") != 0;
    (void)cx, (void)arg;
    *(ac_opt_stripe *)field = (ac_stripe_option){on, on && strcmp(value, "auto") ? value : NULL};
    return *value;
}

bool ac_parse_planner(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    (void)cx, (void)arg;
    *(ac_opt_planner *)field = (ac_planner_option){value, !strcmp(value, "auto")};
    return *value;
}

bool ac_parse_format(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    (void)cx, (void)arg;
    *(ac_opt_format *)field = (ac_format_option){value, !strcmp(value, "csv")};
    return *value;
}

bool ac_parse_seed(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    ac_opt_seed *s = field;
    (void)cx, (void)arg;
    *s = (ac_seed_option){.on = strcmp(value, "off") != 0};
    return !s->on || whole(value, 0, INT64_MAX, &s->seed);
}

/* code=NAME or rodata=NAME, perhaps both with a comma between; NULL, or the fault. The names go into C strings and
 * assembly as they are. */
static const char *sections_of(ac_ctx *cx, const char *value, ac_opt_sections *s)
{
    static const char NAME[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._$-";
    for (bool more = true; more; more = *value++ == ',') {
        const char *one = until(cx, &value, ","), *name = strchr(one, '=');
        const bool code = !strncmp(one, "code=", 5);
        if (!name || (!code && strncmp(one, "rodata=", 7)))
            return ac_strf(cx->region, "'%s' is neither code=NAME nor rodata=NAME", one);
        if (!*++name || name[strspn(name, NAME)])
            return ac_strf(cx->region, "'%s' is not a section name: letters, digits, '.', '_', '$' and '-'", name);
        *(code ? &s->code : &s->rodata) = name;
    }
    return NULL;
}

bool ac_parse_sections(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    (void)arg;
    return !sections_of(cx, value, field);
}

/* ------------------------------------------------------------------ lists */

bool ac_parse_texts(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    (void)arg;
    ac_push(cx->region, (ac_opt_texts *)field, value);
    return *value;
}

/* KEY=FILE */
bool ac_parse_keys(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    const char *eq = strchr(value, '=');
    (void)arg;
    if (!eq || eq == value || !eq[1])
        return false;
    ac_push(cx->region, (ac_opt_keys *)field, ((ac_key_option){piece(cx, value, (size_t)(eq - value)), eq + 1}));
    return true;
}

/* Of names and numbers, with a name at least. */
static bool is_expression(const char *s)
{
    static const char NAMES[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", MORE[] = "0123456789.:+-*/() ";
    bool named = false;
    for (; *s; s++) {
        named |= strchr(NAMES, *s) != NULL;
        if (!strchr(NAMES, *s) && !strchr(MORE, *s))
            return false;
    }
    return named;
}

/* NAME=N, NAME=LO..HI, NAME=scalar, NAME=EXPRESSION */
bool ac_parse_dims(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    const char *eq = strchr(value, '='), *dots = eq ? strstr(eq, "..") : NULL;
    ac_dim_option d = {.range = dots != NULL};
    (void)arg;
    if (!eq || eq == value)
        return false;
    d.name = piece(cx, value, (size_t)(eq - value));
    if (dots) {
        if (!whole(piece(cx, eq + 1, (size_t)(dots - eq - 1)), 1, INT32_MAX, &d.lo) ||
            !whole(dots + 2, d.lo, INT32_MAX, &d.hi))
            return false;
    } else if (strcmp(eq + 1, "scalar")) {
        if (is_expression(eq + 1))
            d.of = eq + 1;
        else if (!whole(eq + 1, 0, INT32_MAX, &d.lo))
            return false;
        d.hi = d.lo;
    }
    ac_push(cx->region, (ac_opt_dims *)field, d);
    return true;
}

/* RANK PATTERN */
bool ac_parse_adapters(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    ac_adapter_option a;
    (void)arg;
    if (!whole(until(cx, &value, " "), 1, INT32_MAX, &a.rank) || !*value || !*++value)
        return false;
    a.pattern = value;
    ac_push(cx->region, (ac_opt_adapters *)field, a);
    return true;
}

/* ,fast ,slow ,ro ,align=N */
static bool memory_property(const char *what, ac_memory_option *m)
{
    if (!strcmp(what, "fast") || !strcmp(what, "slow"))
        m->speed = *what == 'f' ? 1 : -1;
    else if (!strcmp(what, "ro"))
        m->read_only = true;
    else
        return !strncmp(what, "align=", 6) && whole(what + 6, 1, 1 << 20, &m->align) && !(m->align & (m->align - 1));
    return true;
}

/* NAME:SIZE[@ADDR][,fast|slow][,ro][,align=N]; NULL, or the fault, and *near a similar word. */
static const char *memory_of(ac_ctx *cx, const char *value, ac_memory_option *m, const char **near)
{
    static const char *const PROPERTIES[] = {"fast", "slow", "ro"};
    m->name = until(cx, &value, ":=");
    if (!*m->name || !*value++)
        return "it needs a name and a size, with ':' between";
    const char *text = until(cx, &value, "@,");
    if (!ac_parse_bytes(text, &m->bytes) || m->bytes < 1)
        return ac_strf(cx->region, "'%s' is not a size: write bytes, or a whole number with K, M or G (1024)", text);
    if (*value == '@') {
        value++;
        text = until(cx, &value, ",");
        if (!whole(text, 0, INT64_MAX, &m->address))
            return ac_strf(cx->region, "'%s' is not an address, as in @0x20000000", text);
    }
    while (*value == ',') {
        value++;
        text = until(cx, &value, ",");
        if (memory_property(text, m))
            continue;
        *near = ac_closest(text, PROPERTIES, sizeof PROPERTIES / sizeof *PROPERTIES);
        return !strncmp(text, "align=", 6)
                   ? ac_strf(cx->region, "'%s' is not a power of two up to 1M", text + 6)
                   : ac_strf(cx->region, "'%s' is not a property of a memory (fast, slow, ro, align=N)%s", text,
                             strchr(text, ':') ? "; each memory has a --mem of its own" : "");
    }
    return NULL;
}

bool ac_parse_memories(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    ac_memory_option m = {.address = -1};
    const char *near;
    (void)arg;
    if (memory_of(cx, value, &m, &near))
        return false;
    ac_push(cx->region, (ac_opt_memories *)field, m);
    return true;
}

/* TENSOR=MEM[@OFFSET]; names of tensors may hold anything, also '=' */
bool ac_parse_pins(ac_ctx *cx, const char *arg, const char *value, void *field)
{
    const char *eq = strrchr(value, '=');
    ac_pin_option p = {.offset = -1};
    (void)arg;
    if (!eq || eq == value)
        return false;
    p.tensor = piece(cx, value, (size_t)(eq++ - value));
    p.memory = until(cx, &eq, "@");
    if (!*p.memory || (*eq && !whole(eq + 1, 0, INT64_MAX / 4, &p.offset)))
        return false;
    ac_push(cx->region, (ac_opt_pins *)field, p);
    return true;
}

/* ------------------------------------------------------------------ faults */

const char *ac_parse_fault(ac_ctx *cx, ac_parser *of, const char *value, const char **near)
{
    ac_memory_option m = {.address = -1};
    ac_opt_sections s = {0};
    *near = NULL;
    return of == ac_parse_memories   ? memory_of(cx, value, &m, near)
           : of == ac_parse_sections ? sections_of(cx, value, &s)
           : of == ac_parse_power    ? "it is not a power of two up to 4096"
                                     : NULL;
}
