/* tune.h - bench --tune: writes the file that --tuned reads (job_tune.h). */
#ifndef AC_CLI_TUNE_H
#define AC_CLI_TUNE_H
#include "cli/cli.h"

int ac_cli_tune(ac_cli *cli); /* the exit status; cli->opt.tuned is the file then, if it is one */

#endif
