/* options.c - options.def as a table: defaults, finding a row, setting it, and the line that repeats the given
 * options. */
#include "driver/request/options.h"

#include "arenac.h"
#include "base/file.h"
#include "base/shell.h"
#include "driver/request/boards.h"
#include "driver/request/parse.h"

#include <stddef.h>
#include <string.h>

enum { CODE = 1, PATH = 2 };

typedef struct row {
    arenac_option pub;
    ac_parser *parse;
    const char *init;
    int flags;
    const char *own;     /* letters of variants that do not inherit it (ac_variant) */
    size_t offset, size; /* in ac_options */
} row;

static const row ROWS[AC_OPT_COUNT] = {
#define OPT(id, name, letter, verbs, type, arg, init, flags, own, group, help) \
    [AC_OPT_##id] = {{name, letter, verbs, arg, group, help},                  \
                     ac_parse_##type,                                          \
                     init,                                                     \
                     flags,                                                    \
                     own,                                                      \
                     offsetof(ac_options, id),                                 \
                     sizeof(((ac_options *)0)->id)},
#include "driver/request/options.def"
#undef OPT
};

#ifndef ARENAC_VERSION
#define ARENAC_VERSION "0"
#endif

const char *arenac_version(void)
{
    return ARENAC_VERSION;
}

const arenac_option *arenac_option_at(int32_t i)
{
    return i >= 0 && i < AC_OPT_COUNT ? &ROWS[i].pub : NULL;
}

bool ac_is(const char *value, const char *word)
{
    return value && !strcmp(value, word);
}

bool ac_options_say(const ac_options *o, const char *said)
{
    const size_t n = strcspn(said + 2, " ");
    const char *word = said[2 + n] ? said + 2 + n + 1 : NULL;
    for (int i = 0; i < AC_OPT_COUNT; i++) {
        const ac_opt_texts *given = &o->given[i];
        if (strncmp(ROWS[i].pub.name, said + 2, n) || ROWS[i].pub.name[n])
            continue;
        return word ? ac_is(ac_option_text(o, (ac_option_id)i), word) : given->n > 0;
    }
    return false;
}

const char *ac_option_text(const ac_options *o, ac_option_id id)
{
    const ac_opt_texts *given = &o->given[id];
    return given->n ? given->item[given->n - 1] : ROWS[id].init;
}

/* As it is written after "--": without the verb that distinguishes options of one name. */
static const char *word_of(const row *r)
{
    const char *dot = strchr(r->pub.name, '.');
    return dot ? dot + 1 : r->pub.name;
}

static void *field_of(ac_options *o, const row *r)
{
    return (char *)o + r->offset;
}

void ac_options_open(ac_options *o, ac_ctx *cx)
{
    *o = (ac_options){.cx = cx};
    o->budget.bytes = -1;
    for (int i = 0; i < AC_OPT_COUNT; i++) {
        if (ROWS[i].parse == ac_parse_number)
            *(ac_opt_number *)field_of(o, &ROWS[i]) = -1;
        if (ROWS[i].parse == ac_parse_real)
            *(ac_opt_real *)field_of(o, &ROWS[i]) = -1;
        if (ROWS[i].init)
            ROWS[i].parse(cx, ROWS[i].pub.argument, ROWS[i].init, field_of(o, &ROWS[i]));
    }
}

/* ------------------------------------------------------------------ setting */

static const ac_place HERE = {.file = "arenac"};

static int unknown(ac_ctx *cx, const char *name)
{
    const char *names[AC_OPT_COUNT];
    for (int i = 0; i < AC_OPT_COUNT; i++)
        names[i] = ROWS[i].pub.name;
    const char *near = ac_closest(name, names, AC_OPT_COUNT);
    return near ? ac_error(cx, HERE, E0501, "unknown option '--%s'; did you mean '--%s'?", name, near)
                : ac_error(cx, HERE, E0501, "unknown option '--%s'; --help-all lists the options", name);
}

/* The word of "a|b|c" that was most likely meant; NULL: none, or the argument is not a list of words. */
static const char *near_word(ac_ctx *cx, const char *arg, const char *value)
{
    enum { MOST = 8 };
    const char *words[MOST];
    int32_t n = 0;
    char *list = ac_strdup(cx->region, arg + (*arg == '[')), *save = NULL;
    for (char *w = strtok_r(list, "|]", &save); w && n < MOST && strchr(arg, '|'); w = strtok_r(NULL, "|]", &save))
        words[n++] = w;
    return ac_closest(value, words, n);
}

static int bad_value(ac_ctx *cx, const row *r, const char *value)
{
    if (r->parse == ac_parse_budget || r->parse == ac_parse_size || r->parse == ac_parse_amount)
        return ac_error(cx, HERE, E0501,
                        "'%s' is not a size: write bytes, or a whole number with K, M or G (1024); found in --%s",
                        value, word_of(r));
    const char *near, *fault = ac_parse_fault(cx, r->parse, value, &near);
    near = near ? near : near_word(cx, r->pub.argument, value);
    ac_error(cx, HERE, E0501, "bad argument '%s' of --%s%s%s", value, word_of(r), fault ? ": " : ", expected ",
             fault ? fault : r->pub.argument);
    if (r->parse == ac_parse_dims && !fault && !strchr(value, '='))
        return ac_help(cx, "NAME is a dimension, as 'arenac show' has it: --%s %s=1", word_of(r), value);
    if (r->parse == ac_parse_dims && !fault)
        return ac_help(cx, strstr(value, "..") ? "a range is LO..HI: whole numbers, LO at least 1, HI at least LO"
                                               : "N is a whole number, at least 0");
    if (r->parse == ac_parse_keys && ac_is(r->pub.argument, "KEY=F.npy") && !strchr(value, '='))
        return ac_help(cx, "KEY is a name or a position: --%s 0=%s", word_of(r), value);
    return near ? ac_help(cx, "did you mean '%s'?", near) : AC_FAIL;
}

