/* lists.c - the verbs targets and explain, and the values that options know by name. */
#include "driver/verb/verbs.h"

#include "base/json_out.h"
#include "codegen/targets.h"
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

int ac_targets(ac_work *w, const char *const *path, int32_t n)
{
    ac_sink *to = ac_pending_add(&w->out, "-");
    (void)path, (void)n;
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
    ac_putf(ac_pending_add(&w->out, "-"), "%s: %s (exit %d)\n\n%s\n", ac_code_name(c), ac_code_title(c),
            ac_code_exit(c), ac_code_explain(c));
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

/* "a|b|c", perhaps in brackets: the words; nothing where the argument is a description. */
static void add_words(value_list *l, const char *arg)
{
    char *words = ac_strdup(l->cx->region, arg + (*arg == '[')), *save = NULL;
    if (!strchr(arg, '|'))
        return;
    for (char *w = strtok_r(words, "|]", &save); w; w = strtok_r(NULL, "|]", &save))
        if (w[strcspn(w, ".,=")] == 0)
            add(l, w);
}

int ac_option_values(ac_ctx *cx, const arenac_option *of, const char *const **name, int32_t *n_names)
{
    value_list list = {.cx = cx}, *l = &list;
    const char *option = of->name;
    int32_t n = 0;
    if (!strcmp(option, "target")) {
        add(l, "native");
        for (int32_t i = 0; i < ac_target_count(); i++)
            add(l, ac_target_at(i)->name);
    } else if (!strcmp(option, "planner")) {
        add_strategies(l);
    } else if (!strcmp(option, "from")) {
        const char *const *format = ac_import_formats(&n);
        for (int32_t i = 0; i < n; i++)
            add(l, format[i]);
    } else if (!strcmp(option, "skip") || !strcmp(option, "stop-after") || !strcmp(option, "dump-after")) {
        for (int32_t i = 0; ac_pass_name(i); i++)
            add(l, ac_pass_name(i));
    } else if (!strcmp(option, "without")) {
        for (int32_t i = 0; ac_proof_strategy_name(i); i++)
            add(l, ac_proof_strategy_name(i));
    } else if (!strcmp(option, "emit")) {
        const arenac_kind *kind;
        for (int32_t i = 0; (kind = arenac_kind_at(i)) != NULL; i++)
            add(l, kind->name);
    } else if (of->argument) {
        add_words(l, of->argument);
    }
    *name = list.name.item;
    *n_names = list.name.n;
    return AC_OK;
}
