/* sweep.c - removes folders that killed processes have left; see sweep.h. All calls go through descriptors, as names in
 * a folder that others may write can change on the way. */
#include "host/sweep.h"

#include "base/ascii.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char STEM[] = "arenac-";

static const char *parent_folder(void)
{
    const char *tmp = getenv("TMPDIR");
    return tmp && *tmp ? tmp : "/tmp";
}

char *ac_folder_template(ac_region *r)
{
    return ac_strf(r, "%s/%s%ld-XXXXXX", parent_folder(), STEM, (long)getpid());
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

static bool has_ended(long pid)
{
    return pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* A folder of this user that has been unchanged for an hour. */
static bool is_left(int folder)
{
    enum { HOUR = 3600 };
    struct stat s;
    return !fstat(folder, &s) && S_ISDIR(s.st_mode) && s.st_uid == geteuid() && s.st_mtime < time(NULL) - HOUR;
}

static void sweep(int parent, const char *name)
{
    const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = folder >= 0 && is_left(folder) ? fdopendir(folder) : NULL;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;)
        unlinkat(folder, e->d_name, 0); /* "." and ".." are refused */
    if (d)
        unlinkat(parent, name, AT_REMOVEDIR);
    if (d)
        closedir(d);
    else if (folder >= 0)
        close(folder);
}

void ac_folders_sweep(void)
{
    DIR *d = opendir(parent_folder());
    for (struct dirent *e; d && (e = readdir(d)) != NULL;)
        if (has_ended(maker(e->d_name)))
            sweep(dirfd(d), e->d_name);
    if (d)
        closedir(d);
}
