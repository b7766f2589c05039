/* interrupt.c - the signal handlers and their state; see interrupt.h. */
#include "base/interrupt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

static volatile sig_atomic_t pipe_closed;

static const int ENDING[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_ENDING = sizeof ENDING / sizeof *ENDING, FOLDERS = 4, EXIT_IO = 3 };

/* Written by one thread, with the signals on hold; read by handlers. */
static struct {
    bool on, json;
    ac_unfinished *unfinished;
    ac_mapped *mapped;
    char folder[FOLDERS][PATH_MAX]; /* "": a free place */
} process;

void ac_interrupt_hold(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < N_ENDING; i++)
        sigaddset(&set, ENDING[i]);
    sigprocmask(SIG_BLOCK, &set, before);
}

void ac_interrupt_release(const sigset_t *before)
{
    sigprocmask(SIG_SETMASK, before, NULL);
}

/* ------------------------------------------------------------------ undoing */

void ac_unfinished_begin(ac_unfinished *u)
{
    sigset_t before;
    if (!process.on)
        return;
    ac_interrupt_hold(&before);
    u->next = process.unfinished;
    process.unfinished = u;
    ac_interrupt_release(&before);
}

void ac_unfinished_end(const ac_unfinished *u)
{
    sigset_t before;
    if (!process.on)
        return;
    ac_interrupt_hold(&before);
    ac_unfinished **p = &process.unfinished;
    while (*p && *p != u)
        p = &(*p)->next;
    if (*p)
        *p = u->next;
    ac_interrupt_release(&before);
}

/* ------------------------------------------------------------------ folders */

bool ac_folder_begin(char *path)
{
    sigset_t before;
    ac_interrupt_hold(&before);
    const bool made = mkdtemp(path) != NULL;
    const int why = errno;
    for (int i = 0; made && process.on && i < FOLDERS; i++)
        if (!*process.folder[i] && strlen(path) < PATH_MAX) {
            strcpy(process.folder[i], path);
            break;
        }
    ac_interrupt_release(&before);
    errno = why;
    return made;
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

static void empty(const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;)
        unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
}

void ac_folder_end(const char *path)
{
    sigset_t before;
    if (!path)
        return;
    empty(path);
    ac_interrupt_hold(&before);
    rmdir(path);
    for (int i = 0; i < FOLDERS; i++)
        if (!strcmp(process.folder[i], path))
            *process.folder[i] = '\0';
    ac_interrupt_release(&before);
}

static void end_folders(void)
{
    for (int i = 0; i < FOLDERS; i++)
        if (*process.folder[i])
            ac_folder_end(process.folder[i]);
}

/* ------------------------------------------------------------------ handlers */

static void undo(void)
{
    for (const ac_unfinished *u = process.unfinished; u; u = u->next)
        u->undo(u->arg);
    for (int i = 0; i < FOLDERS; i++)
        if (*process.folder[i]) {
            empty_in_handler(process.folder[i]);
            rmdir(process.folder[i]);
        }
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
    undo();
    ends_by(sig);
}

static void say(int to, const char *text, size_t n)
{
    const ssize_t ignored = write(to, text, n);
    (void)ignored;
}

#define CUT_SHORT "cannot read: the file became shorter while it was being read"

static void say_cut(const char *path)
{
    static const char TEXT[] = ": error[E0301]: " CUT_SHORT "\n"
                               "  = help: run arenac again when nothing writes to the file\n1 error, 0 warnings\n";
    say(STDERR_FILENO, path, strlen(path));
    say(STDERR_FILENO, TEXT, sizeof TEXT - 1);
}

/* As json.c writes a report that has diagnostics only. */
static void say_json(const char *path)
{
    static const char BEFORE[] =
        "{\n  \"schema\": \"arenac-report/1\",\n  \"diagnostics\": [\n    {\n      \"severity\": \"error\",\n"
        "      \"code\": \"E0301\",\n      \"text\": \"" CUT_SHORT "\",\n      \"file\": \"";
    static const char AFTER[] =
        "\",\n      \"node\": null,\n      \"op\": null,\n      \"op_index\": null,\n      \"line\": null,\n"
        "      \"column\": null,\n      \"byte\": null,\n      \"lines\": []\n    }\n  ]\n}\n";
    say(STDOUT_FILENO, BEFORE, sizeof BEFORE - 1);
    for (; *path; path++) {
        if (*path == '"' || *path == '\\')
            say(STDOUT_FILENO, "\\", 1);
        say(STDOUT_FILENO, path, 1);
    }
    say(STDOUT_FILENO, AFTER, sizeof AFTER - 1);
}

/* Never resumes the interrupted work: any structure may be half-filled by the failed read. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
    const char *at = info->si_addr;
    (void)context;
    const ac_mapped *m = info->si_code > 0 ? process.mapped : NULL;
    while (m && !(at >= (const char *)m->at && at < (const char *)m->at + m->n))
        m = m->next;
    if (!m) { /* a fault of ours, or a signal from outside */
        ends_by(sig);
        return;
    }
    undo();
    if (process.json)
        say_json(m->path);
    say_cut(m->path);
    _exit(EXIT_IO);
}

static void on_pipe(int sig)
{
    (void)sig;
    pipe_closed = 1;
}

bool ac_interrupt_pipe_closed(void)
{
    return pipe_closed;
}

void ac_interrupt_guard(void)
{
    struct sigaction old, closed = {.sa_handler = on_pipe, .sa_flags = SA_RESTART}, end = {.sa_handler = on_end},
                          fault = {.sa_flags = SA_SIGINFO};
    process.on = true;
    atexit(end_folders);
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

void ac_interrupt_json(void)
{
    process.json = true;
}

/* ------------------------------------------------------------------ mapped files */

void ac_mapped_add(ac_mapped *m)
{
    if (!process.on)
        return;
    m->next = process.mapped;
    process.mapped = m;
    atomic_signal_fence(memory_order_seq_cst);
}

void ac_mapped_remove(const void *at)
{
    ac_mapped **p = &process.mapped;
    while (*p && (*p)->at != at)
        p = &(*p)->next;
    if (*p)
        *p = (*p)->next;
}

void ac_mapped_forget(const void *owner)
{
    for (ac_mapped **p = &process.mapped; *p;)
        if ((*p)->owner == owner)
            *p = (*p)->next;
        else
            p = &(*p)->next;
}
