/* convert.c - arenac convert MODEL [WEIGHTS] OUT: the same model in another format, chosen by OUT's ending or --emit.
 */
#include "cli/cli.h"
#include "cli/inputs.h"

#include <string.h>

typedef struct kind {
    const char *ending, *name, *what;
} kind;

/* What `plan` writes, too, is written by it. */
static const kind KINDS[] = {
    {".ag", "ag", "text form, large constants in OUT.weights"},
    {".onnx", "onnx", "ONNX"},
    {".tflite", "tflite", "the TFLite model with our plan inside, for TFLite Micro"},
    {".csv", "problem", "lifetimes of its tensors"},
};
enum { N_KINDS = sizeof KINDS / sizeof *KINDS };

static const char *kind_of(const ac_cli *cli)
{
    const size_t n = cli->output ? strlen(cli->output) : 0;
    for (int i = 0; i < N_KINDS; i++) {
        const size_t k = strlen(KINDS[i].ending);
        if (cli->emit ? !strcmp(cli->emit, KINDS[i].name) : n > k && !strcmp(cli->output + n - k, KINDS[i].ending))
            return KINDS[i].name;
    }
    return NULL;
}

int ac_cli_convert(ac_cli *cli)
{
    int status;
    if (!cli->output && cli->n_files > 1)
        cli->output = cli->file[--cli->n_files];
    const char *to = kind_of(cli);
    if (!cli->output || !to) {
        if (!cli->output)
            fputs("arenac: error[E0501]: convert takes a model and the file to write; arenac help convert\n", stderr);
        else
            fprintf(stderr, "arenac: error[E0501]: convert cannot write '%s'\n", cli->emit ? cli->emit : cli->output);
        for (int i = 0; i < N_KINDS; i++)
            fprintf(stderr, "  | OUT%-8s or --emit %-8s %s\n", KINDS[i].ending, KINDS[i].name, KINDS[i].what);
        return AC_EXIT_USAGE;
    }
    if (!strcmp(to, "tflite") || !strcmp(to, "problem")) {
        cli->emit = to;
        cli->quiet = true;
        return ac_cli_plan(cli);
    }
    arenac_job *job = ac_cli_open(cli, &status);
    if (!job)
        return status;
    if (arenac_convert(job, to, cli->output) == 0)
        arenac_commit(job);
    return ac_cli_finish(cli, job);
}
