/* board.c - rows of boards.def, files, programs; see board.h. */
#include "host/firmware/board.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static const ac_board BOARDS[] = {
#define BOARD(target, prefix, cpu, link, libc, system, machine, emulated, ...) \
    {target, prefix, cpu, link, libc, system, machine, emulated, __VA_ARGS__},
#include "host/firmware/boards.def"
#undef BOARD
};

const ac_board *ac_board_of(const ac_target *t)
{
    for (size_t i = 0; i < sizeof BOARDS / sizeof *BOARDS; i++)
        if (!strcmp(BOARDS[i].target, t->name))
            return &BOARDS[i];
    return NULL;
}

const ac_board *ac_board_at(int32_t i)
{
    return i < (int32_t)(sizeof BOARDS / sizeof *BOARDS) ? &BOARDS[i] : NULL;
}

const char *ac_tool_path(ac_ctx *cx, const char *name)
{
    const char *path = getenv("PATH");
    for (const char *at = path ? path : ""; *at; at += strcspn(at, ":"), at += *at == ':') {
        const char *file = ac_strf(cx->region, "%.*s/%s", (int)strcspn(at, ":"), at, name);
        if (!access(file, X_OK))
            return file;
    }
    return NULL;
}

/* ------------------------------------------------------------------ files */

const char *ac_board_read(ac_ctx *cx, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return "";
    fseek(f, 0, SEEK_END);
    const long n = ftell(f);
    rewind(f);
    char *text = AC_NEW_N(cx->region, char, (n > 0 ? n : 0) + 1);
    text[n > 0 ? fread(text, 1, (size_t)n, f) : 0] = '\0';
    fclose(f);
    return text;
}

/* ------------------------------------------------------------------ programs */

static pid_t begin(const ac_tool *t)
{
    posix_spawn_file_actions_t fa;
    pid_t pid;
    char *argv[64];
    int n = 0;
    for (; t->argv[n] && n < 63; n++)
        memcpy(&argv[n], &t->argv[n], sizeof argv[n]); /* posix_spawn wants them writable, and does not write */
    argv[n] = NULL;
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&fa, 1, t->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&fa, 1, 2);
    const int error = posix_spawnp(&pid, argv[0], &fa, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&fa);
    return error ? -1 : pid;
}

/* Waits, and ends what takes too long. */
static int end(pid_t pid, int seconds)
{
    enum { PAUSE_NS = 5000000, LATE = -2 };
    const double last = ac_now_ms() + seconds * 1e3;
    int status, options = seconds ? WNOHANG : 0;
    for (pid_t got; (got = waitpid(pid, &status, options)) != pid;) {
        if (got < 0 && errno != EINTR)
            return -1;
        if (options && ac_now_ms() > last) {
            kill(pid, SIGKILL);
            while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                continue;
            return LATE;
        }
        nanosleep(&(struct timespec){.tv_nsec = options ? PAUSE_NS : 0}, NULL);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

void ac_tools_run(ac_tool *tool, int32_t n)
{
    enum { MOST = 8 };
    pid_t pid[MOST];
    for (int32_t i = 0; i < n && i < MOST; i++)
        pid[i] = begin(&tool[i]);
    for (int32_t i = 0; i < n && i < MOST; i++)
        tool[i].status = pid[i] < 0 ? -1 : end(pid[i], tool[i].seconds);
}

typedef AC_VEC(const char *) words;

static void add_words(ac_region *r, words *w, const char *text)
{
    for (const char *at = text; *at; at += strcspn(at, " "), at += strspn(at, " "))
        ac_push(r, w, ac_strf(r, "%.*s", (int)strcspn(at, " "), at));
}

const char *const *ac_board_gcc(ac_ctx *cx, const ac_board *b, const char *const *more)
{
    words w = {0};
    ac_push(cx->region, &w, ac_strf(cx->region, "%sgcc", b->prefix));
    add_words(cx->region, &w, b->cpu);
    add_words(cx->region, &w, b->libc);
    for (; *more; more++)
        ac_push(cx->region, &w, *more);
    ac_push(cx->region, &w, NULL);
    return w.item;
}

const char *ac_board_version(ac_ctx *cx, const ac_board *b, const char *dir)
{
    const char *argv[] = {ac_strf(cx->region, "%sgcc", b->prefix), "-dumpfullversion", NULL};
    const char *log = ac_strf(cx->region, "%s/version", dir);
    ac_tool t = {.argv = argv, .log = log};
    ac_tools_run(&t, 1);
    const char *text = ac_board_read(cx, log);
    return ac_strf(cx->region, "%.*s", (int)strcspn(text, "\n"), text);
}
