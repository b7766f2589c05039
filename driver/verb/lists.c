/* lists.c - the verbs targets and explain, and the values that options know by name. */
#include "driver/verb/verbs.h"

#include "base/json_out.h"
#include "codegen/targets.h"
#include "driver/request/boards.h"
#include "ir/pass/run/run.h"
#include "prove/strategies.h"

#include <string.h>

static void put_targets_json(ac_sink *to)
{
    ac_json j = ac_json_open(to);
    ac_json_obj(&j, NULL);
    ac_json_arr(&j, "targets");
    for (int32_t i = 0; i < ac_target_count(); i++) {
        const ac_target *t = ac_target_at(i);
        ac_json_obj(&j, NULL);
        ac_json_str(&j, "name", t->name);
        ac_json_int(&j, "vector_bytes", t->vec_bytes);
        ac_json_bool(&j, "fma", t->fma);
        ac_json_bool(&j, "dot_u8s8", t->dot_u8s8);
        ac_json_bool(&j, "bf16", (t->fp & AC_FP_BF16) != 0);
        ac_json_bool(&j, "amx", t->amx);
        ac_json_bool(&j, "firmware", t->firmware);
        ac_json_str(&j, "help", t->help);
        ac_json_end(&j);
    }
    ac_json_end(&j);
    ac_json_end(&j);
}

static void put_boards(ac_sink *to, bool as_json)
{
    ac_json j = ac_json_open(to);
    if (as_json) {
        ac_json_obj(&j, NULL);
        ac_json_arr(&j, "boards");
    }
    for (int32_t i = 0; ac_boards_at(i); i++) {
        const ac_board_row *b = ac_boards_at(i);
        if (!as_json) {
            ac_putf(to, "%-20s %s\n%-20s -t %s", b->name, b->chip, "", b->target);
            for (const char *m = b->memories; *m; m += strcspn(m, " "), m += *m == ' ')
                ac_putf(to, " --mem %.*s", (int)strcspn(m, " "), m);
            ac_putf(to, "\n");
            continue;
        }
        ac_json_obj(&j, NULL);
        ac_json_str(&j, "name", b->name);
        ac_json_str(&j, "chip", b->chip);
        ac_json_str(&j, "target", b->target);
        ac_json_str(&j, "memories", b->memories);
        if (b->wait_states >= 0)
            ac_json_int(&j, "flash_wait_states", b->wait_states);
        ac_json_str(&j, "source", b->source);
        ac_json_end(&j);
    }
    if (as_json) {
        ac_json_end(&j);
        ac_json_end(&j);
    }
}

int ac_targets(ac_work *w, const char *const *path, int32_t n)
{
    ac_sink *to = ac_pending_add(&w->out, "-");
    (void)path, (void)n;
    if (w->opt.boards) {
        put_boards(to, w->opt.json);
        return AC_OK;
    }
    if (w->opt.json)
        put_targets_json(to);
    for (int32_t i = 0; i < ac_target_count() && !w->opt.json; i++) {
        const ac_target *t = ac_target_at(i);
        ac_putf(to, "%-16s vectors %2d B%s%s%s%s  %s\n", t->name, t->vec_bytes, t->fma ? ", fma" : "",
                t->dot_u8s8 ? ", dot" : "", t->fp & AC_FP_BF16 ? ", bf16" : "", t->amx ? ", amx" : "", t->help);
    }
    return AC_OK;
}

static const char *closest_code(const char *word)
{
    const char *names[AC_CODE_COUNT];
    for (int i = 0; i < AC_CODE_COUNT; i++)
        names[i] = ac_code_name((ac_code)i);
    return ac_closest(word, names, AC_CODE_COUNT);
}

typedef struct cure {
    ac_code code;
    const char *example, *cures;
} cure;

