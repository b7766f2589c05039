/* offline.h - plans for TFLite Micro on the command line; see offline.c. */
#ifndef AC_CLI_OFFLINE_H
#define AC_CLI_OFFLINE_H
#include "cli/cli.h"
#include "import/tflite/offline.h"

typedef struct ac_cli_offline ac_cli_offline;

bool ac_cli_offline_wanted(const ac_cli *cli); /* the command line asks for a plan that TFLM follows */
/* Plans the one file of the command line; fills the job's plan and report, and cli->offline. Returns 0 or -1. */
int ac_cli_offline_plan(ac_cli *cli, arenac_job *job);
int ac_cli_offline_emit(ac_cli *cli, arenac_job *job, const char *kind, const char *path);
void ac_cli_offline_show(ac_cli *cli); /* the plan stored in a TFLite file, if there is one, to standard output */

#endif
