/* start_net.c - how long a program around generated code takes from the start of its process to the first result, and
 * how much memory it has touched by then. Compiled like time_net.c; `./net N` starts itself N times and prints the
 * least time and the memory.
 *
 *     start_ms=0.84 floor_ms=0.52 resident_kb=1880 floor_kb=1196 arena_kb=63      floor: the process without a model */
#include "net.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static _Alignas(NET_ARENA_ALIGN) unsigned char arena[NET_ARENA_BYTES];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static long resident_kb(void)
{
    char line[256];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "VmHWM:", 6))
            kb = strtol(line + 6, NULL, 10);
    return kb;
}

typedef struct answer {
    double at;
    long kb;
} answer;

static int child(int with_model)
{
    const net_mem m = {.arena = arena};
    answer a;
    if (with_model) {
        if (net_init(&m))
            return 1;
        for (size_t i = 0; i < NET_IN0_BYTES; i += 64)
            ((volatile unsigned char *)net_in0(&m))[i] = 0; /* the input must be written once */
        if (net_run(&m))
            return 1;
    }
    a.at = now();
    a.kb = resident_kb();
    return write(1, &a, sizeof a) != (ssize_t)sizeof a;
}

static int once(char *self, const char *mode, double *ms, long *kb)
{
    char word[8];
    snprintf(word, sizeof word, "%s", mode);
    char *const argv[] = {self, word, NULL};
    posix_spawn_file_actions_t fa;
    int ends[2], status;
    pid_t pid;
    answer a;
    if (pipe(ends))
        return 1;
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, ends[1], 1);
    posix_spawn_file_actions_addclose(&fa, ends[0]);
    const double from = now();
    if (posix_spawn(&pid, self, &fa, NULL, argv, environ))
        return 1;
    close(ends[1]);
    const int ok = read(ends[0], &a, sizeof a) == (ssize_t)sizeof a;
    close(ends[0]);
    posix_spawn_file_actions_destroy(&fa);
    if (waitpid(pid, &status, 0) != pid || status || !ok)
        return 1;
    if (*ms <= 0 || a.at - from < *ms)
        *ms = a.at - from;
    *kb = a.kb;
    return 0;
}

int main(int argc, char **argv)
{
    double ms[2] = {0, 0};
    long kb[2] = {0, 0};
    if (argc > 1 && (argv[1][0] == 'm' || argv[1][0] == 'f'))
        return child(argv[1][0] == 'm');
    for (int i = 0, n = argc > 1 ? atoi(argv[1]) : 20; i < n; i++)
        if (once(argv[0], "m", &ms[0], &kb[0]) || once(argv[0], "f", &ms[1], &kb[1]))
            return 1;
    printf("start_ms=%.3f floor_ms=%.3f resident_kb=%ld floor_kb=%ld arena_kb=%ld\n", ms[0], ms[1], kb[0], kb[1],
           (long)((NET_ARENA_BYTES + 1023) / 1024));
    return 0;
}
