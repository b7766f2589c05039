/* inputs.h - the arrays a user gives for a model's inputs: found by name or position, shapes taken over before planning,
 * checked after it, copied in before each run. */
#ifndef AC_CLI_INPUTS_H
#define AC_CLI_INPUTS_H
#include "cli/cli.h"
#include "cli/host.h"
#include "cli/npy.h"

typedef struct ac_inputs {
    const ac_cli *cli;
    ac_npy array[AC_CLI_MAX]; /* by position in the graph's inputs */
    bool given[AC_CLI_MAX];
} ac_inputs;

/* Reads the files; pins open dimensions to their shapes. Refuses backends this build lacks (E0502). -1: diagnostics. */
int ac_inputs_open(arenac_job *job, const ac_cli *cli, const char *backend, ac_inputs *in);
int ac_inputs_check(arenac_job *job, ac_inputs *in); /* types, shapes, nothing missing (unless --random) */
int ac_inputs_fill(arenac_job *job, ac_inputs *in, ac_host *h);
void ac_inputs_close(ac_inputs *in);
/* Reads the model (arenac_read), then turns the inputs of --const into constants. 0, or -1 with diagnostics. */
int ac_cli_read(const ac_cli *cli, arenac_job *job);
/* KEY of --input or --compare: a position, or a tensor's name. */
int ac_io_find(arenac_job *job, const char *option, const char *key, ac_tensor *const *list, int32_t n, int32_t *index);

#endif