/* Half a page: the title, the explanation, a message with the code, and what helps, a line each. */
static void put_code(ac_sink *to, ac_code c)
{
    static const cure CURES[] = {
#define CURES(code, example, cures) {code, example, cures},
#include "driver/verb/cures.def"
#undef CURES
    };
    _Static_assert(sizeof CURES / sizeof *CURES == AC_CODE_COUNT, "cures.def has a row for each code");
    size_t k = 0;
    while (CURES[k].code != c)
        k++;
    ac_putf(to, "%s: %s (exit %d)\n\n%s\n\nExample:\n  %s\n\nCures:\n", ac_code_name(c), ac_code_title(c),
            ac_code_exit(c), ac_code_explain(c), CURES[k].example);
    for (const char *line = CURES[k].cures; *line; line += strcspn(line, "\n"), line += *line == '\n')
        ac_putf(to, "  %.*s\n", (int)strcspn(line, "\n"), line);
}

int ac_explain(ac_work *w, const char *const *code, int32_t n)
{
    ac_code c;
    if (n != 1)
        return ac_error(&w->cx, (ac_place){.file = "arenac"}, E0501, "explain takes one code, such as E0107");
    if (!ac_code_find(code[0], &c)) {
        const char *near = closest_code(code[0]);
        ac_error(&w->cx, (ac_place){.file = "arenac"}, E0501, "explain takes one code, such as E0107; unknown: %s",
                 code[0]);
        return near ? ac_help(&w->cx, "did you mean '%s'?", near) : AC_FAIL;
    }
    put_code(ac_pending_add(&w->out, "-"), c);
    return AC_OK;
}

/* ------------------------------------------------------------------ values of options */

typedef struct value_list {
    ac_ctx *cx;
    AC_VEC(const char *) name;
} value_list;

static void add(value_list *l, const char *name)
{
    ac_push(l->cx->region, &l->name, name);
}

static void add_strategies(value_list *l)
{
    static const char *const NAMES[] = {
#define STRATEGY(name, role, fn, help) name,
#include "planner/pack/strategies.def"
#undef STRATEGY
    };
    add(l, "auto");
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        add(l, NAMES[i]);
}

/* "a|b|c", perhaps in brackets: the words; capitals and punctuation are parts of a description. */
static void add_words(value_list *l, const char *arg)
{
    char *words = ac_strdup(l->cx->region, arg + (*arg == '[')), *save = NULL;
    if (!strchr(arg, '|'))
        return;
    for (char *w = strtok_r(words, "|]", &save); w; w = strtok_r(NULL, "|]", &save))
        if (w[strspn(w, "abcdefghijklmnopqrstuvwxyz0123456789_-")] == 0)
            add(l, w);
}

static void add_formats(value_list *l)
{
    int32_t n;
    const char *const *format = ac_import_formats(&n);
    for (int32_t i = 0; i < n; i++)
        add(l, format[i]);
}

/* The names that `at` gives, up to NULL. */
static void add_names(value_list *l, const char *(*at)(int32_t i))
{
    for (int32_t i = 0; at(i); i++)
        add(l, at(i));
}

static const char *target_at(int32_t i)
{
    const ac_target *t = ac_target_at(i);
    return t ? t->name : NULL;
}

static const char *board_at(int32_t i)
{
    const ac_board_row *b = ac_boards_at(i);
    return b ? b->name : NULL;
}

static const char *kind_at(int32_t i)
{
    const arenac_kind *k = arenac_kind_at(i);
    return k ? k->name : NULL;
}

int ac_option_values(ac_ctx *cx, ac_option_id option, const char *const **name, int32_t *n)
{
    value_list list = {.cx = cx}, *l = &list;
    const char *argument = arenac_option_at((int32_t)option)->argument;
    if (option == AC_OPT_target) {
        add(l, "native");
        add_names(l, target_at);
    } else if (option == AC_OPT_board)
        add_names(l, board_at);
    else if (option == AC_OPT_planner)
        add_strategies(l);
    else if (option == AC_OPT_from)
        add_formats(l);
    else if (option == AC_OPT_skip || option == AC_OPT_stop_after || option == AC_OPT_dump_after)
        add_names(l, ac_pass_name);
    else if (option == AC_OPT_without)
        add_names(l, ac_proof_strategy_name);
    else if (option == AC_OPT_emit)
        add_names(l, kind_at);
    else if (argument)
        add_words(l, argument);
    *name = list.name.item;
    *n = list.name.n;
    return AC_OK;
}
