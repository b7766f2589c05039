/* sys_posix.c - Linux, macOS and others with POSIX; see sys.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* madvise, getrandom */
#endif
#define _DARWIN_C_SOURCE /* the same on macOS */
#include "base/sys/sys.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#ifdef __APPLE__
int _NSGetExecutablePath(char *path, uint32_t *n);
char ***_NSGetEnviron(void);
#define environ (*_NSGetEnviron())
#define st_mtim st_mtimespec
#else
extern char **environ;
#endif

#if defined(PATH_MAX) && PATH_MAX > 4096
#error "realpath may write more than AC_SYS_PATH bytes"
#endif

void ac_sys_main(int *argc, char ***argv)
{
    (void)argc, (void)argv;
}

/* ------------------------------------------------------------------ names */

size_t ac_sys_root(const char *path)
{
    return *path == '/';
}

const char *ac_sys_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int ac_sys_real(const char *path, char real[AC_SYS_PATH])
{
    return realpath(path, real) ? 0 : -1;
}

int64_t ac_sys_link(const char *path, char *to, size_t n)
{
    return readlink(path, to, n);
}

int ac_sys_own_path(char path[AC_SYS_PATH])
{
#ifdef __APPLE__
    uint32_t n = AC_SYS_PATH;
    return _NSGetExecutablePath(path, &n) ? -1 : 0;
#else
    const ssize_t n = readlink("/proc/self/exe", path, AC_SYS_PATH - 1);
    path[n > 0 ? n : 0] = 0;
    return n > 0 ? 0 : -1;
#endif
}

void ac_sys_temporary(char path[AC_SYS_PATH])
{
    const char *tmp = getenv("TMPDIR");
    const size_t n = tmp && *tmp ? strlen(tmp) : AC_SYS_PATH;
    if (n < AC_SYS_PATH)
        memcpy(path, tmp, n + 1);
    else
        strcpy(path, "/tmp");
}

bool ac_sys_may_read(const char *path)
{
    return !access(path, R_OK);
}

bool ac_sys_may_write(const char *path)
{
    return !access(path, W_OK);
}

bool ac_sys_may_run(const char *path)
{
    return !access(path, X_OK);
}

char **ac_sys_matches(const char *pattern, size_t *n)
{
    glob_t g;
    char **names = NULL;
    *n = 0;
    if (!glob(pattern, 0, NULL, &g) && (names = calloc(g.gl_pathc, sizeof *names)) != NULL)
        for (size_t i = 0; i < g.gl_pathc && (names[*n] = strdup(g.gl_pathv[i])) != NULL; i++)
            ++*n;
    globfree(&g);
    return names;
}

/* ------------------------------------------------------------------ files */

static int describe(int status, const struct stat *st, ac_sys_info *to)
{
    if (status)
        return -1;
    to->kind = S_ISDIR(st->st_mode) ? AC_SYS_FOLDER : S_ISREG(st->st_mode) ? AC_SYS_FILE : AC_SYS_SPECIAL;
    to->mode = st->st_mode & 0777;
    to->bytes = st->st_size > 0 ? (uint64_t)st->st_size : 0;
    to->id[0] = (uint64_t)st->st_dev;
    to->id[1] = (uint64_t)st->st_ino;
    to->id[2] = (uint64_t)st->st_mtim.tv_sec;
    to->id[3] = (uint64_t)st->st_mtim.tv_nsec;
    return 0;
}

int ac_sys_info_of(const char *path, ac_sys_info *to)
{
    struct stat st;
    return describe(stat(path, &st), &st, to);
}

int ac_sys_info_at(int fd, ac_sys_info *to)
{
    struct stat st;
    return describe(fstat(fd, &st), &st, to);
}

int ac_sys_open(const char *path, ac_sys_how how, unsigned mode)
{
    static const int FLAGS[] = {[AC_SYS_READ] = O_RDONLY | O_NOCTTY,
                                [AC_SYS_READ_FILE] = O_RDONLY | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW,
                                [AC_SYS_WRITE] = O_WRONLY | O_NOCTTY,
                                [AC_SYS_CREATE] = O_WRONLY | O_CREAT | O_EXCL};
    return open(path, FLAGS[how] | O_CLOEXEC, (mode_t)mode);
}

int64_t ac_sys_read(int fd, void *to, size_t n)
{
    ssize_t got;
    do
        got = read(fd, to, n);
    while (got < 0 && errno == EINTR);
    return got;
}

bool ac_sys_at_start(int fd)
{
    return lseek(fd, 0, SEEK_CUR) == 0;
}

