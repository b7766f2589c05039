/* cc.h - for tests that compile generated C: a temporary folder, a host compiler, a shared object. POSIX.
 *
 *     cc_folder(dir);                                    made under $TMPDIR, removed by cc_remove(dir)
 *     cc_write(dir, "k.c", text, n);
 *     char *argv[] = {cc_name(), "-shared", "-o", ...};  cc_run(dir, argv, "log") == 0
 *
 * Memory: the caller's buffers. Errors: nonzero, and the compiler's words are printed. */
#ifndef AC_TESTS_UNIT_SUPPORT_CC_H
#define AC_TESTS_UNIT_SUPPORT_CC_H
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static inline const char *cc_name(void)
{
    const char *cc = getenv("CC");
    return cc && *cc ? cc : "cc";
}

static inline int cc_folder(char dir[256])
{
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, 256, "%.200s/arenac-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    return mkdtemp(dir) ? 0 : -1;
}

static inline int cc_remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static inline void cc_remove(const char *dir)
{
    nftw(dir, cc_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline int cc_write(const char *dir, const char *name, const void *bytes, size_t n)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    if (!f)
        return -1;
    size_t done = fwrite(bytes, 1, n, f);
    return fclose(f) == 0 && done == n ? 0 : -1;
}

/* The whole file as a string, "" when it cannot be read. */
static inline char *cc_read(const char *dir, const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "rb");
    size_t cap = 1 << 20, n = 0;
    char *text = calloc(cap + 1, 1);
    if (f && text)
        n = fread(text, 1, cap, f);
    if (f)
        fclose(f);
    if (text)
        text[n] = 0;
    return text;
}

/* Runs argv (ends in NULL) in `dir` with all output in the file `log`; the exit status, -1 when it cannot be started.
 */
static inline int cc_run(const char *dir, const char *const *argv, const char *log)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", dir, log);
    posix_spawn_file_actions_t io;
    posix_spawn_file_actions_init(&io);
    posix_spawn_file_actions_addopen(&io, 1, path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&io, 1, 2);
    pid_t pid;
    int status, failed = posix_spawnp(&pid, argv[0], &io, NULL, (char *const *)(size_t)argv, environ);
    posix_spawn_file_actions_destroy(&io);
    if (failed || waitpid(pid, &status, 0) < 0)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline bool cc_exists(const char *dir, const char *compiler)
{
    const char *argv[] = {compiler, "--version", NULL};
    return cc_run(dir, argv, "version.log") == 0;
}

/* cc [flags...] -o DIR/out DIR/source, without output. flags: words separated by blanks. */
static inline int cc_compile(const char *dir, const char *compiler, const char *flags, const char *sources,
                             const char *out)
{
    char words[4096], *save = NULL, paths[8][300];
    const char *argv[96];
    int n = 0, k = 0;
    argv[n++] = compiler;
    snprintf(words, sizeof words, "%s", flags);
    for (char *w = strtok_r(words, " ", &save); w && n < 80; w = strtok_r(NULL, " ", &save))
        argv[n++] = w;
    char include[300], target[300], names[512];
    snprintf(include, sizeof include, "-I%s", dir);
    snprintf(target, sizeof target, "%s/%s", dir, out);
    argv[n++] = include;
    argv[n++] = "-o";
    argv[n++] = target;
    snprintf(names, sizeof names, "%s", sources);
    for (char *w = strtok_r(names, " ", &save); w && k < 8; w = strtok_r(NULL, " ", &save)) {
        snprintf(paths[k], sizeof paths[k], "%s/%s", dir, w);
        argv[n++] = paths[k++];
    }
    argv[n] = NULL;
    int rc = cc_run(dir, argv, "cc.log");
    char *said = cc_read(dir, "cc.log");
    bool silent = said && !*said;
    if (rc || !silent)
        fprintf(stderr, "%s %s %s: status %d\n%.3000s\n", compiler, flags, sources, rc, said ? said : "");
    free(said);
    return rc ? rc : silent ? 0 : 1;
}

#endif
