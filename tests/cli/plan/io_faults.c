/* io_faults.c - file calls that fail or wait, for shell tests: cc -shared -fPIC -o faults.so io_faults.c -ldl, and then
 * LD_PRELOAD=faults.so FAULT=CALL:N:ERRNO arenac ... Counted are calls of the program, not those inside of the C
 * library; compilers that it starts are left alone. Files that describe control groups, whose number depends on the
 * machine, are not counted when they are opened and closed.
 *
 *     FAULT=write:2:28     the second write fails with ENOSPC; "on" after it ("write:2:28:on"): all from there
 *     FAULT=read:1:short   it gets or puts one byte; FAULT=read:1:cut, mmap:1:cut: the file is empty after it
 *     FAULT=rename:1:wait  it waits for a second; MARK=FILE is there when it does
 *     COUNT=FILE           where the number of calls of each kind goes, "write 7" and so on, one a line */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { READ, WRITE, RENAME, MMAP, OPEN, FSYNC, CLOSE, CALLS };
static const char *const NAMES[CALLS] = {"read", "write", "rename", "mmap", "open", "fsync", "close"};
static long number[CALLS];

enum { GOES_ON, FAILS, SHORT, CUT };

#define REAL(type, name, args) \
    static type(*real) args;   \
    if (!real)                 \
    *(void **)&real = dlsym(RTLD_NEXT, name)

/* The action for this call; if it is to fail, sets errno. */
static int fault(int call)
{
    const char *f = getenv("FAULT");
    const size_t n = strlen(NAMES[call]);
    char *end;
    if (strcmp(program_invocation_short_name, "arenac") != 0)
        return GOES_ON;
    number[call]++;
    if (!f || strncmp(f, NAMES[call], n) != 0 || f[n] != ':')
        return GOES_ON;
    const long at = strtol(f + n + 1, &end, 10);
    const int on = strstr(end, ":on") != NULL;
    if (on ? number[call] < at : number[call] != at)
        return GOES_ON;
    if (!strncmp(end, ":wait", 5)) {
        REAL(int, "open", (const char *, int, ...));
        real(getenv("MARK"), O_WRONLY | O_CREAT, 0600);
        sleep(1);
        return GOES_ON;
    }
    if (!strncmp(end, ":short", 6))
        return SHORT;
    if (!strncmp(end, ":cut", 4))
        return CUT;
    errno = atoi(end + 1);
    return FAILS;
}

__attribute__((destructor)) static void count(void)
{
    const char *path = getenv("COUNT");
    FILE *f = path && !strcmp(program_invocation_short_name, "arenac") ? fopen(path, "w") : NULL;
    for (int i = 0; f && i < CALLS; i++)
        fprintf(f, "%s %ld\n", NAMES[i], number[i]);
    if (f)
        fclose(f);
}

static void cut(int fd)
{
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const int ignored = truncate(link, 0);
    (void)ignored;
}

ssize_t read(int fd, void *p, size_t n)
{
    REAL(ssize_t, "read", (int, void *, size_t));
    const int what = fault(READ);
    const ssize_t got = what == FAILS ? -1 : real(fd, p, what == SHORT && n ? 1 : n);
    if (what == CUT)
        cut(fd);
    return got;
}

ssize_t write(int fd, const void *p, size_t n)
{
    REAL(ssize_t, "write", (int, const void *, size_t));
    if (fd == STDERR_FILENO)
        return real(fd, p, n);
    const int what = fault(WRITE);
    return what == FAILS ? -1 : real(fd, p, what == SHORT && n ? 1 : n);
}

int rename(const char *from, const char *to)
{
    REAL(int, "rename", (const char *, const char *));
    return fault(RENAME) == FAILS ? -1 : real(from, to);
}

int fsync(int fd)
{
    REAL(int, "fsync", (int));
    return fault(FSYNC) == FAILS ? -1 : real(fd);
}

static unsigned long system_files; /* a bit for each of the first descriptors */

static unsigned long bit(int fd)
{
    return fd >= 0 && fd < 32 ? 1ul << fd : 0;
}

int close(int fd)
{
    REAL(int, "close", (int));
    if (system_files & bit(fd)) {
        system_files &= ~bit(fd);
        return real(fd);
    }
    const int failed = fault(CLOSE) == FAILS, why = errno, status = real(fd);
    errno = failed ? why : errno;
    return failed ? -1 : status;
}

static int opened(const char *path, int flags, mode_t mode)
{
    REAL(int, "open", (const char *, int, ...));
    if (!strcmp(path, "/proc/self/cgroup") || !strncmp(path, "/sys/", 5)) {
        const int fd = real(path, flags, mode);
        system_files |= bit(fd);
        return fd;
    }
    return fault(OPEN) == FAILS ? -1 : real(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    return opened(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

static void *mapped(void *at, size_t n, int prot, int flags, int fd, off_t from)
{
    REAL(void *, "mmap", (void *, size_t, int, int, int, off_t));
    const int what = fd >= 0 ? fault(MMAP) : GOES_ON;
    void *map = what == FAILS ? MAP_FAILED : real(at, n, prot, flags, fd, from);
    if (what == CUT)
        cut(fd);
    return map;
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t from)
{
    return mapped(at, n, prot, flags, fd, from);
}

void *mmap64(void *at, size_t n, int prot, int flags, int fd, off_t from)
{
    return mapped(at, n, prot, flags, fd, from);
}
