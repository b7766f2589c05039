/* sweep.c - removes folders that killed processes have left; see sweep.h. */
#include "host/sweep.h"

#include "base/ascii.h"
#include "base/sys/sys.h"

#include <stdlib.h>
#include <string.h>

static const char STEM[] = "arenac-";

char *ac_folder_template(ac_region *r)
{
    char parent[AC_SYS_PATH];
    ac_sys_temporary(parent);
    return ac_strf(r, "%s/%s%ld-XXXXXX", parent, STEM, ac_sys_process());
}

/* The process that made a folder of this name; 0: the name has another form. */
static long maker(const char *name)
{
    enum { DIGITS = 9, RANDOM = 6 };
    const size_t stem = strlen(STEM);
    if (strncmp(name, STEM, stem) != 0)
        return 0;
    const size_t n = strspn(name + stem, "0123456789");
    const char *rest = name + stem + n;
    if (!n || n > DIGITS || *rest != '-' || strlen(rest + 1) != RANDOM)
        return 0;
    for (const char *c = rest + 1; *c; c++)
        if (!ac_is_alnum(*c))
            return 0;
    return strtol(name + stem, NULL, 10);
}

void ac_folders_sweep(void)
{
    char parent[AC_SYS_PATH];
    ac_sys_temporary(parent);
    ac_sys_folders_sweep(parent, maker);
}
