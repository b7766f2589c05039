/* ranks.c - --mpi: the processes of mpirun share each step. Rank 0 alone writes and prints; an error of
 * another rank that rank 0 does not have ends all of them. MPI itself is a plug-in, arenac-mpi.so (runtime/mpi). */
#include "driver/train/training.h"

#include "base/plugin.h"
#include "base/sys/sys.h"

#include <string.h>

int ac_ranks_open(ac_training *t)
{
    ac_ctx *cx = &t->w->cx;
    const char *path;
    int (*open)(struct arn_ranks * r) = NULL;
    if (!t->w->opt.mpi)
        return AC_OK;
    void *so = ac_plugin_open(cx, "mpi", &path), *p = so ? ac_sys_symbol(so, "arn_mpi_open") : NULL;
    memcpy(&open, &p, sizeof open);
    if (!path) {
        ac_error(cx, (ac_place){0}, E0502, "--mpi needs arenac-mpi.so, which is not part of this build");
        return ac_help(cx, "install libopenmpi-dev and openmpi-bin, then configure and build arenac again");
    }
    if (!open)
        return ac_error(cx, (ac_place){0}, E0502, "--mpi: %s cannot be opened: %s", path, ac_sys_library_why());
    struct arn_ranks *r = AC_NEW(cx->region, struct arn_ranks);
    if (open(r))
        return ac_error(cx, (ac_place){0}, E0502, "--mpi: MPI does not start");
    t->ranks = r;
    return AC_OK;
}

/* This rank writes no files and prints nothing. */
static void be_quiet(ac_training *t)
{
    ac_ctx *cx = &t->w->cx;
    cx->diags = (ac_diags){.werror = cx->diags.werror, .limit = cx->diags.limit};
    t->w->out.list.n = 0;
}

int ac_ranks_fail(ac_training *t, int status)
{
    if (status == AC_OK || !t->ranks)
        return status;
    ac_diags_print(&t->w->cx.diags, stderr, false);
    fflush(stderr);
    t->ranks->stop(t->ranks->with, (int)ac_diags_exit(&t->w->cx.diags));
    return status;
}

int ac_ranks_agree(ac_training *t, int status)
{
    float first = (float)status;
    if (!t->ranks)
        return status;
    t->ranks->share(t->ranks->with, &first, 1);
    if (first == AC_OK)
        return ac_ranks_fail(t, status);
    t->stopped = true;
    ac_ranks_close(t);
    return t->ranks->rank ? AC_OK : status;
}

void ac_ranks_close(ac_training *t)
{
    if (!t->ranks)
        return;
    if (t->ranks->rank)
        be_quiet(t);
    t->ranks->close(t->ranks->with);
}
