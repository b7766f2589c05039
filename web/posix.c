/* posix.c - the functions of the system that emscripten lacks: it has no processes, and another name for random
 * bytes. */
#include <errno.h>
#include <spawn.h>
#include <sys/random.h>
#include <unistd.h>

int posix_spawnp(pid_t *restrict pid, const char *restrict file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *restrict attributes, char *const argv[restrict], char *const env[restrict])
{
    (void)pid, (void)file, (void)actions, (void)attributes, (void)argv, (void)env;
    return ENOSYS;
}

ssize_t getrandom(void *to, size_t n, unsigned flags)
{
    (void)flags;
    return getentropy(to, n) ? -1 : (ssize_t)n;
}