void ac_sys_set_mode(int fd, unsigned mode)
{
    const int ignored = fchmod(fd, (mode_t)mode);
    (void)ignored;
}

int64_t ac_sys_write(int fd, const void *bytes, size_t n)
{
    ssize_t put;
    do
        put = write(fd, bytes, n);
    while (put < 0 && errno == EINTR);
    return put;
}

/* Some file systems cannot flush, and foreign folders. */
int ac_sys_flush(int fd)
{
    int status;
    do
        status = fsync(fd);
    while (status && errno == EINTR);
    return !status || errno == EINVAL || errno == ENOTSUP || errno == EROFS || errno == EBADF ? 0 : errno;
}

int ac_sys_close(int fd)
{
    return close(fd) && errno != EINTR ? errno : 0;
}

int ac_sys_flush_folder(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) /* one may write to a folder without reading it */
        return 0;
    const int why = ac_sys_flush(fd), later = ac_sys_close(fd);
    return why ? why : later;
}

int ac_sys_rename(const char *from, const char *to)
{
    return rename(from, to);
}

int ac_sys_remove(const char *path)
{
    return unlink(path);
}

int ac_sys_folder_make(const char *path)
{
    return mkdir(path, 0777);
}

int ac_sys_folder_remove(const char *path)
{
    return rmdir(path);
}

char *ac_sys_printed(void (*print)(FILE *to, const void *arg), const void *arg)
{
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    if (!to)
        return NULL;
    print(to, arg);
    if (!fclose(to))
        return text;
    free(text);
    return NULL;
}

