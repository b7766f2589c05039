/* sweep.h - temporary folders of this tool: their names, and those that killed processes have left.
 *
 *     char *path = ac_folder_template(region);         "/tmp/arenac-PID-XXXXXX", for mkdtemp, in $TMPDIR
 *     ac_folders_sweep();
 *
 * A folder is removed only if its name has this form, it is a folder (not a link) of this user, no process has the
 * number of its name, and nothing in it has been created for an hour. Files in it are removed, folders are not: then it
 * stays. Cost: one pass over the names of the temporary folder. Errors: none; a folder that cannot be removed stays. */
#ifndef AC_HOST_SWEEP_H
#define AC_HOST_SWEEP_H
#include "base/region.h"

char *ac_folder_template(ac_region *r);
void ac_folders_sweep(void);

#endif
