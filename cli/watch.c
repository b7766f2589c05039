/* watch.c - plan --watch and --open: the files that the work reads, and the page that it writes.
 *
 * A file is looked at before the work, if it is known then, and after it, so that a change during the work counts. */
#include "cli/cli.h"

#include "base/sys/sys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 1024, PAUSE_MS = 200 };

typedef struct file {
    char *path; /* owned until the process ends */
    ac_sys_info is;
    bool there;
} file;

static file watched[FILES];
static int32_t n_watched;

static bool look(const char *path, ac_sys_info *is)
{
    memset(is, 0, sizeof *is);
    return ac_sys_info_of(path, is) == 0;
}

static bool same(const ac_sys_info *a, const ac_sys_info *b)
{
    return a->bytes == b->bytes && !memcmp(a->id, b->id, sizeof a->id);
}

static void add(const char *path)
{
    for (int32_t i = 0; i < n_watched; i++)
        if (!strcmp(watched[i].path, path))
            return;
    const size_t n = strlen(path) + 1;
    char *copy = n_watched < FILES ? malloc(n) : NULL;
    if (!copy)
        return;
    memcpy(copy, path, n);
    file *f = &watched[n_watched++];
    f->path = copy;
    f->there = look(copy, &f->is);
}

void ac_cli_remember(const ac_cli *cli)
{
    const char *path;
    for (int32_t i = 0; i < cli->n_files; i++)
        add(cli->file[i]);
    for (int32_t i = 0; (path = arenac_read_path(cli->a, i)) != NULL; i++)
        add(path);
}

/* Updates all files. True: one is different from before. */
static bool changed(void)
{
    bool any = false;
    for (int32_t i = 0; i < n_watched; i++) {
        file *f = &watched[i], now = *f;
        now.there = look(f->path, &now.is);
        any |= now.there != f->there || (now.there && !same(&now.is, &f->is));
        *f = now;
    }
    return any;
}

/* A program may still write to the file: waits until nothing changes for a while, and until the model exists. */
void ac_cli_wait(const ac_cli *cli)
{
    ac_sys_info is;
    while (!changed())
        ac_sys_sleep(PAUSE_MS);
    do
        ac_sys_sleep(PAUSE_MS);
    while (changed() || !look(cli->file[0], &is));
    if (ac_sys_moves_cursor() && ac_sys_is_terminal(1))
        fputs("\033[2J\033[H", stdout);
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

const char *ac_cli_page(const ac_cli *cli)
{
    const char *path;
    for (int32_t i = 0; (path = arenac_output_path(cli->a, i)) != NULL; i++)
        if (ends_with(path, ".html") || ends_with(path, ".svg"))
            return path;
    return NULL;
}

void ac_cli_show_page(const ac_cli *cli)
{
    const char *page = cli->page;
    if (!page) {
        fputs("arenac: warning: --open has no page to show; --emit html writes one\n", stderr);
        return;
    }
    const int status = ac_sys_show(page);
    if (status && status != AC_SYS_LATE)
        fprintf(stderr, "arenac: warning: no browser can be started (%s); open %s in one\n",
                status < 0 ? strerror(errno) : "xdg-open failed", page);
}