void *ac_sys_map(int fd, size_t n)
{
    void *at = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

int ac_sys_unmap(void *at, size_t n)
{
    return munmap(at, n);
}

void ac_sys_rest(void *at, size_t n)
{
#ifdef MADV_DONTNEED
    (void)madvise(at, n, MADV_DONTNEED);
#else
    (void)at, (void)n;
#endif
}

void ac_sys_large_pages(void *at, size_t n)
{
#ifdef MADV_HUGEPAGE
    (void)madvise(at, n, MADV_HUGEPAGE);
#else
    (void)at, (void)n;
#endif
}

/* ------------------------------------------------------------------ temporary folders */

int ac_sys_folder_new(char *name)
{
    return mkdtemp(name) ? 0 : -1;
}

/* The files of a folder, as the kernel lists them: opendir may not be called in a handler. On other systems they
 * stay. */
static void empty_in_handler(const char *path)
{
#if defined(__linux__) && defined(SYS_getdents64)
    struct entry {
        uint64_t inode;
        int64_t next;
        unsigned short bytes;
        unsigned char type;
        char name[];
    };
    _Alignas(16) char room[4096];
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (long n; fd >= 0 && (n = syscall(SYS_getdents64, fd, room, sizeof room)) > 0;)
        for (long k = 0; k < n;) {
            const struct entry *e = (const void *)(room + k);
            unlinkat(fd, e->name, 0); /* "." and ".." are refused */
            k += e->bytes;
        }
    if (fd >= 0)
        close(fd);
#else
    (void)path;
#endif
}

static void empty(DIR *d)
{
    for (struct dirent *e; d && (e = readdir(d)) != NULL;)
        unlinkat(dirfd(d), e->d_name, 0); /* "." and ".." are refused */
}

void ac_sys_folder_empty(const char *path, bool in_handler)
{
    if (in_handler) {
        empty_in_handler(path);
        return;
    }
    DIR *d = opendir(path);
    empty(d);
    if (d)
        closedir(d);
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

/* Through descriptors, as names in a folder that others may write can change on the way. */
static void sweep(int parent, const char *name)
{
    const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = folder >= 0 && is_left(folder) ? fdopendir(folder) : NULL;
    empty(d);
    if (d)
        unlinkat(parent, name, AT_REMOVEDIR);
    if (d)
        closedir(d);
    else if (folder >= 0)
        close(folder);
}

void ac_sys_folders_sweep(const char *parent, long (*maker)(const char *name))
{
    DIR *d = opendir(parent);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;)
        if (has_ended(maker(e->d_name)))
            sweep(dirfd(d), e->d_name);
    if (d)
        closedir(d);
}

long ac_sys_process(void)
{
    return (long)getpid();
}

/* ------------------------------------------------------------------ signals */

static volatile sig_atomic_t pipe_closed;
static const ac_sys_events *events;
static const int ENDING[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_ENDING = sizeof ENDING / sizeof *ENDING };
_Static_assert(sizeof(sigset_t) <= sizeof(ac_sys_held), "room for a set of signals");

void ac_sys_hold(ac_sys_held *before)
{
    sigset_t set, old;
    sigemptyset(&set);
    for (int i = 0; i < N_ENDING; i++)
        sigaddset(&set, ENDING[i]);
    sigprocmask(SIG_BLOCK, &set, &old);
    memcpy(before, &old, sizeof old);
}

void ac_sys_release(const ac_sys_held *before)
{
    sigset_t old;
    memcpy(&old, before, sizeof old);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

bool ac_sys_end_waits(void)
{
    sigset_t waiting;
    struct sigaction does;
    if (sigpending(&waiting))
        return false;
    for (int i = 0; i < N_ENDING; i++)
        if (sigismember(&waiting, ENDING[i]) == 1 && !sigaction(ENDING[i], NULL, &does) && does.sa_handler != SIG_IGN)
            return true;
    return false;
}

/* Raises the same signal again, with its default action: a parent process sees the signal that ended it. */
static void ends_by(int sig)
{
    sigset_t only;
    signal(sig, SIG_DFL);
    sigemptyset(&only);
    sigaddset(&only, sig);
    raise(sig);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
}

static void on_end(int sig)
{
    events->end();
    ends_by(sig);
}

/* Never resumes the interrupted work: any structure may be half-filled by the failed read. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code > 0 && events->fault(info->si_addr))
        _exit(events->status);
    ends_by(sig); /* a fault of ours, or a signal from outside */
}

static void on_pipe(int sig)
{
    (void)sig;
    pipe_closed = 1;
}

bool ac_sys_pipe_closed(void)
{
    return pipe_closed;
}

void ac_sys_guard(const ac_sys_events *e)
{
    struct sigaction old, closed = {.sa_handler = on_pipe, .sa_flags = SA_RESTART}, end = {.sa_handler = on_end},
                          fault = {.sa_flags = SA_SIGINFO};
    events = e;
    sigemptyset(&end.sa_mask);
    for (int i = 0; i < N_ENDING; i++)
        sigaddset(&end.sa_mask, ENDING[i]);
    for (int i = 0; i < N_ENDING; i++)
        if (sigaction(ENDING[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(ENDING[i], &end, NULL);
    sigemptyset(&closed.sa_mask);
    sigaction(SIGPIPE, &closed, NULL);
    fault.sa_sigaction = on_fault;
    sigemptyset(&fault.sa_mask);
    sigaction(SIGBUS, &fault, NULL);
    signal(SIGXFSZ, SIG_IGN);
}

/* ------------------------------------------------------------------ programs */

ac_sys_program ac_sys_start(const char *const *argv, const char *output)
{
    posix_spawn_file_actions_t fa;
    pid_t pid;
    char *const *words; /* posix_spawn does not write to them */
    memcpy(&words, &argv, sizeof words);
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&fa, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&fa, 1, 2);
    const int error = posix_spawnp(&pid, argv[0], &fa, NULL, words, environ);
    posix_spawn_file_actions_destroy(&fa);
    errno = error;
    return error ? -1 : pid;
}

int ac_sys_wait(ac_sys_program p, int seconds)
{
    enum { PAUSE_NS = 5000000 };
    const pid_t pid = (pid_t)p;
    const double last = ac_sys_now_ms() + seconds * 1e3;
    int status, options = seconds ? WNOHANG : 0;
    for (pid_t got; (got = waitpid(pid, &status, options)) != pid;) {
        if (got < 0 && errno != EINTR)
            return -1;
        if (options && ac_sys_now_ms() > last) {
            kill(pid, SIGKILL);
            while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                continue;
            return AC_SYS_LATE;
        }
        nanosleep(&(struct timespec){.tv_nsec = options ? PAUSE_NS : 0}, NULL);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : AC_SYS_CRASHED;
}

int ac_sys_show(const char *path)
{
#ifdef __APPLE__
    const char *const words[] = {"open", path, NULL};
#else
    const char *const words[] = {"xdg-open", path, NULL};
#endif
    enum { PATIENCE_MS = 3000, PAUSE_MS = 50 };
    const ac_sys_program p = ac_sys_start(words, "/dev/null");
    int status = 0;
    pid_t got = 0;
    for (int ms = 0; p >= 0 && !got && ms < PATIENCE_MS; ms += PAUSE_MS) {
        ac_sys_sleep(PAUSE_MS);
        got = waitpid((pid_t)p, &status, WNOHANG);
    }
    if (p < 0 || got < 0)
        return -1;
    return !got ? AC_SYS_LATE : WIFEXITED(status) ? WEXITSTATUS(status) : AC_SYS_CRASHED;
}

void *ac_sys_library(const char *path, bool shared)
{
    errno = 0;
    return dlopen(path, RTLD_NOW | (shared ? RTLD_GLOBAL : RTLD_LOCAL));
}

void *ac_sys_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

void ac_sys_library_close(void *library)
{
    dlclose(library);
}

const char *ac_sys_library_why(void)
{
    const char *why = dlerror();
    return why ? why : "unknown";
}

/* ------------------------------------------------------------------ this machine */

void ac_sys_sleep(int ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

double ac_sys_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

bool ac_sys_random(void *to, size_t n)
{
#ifdef __APPLE__
    return !getentropy(to, n);
#else
    return getrandom(to, n, GRND_NONBLOCK) == (ssize_t)n;
#endif
}

size_t ac_sys_memory(void)
{
    size_t most = 0;
#ifdef _SC_PHYS_PAGES
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0)
        most = (size_t)pages > SIZE_MAX / (size_t)size ? SIZE_MAX : (size_t)pages * (size_t)size;
#endif
#ifdef RLIMIT_AS
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY && (uint64_t)space.rlim_cur < SIZE_MAX &&
        space.rlim_cur && (!most || (size_t)space.rlim_cur < most))
        most = (size_t)space.rlim_cur;
#endif
    return most;
}

/* Linux then reserves space for the registers in the state that it saves of a thread. */
bool ac_sys_request_amx(void)
{
#if defined(__linux__) && defined(SYS_arch_prctl)
    enum { REQUEST = 0x1023, TILE_DATA = 18 };
    return syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
#else
    return false;
#endif
}

bool ac_sys_is_terminal(int fd)
{
    return isatty(fd);
}

bool ac_sys_moves_cursor(void)
{
    const char *terminal = getenv("TERM");
    return terminal && strcmp(terminal, "dumb") != 0;
}

size_t ac_sys_columns(int fd)
{
    struct winsize w;
    return ioctl(fd, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

struct ac_sys_watch {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t end;
    bool ends;
    void (*f)(ac_sys_watch *, void *);
    void *arg;
};

static void *watch(void *arg)
{
    ac_sys_watch *w = arg;
    w->f(w, w->arg);
    return NULL;
}

static bool open_end(pthread_cond_t *end)
{
#ifdef __APPLE__ /* it waits by a span of time */
    return !pthread_cond_init(end, NULL);
#else
    pthread_condattr_t clock;
    return !pthread_condattr_init(&clock) && !pthread_condattr_setclock(&clock, CLOCK_MONOTONIC) &&
           !pthread_cond_init(end, &clock);
#endif
}

/* Signals are for the thread that works. */
ac_sys_watch *ac_sys_watch_begin(void (*f)(ac_sys_watch *w, void *arg), void *arg)
{
    ac_sys_held before;
    ac_sys_watch *w = malloc(sizeof *w);
    if (!w)
        return NULL;
    *w = (ac_sys_watch){.lock = PTHREAD_MUTEX_INITIALIZER, .f = f, .arg = arg};
    ac_sys_hold(&before);
    const bool made = open_end(&w->end) && !pthread_create(&w->thread, NULL, watch, w);
    ac_sys_release(&before);
    if (made)
        return w;
    free(w);
    return NULL;
}

bool ac_sys_watch_wait(ac_sys_watch *w, int64_t ms)
{
    struct timespec t = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000 * 1000000)};
    int status = 0;
    pthread_mutex_lock(&w->lock);
#ifdef __APPLE__
    while (!w->ends && !status)
        status = pthread_cond_timedwait_relative_np(&w->end, &w->lock, &t);
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t ns = (int64_t)now.tv_nsec + t.tv_nsec;
    t = (struct timespec){.tv_sec = now.tv_sec + t.tv_sec + (time_t)(ns / 1000000000),
                          .tv_nsec = (long)(ns % 1000000000)};
    while (!w->ends && status != ETIMEDOUT)
        status = pthread_cond_timedwait(&w->end, &w->lock, &t);
#endif
    const bool on = !w->ends;
    pthread_mutex_unlock(&w->lock);
    return on;
}

void ac_sys_watch_end(ac_sys_watch *w)
{
    pthread_mutex_lock(&w->lock);
    w->ends = true;
    pthread_cond_signal(&w->end);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->end);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
