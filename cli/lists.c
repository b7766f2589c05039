/* lists.c - the verbs that print tables: targets, explain, completion. */
#include "cli/cli.h"

#include "base/json_out.h"
#include "codegen/targets.h"

#include <string.h>

static int print_sink(ac_ctx *cx, ac_sink *s)
{
    fwrite(s->text, 1, s->n, stdout);
    ac_ctx_close(cx);
    return 0;
}

static bool open_ctx(ac_ctx *cx, ac_sink *s)
{
    ac_ctx_open(cx);
    ac_ctx_start(cx);
    ac_sink_open(s, cx);
    return true;
}

int ac_cli_targets(ac_cli *cli)
{
    ac_ctx cx;
    ac_sink s;
    if (!open_ctx(&cx, &s))
        return AC_EXIT_INTERNAL;
    ac_json j = ac_json_open(&s);
    if (cli->json) {
        ac_json_obj(&j, NULL);
        ac_json_arr(&j, "targets");
    }
    for (int32_t i = 0; i < ac_target_count(); i++) {
        const ac_target *t = ac_target_at(i);
        if (cli->json) {
            ac_json_obj(&j, NULL);
            ac_json_str(&j, "name", t->name);
            ac_json_int(&j, "vector_bytes", t->vec_bytes);
            ac_json_bool(&j, "fma", t->fma);
            ac_json_bool(&j, "dot_u8s8", t->dot_u8s8);
            ac_json_bool(&j, "firmware", t->firmware);
            ac_json_str(&j, "help", t->help);
            ac_json_end(&j);
        } else {
            ac_putf(&s, "%-16s vectors %2d B%s%s  %s\n", t->name, t->vec_bytes, t->fma ? ", fma" : "",
                    t->dot_u8s8 ? ", dot" : "", t->help);
        }
    }
    if (cli->json) {
        ac_json_end(&j);
        ac_json_end(&j);
    }
    return print_sink(&cx, &s);
}

int ac_cli_explain(ac_cli *cli)
{
    ac_code code;
    if (cli->n_files != 1 || !ac_code_find(cli->file[0], &code)) {
        fprintf(stderr, "arenac: error[E0501]: explain takes one code, such as E0107%s%s\n",
                cli->n_files ? "; unknown: " : "", cli->n_files ? cli->file[0] : "");
        return AC_EXIT_USAGE;
    }
    printf("%s: %s (exit %d)\n\n%s\n", ac_code_name(code), ac_code_title(code), ac_code_exit(code),
           ac_code_explain(code));
    return 0;
}

static const char *const OPTION_NAMES[] = {
#define OPT(id, name, letter, arg, verbs, help) name,
#include "cli/options.def"
#undef OPT
};

int ac_cli_completion(ac_cli *cli)
{
    const char *shell = cli->n_files == 1 ? cli->file[0] : "";
    bool fish = !strcmp(shell, "fish"), zsh = !strcmp(shell, "zsh");
    if (!fish && !zsh && strcmp(shell, "bash")) {
        fputs("arenac: error[E0501]: completion takes bash, zsh or fish\n", stderr);
        return AC_EXIT_USAGE;
    }
    if (fish) {
        for (int v = 0; v < AC_VERB_COUNT; v++)
            printf("complete -c arenac -n __fish_use_subcommand -a %s\n", ac_verb_name((ac_verb)v));
        for (size_t i = 0; i < sizeof OPTION_NAMES / sizeof *OPTION_NAMES; i++)
            printf("complete -c arenac -l %s\n", OPTION_NAMES[i]);
        return 0;
    }
    if (zsh)
        printf("autoload -U +X bashcompinit && bashcompinit\n");
    printf("_arenac() {\n  local cur=\"${COMP_WORDS[COMP_CWORD]}\"\n  if [ \"$COMP_CWORD\" = 1 ]; then\n    "
           "COMPREPLY=( $(compgen -W \"");
    for (int v = 0; v < AC_VERB_COUNT; v++)
        printf("%s%s", v ? " " : "", ac_verb_name((ac_verb)v));
    printf("\" -- \"$cur\") $(compgen -f -- \"$cur\") )\n  elif [ \"${cur#-}\" != \"$cur\" ]; then\n    COMPREPLY=( "
           "$(compgen -W \"");
    for (size_t i = 0; i < sizeof OPTION_NAMES / sizeof *OPTION_NAMES; i++)
        printf("%s--%s", i ? " " : "", OPTION_NAMES[i]);
    printf("\" -- \"$cur\") )\n  else\n    COMPREPLY=( $(compgen -f -- \"$cur\") )\n  fi\n}\ncomplete -o filenames -F "
           "_arenac arenac\n");
    return 0;
}