/* --board: a target, unless one is given, and memories, unless the user gives one of the same name before it. */
static int set_board(ac_options *o, const char *name)
{
    ac_ctx *cx = o->cx;
    const ac_board_row *b = ac_boards_find(name);
    if (!b) {
        const char *near = ac_boards_closest(cx, name);
        ac_error(cx, HERE, E0501, "unknown board '%s'", name);
        return near ? ac_help(cx, "did you mean '%s'? arenac targets --boards lists them", near)
                    : ac_help(cx, "arenac targets --boards lists them");
    }
    if (!o->target)
        AC_TRY(ac_options_set(o, "target", b->target));
    char *list = ac_strdup(cx->region, b->memories), *save = NULL;
    for (char *m = strtok_r(list, " ", &save); m; m = strtok_r(NULL, " ", &save)) {
        bool given = false;
        for (int32_t k = 0; k < o->mem.n; k++)
            given |= !strncmp(o->mem.item[k].name, m, strcspn(m, ":")) && !o->mem.item[k].name[strcspn(m, ":")];
        if (!given)
            AC_TRY(ac_options_set(o, "mem", m));
    }
    return AC_OK;
}

int ac_options_set(ac_options *o, const char *name, const char *value)
{
    ac_ctx *cx = o->cx;
    int i = 0;
    while (i < AC_OPT_COUNT && strcmp(ROWS[i].pub.name, name))
        i++;
    if (i == AC_OPT_COUNT)
        return unknown(cx, name);
    const row *r = &ROWS[i];
    const char *arg = r->pub.argument;
    if (value && !arg)
        return ac_error(cx, HERE, E0501, "option '--%s' takes no argument", word_of(r));
    if (!value && arg && *arg != '[')
        return ac_error(cx, HERE, E0501, "option '--%s' needs an argument: %s", word_of(r), arg);
    const char *own = ac_strdup(cx->region, value ? value : "");
    if (!r->parse(cx, arg, own, field_of(o, r)))
        return bad_value(cx, r, own);
    ac_push(cx->region, &o->given[i], own);
    return i == AC_OPT_board ? set_board(o, own) : AC_OK;
}

static bool is_vec(const row *r)
{
    return r->parse == ac_parse_texts || r->parse == ac_parse_keys || r->parse == ac_parse_dims ||
           r->parse == ac_parse_memories || r->parse == ac_parse_pins || r->parse == ac_parse_adapters;
}

/* The items are shared: pushing another one copies them first. */
static void share_list(void *list)
{
    AC_VEC(char) *v = list;
    v->cap = v->n;
}

void ac_options_inherit(ac_options *o, const ac_options *from, ac_variant as)
{
    for (int i = 0; i < AC_OPT_COUNT; i++) {
        const row *r = &ROWS[i];
        if (strchr(r->own, (int)as))
            continue;
        memcpy(field_of(o, r), (const char *)from + r->offset, r->size);
        if (is_vec(r))
            share_list(field_of(o, r));
        o->given[i] = from->given[i];
        share_list(&o->given[i]);
    }
}

/* ------------------------------------------------------------------ --emit */

bool ac_emits(const char *list, const char *kind)
{
    const size_t n = strlen(kind);
    for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',')
        if (strcspn(p, ",") == n && !strncmp(p, kind, n))
            return true;
    return false;
}

bool ac_emits_folder(const char *list)
{
    enum { ONE_FILE, PICTURE, FILES, FOLDER };
    bool any = false;
#define OUTPUT(kind, ext, where, needs, fn, help) any |= (where) == FOLDER && ac_emits(list, kind);
#include "driver/emit/outputs.def"
#undef OUTPUT
    return any;
}

/* ------------------------------------------------------------------ the line */

/* KEY=folder/file or folder/file, without the folder. */
static const char *last_part(ac_ctx *cx, const row *r, const char *value)
{
    const char *eq = r->parse == ac_parse_keys ? strchr(value, '=') : NULL;
    return eq ? ac_strf(cx->region, "%.*s=%s", (int)(eq - value), value, ac_path_name(eq + 1)) : ac_path_name(value);
}

const char *ac_options_line(const ac_options *o, const char *target)
{
    ac_ctx *cx = o->cx;
    const char *line = ac_strf(cx->region, "-t %s", ac_shell_word(cx, target));
    for (int i = 0; i < AC_OPT_COUNT; i++) {
        const row *r = &ROWS[i];
        if (!(r->flags & CODE) || i == AC_OPT_target || !o->given[i].n)
            continue;
        for (int32_t k = is_vec(r) || r->parse == ac_parse_sections ? 0 : o->given[i].n - 1; k < o->given[i].n; k++) {
            const char *value = o->given[i].item[k];
            if (r->init && !strcmp(value, r->init))
                continue;
            value = r->flags & PATH ? last_part(cx, r, value) : value;
            line = ac_strf(cx->region, "%s --%s%s%s", line, r->pub.name,
                           !r->pub.argument || !*value ? ""
                           : r->pub.argument[0] == '[' ? "="
                                                       : " ",
                           *value ? ac_shell_word(cx, value) : "");
        }
    }
    return line;
}
