/* lock.c - a plan compared with its lock: --lock and --update-lock. */
#include "driver/emit/emit.h"

#include "base/sys/sys.h"
#include "planner/report/lock.h"

#include <errno.h>
#include <string.h>

int ac_lock_plan(const ac_made *a)
{
    const char *path = a->opt->lock;
    ac_lock *locked;
    ac_file f = {0};
    ac_sys_info of;
    if (!path)
        return a->opt->update_lock
                   ? ac_error(a->cx, (ac_place){0}, E0501, "--update-lock needs --lock FILE, the file to write")
                   : AC_OK;
    ac_lock *now = ac_lock_of(a->cx, a->report);
    if (a->opt->update_lock) {
        ac_lock_write(ac_pending_add(a->out, path), now);
        return AC_OK;
    }
    if (ac_sys_info_of(path, &of) && errno == ENOENT) {
        ac_error(a->cx, (ac_place){.file = path}, E0301, "the lock file does not exist");
        return ac_help(a->cx, "--update-lock writes it");
    }
    AC_TRY(ac_file_open(a->cx, path, &f));
    const int status = ac_lock_read(a->cx, path, (const char *)f.data, f.n, &locked); /* copies the names */
    ac_file_close(&f);
    return status == AC_OK ? ac_lock_check(a->cx, locked, now) : status;
}
