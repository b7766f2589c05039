/* commit.c - writes files that appear whole or not at all; see sink.h. A path is one of three things: "-" (stdout), an
 * existing device or fifo (written in place, because a rename would replace it), or a file, new or old (written to a
 * temporary file in its folder, then renamed). */
#include "base/file.h"
#include "base/format.h"
#include "base/interrupt.h"
#include "base/sink.h"
#include "base/sys/sys.h"

#include <errno.h>
#include <string.h>

enum { LINKS = 40, TEMPS = 10000, TEMP_NAME = 24 };

typedef struct staged {
    const ac_sink *sink;
    const char *path;   /* the path for messages */
    const char *target; /* the target of the rename: the end of a chain of symbolic links; NULL: not a file */
    char *temp;         /* in the target's folder; renamed: the folder alone */
    unsigned mode;
    bool existed, special;
    bool made;     /* temp is on disk */
    bool appeared; /* a new file, renamed */
} staged;

typedef struct batch {
    staged *item;
    int32_t n;
    bool lasting;       /* outlives the tool: on disk before it is renamed */
    bool printed;       /* standard output got something, or should have */
    const char *failed; /* the path of what went wrong; `why` is its errno */
    int why;
} batch;

/* From the first file made to the last one renamed or removed nothing is allocated: running out of memory would leave
 * them. So failures are kept, and reported at the end. */
static int failed(batch *b, const staged *g, int why)
{
    b->failed = g->path;
    b->why = why;
    return AC_FAIL;
}

/* ------------------------------------------------------------------ targets */

/* Follows symbolic links to the file that is written; the links stay. NULL: the reason is in errno. */
static const char *follow(ac_ctx *cx, const char *path)
{
    char to[AC_SYS_PATH];
    for (int i = 0; i < LINKS; i++) {
        const int64_t n = ac_sys_link(path, to, sizeof to);
        if (n < 0)
            return path; /* no link, or nothing at all */
        if ((size_t)n == sizeof to) {
            errno = ENAMETOOLONG;
            return NULL;
        }
        const int dir = *to == '/' ? 0 : (int)(ac_path_name(path) - path);
        path = ac_strf(cx->region, "%.*s%.*s", dir, path, (int)n, to);
    }
    errno = ELOOP;
    return NULL;
}

static int prepare(ac_ctx *cx, batch *b, staged *g, const ac_output *out)
{
    ac_sys_info of;
    *g = (staged){.sink = out->sink, .path = out->path, .mode = 0666};
    if (!strcmp(out->path, "-"))
        return AC_OK;
    if (ac_sys_info_of(out->path, &of) == 0) {
        if (of.kind == AC_SYS_FOLDER)
            return failed(b, g, EISDIR);
        g->existed = true;
        g->special = of.kind == AC_SYS_SPECIAL;
        if (g->special)
            return AC_OK;
        if (!ac_sys_may_write(out->path)) /* a rename would not ask */
            return failed(b, g, errno);
        g->mode = of.mode;
    } else if (errno != ENOENT) {
        return failed(b, g, errno);
    }
    g->target = follow(cx, out->path);
    if (!g->target)
        return failed(b, g, errno);
    /* Its name does not depend on the target's: that may already be as long as the system allows. */
    const size_t dir = (size_t)(ac_path_name(g->target) - g->target);
    g->temp = ac_alloc(cx->region, dir + TEMP_NAME);
    memcpy(g->temp, g->target, dir);
    return AC_OK;
}

/* ------------------------------------------------------------------ writing */

static int write_sink(int fd, const ac_sink *s)
{
    int why = 0;
    for (int32_t i = 0; i <= 2 * s->lasting.n && !why; i++) {
        size_t n;
        const void *bytes = ac_sink_piece(s, i, &n);
        why = ac_sys_write_all(fd, bytes, n);
    }
    return why;
}

/* Some file systems report a full disk only at close, so its result counts. */
static int end_file(int fd, int why)
{
    const int later = ac_sys_close(fd);
    return why ? why : later;
}

/* A new file in the target's folder, so that the rename never crosses a file system. -1: the reason is in errno. */
static int open_temp(staged *g)
{
    const size_t dir = (size_t)(ac_path_name(g->target) - g->target);
    int fd = -1;
    ac_sys_held before;
    ac_sys_hold(&before);
    for (int i = 0; fd < 0 && i < TEMPS; i++) {
        ac_print(g->temp + dir, TEMP_NAME, ".arenac-%d.tmp", i);
        fd = ac_sys_open(g->temp, AC_SYS_CREATE, g->mode);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    g->made = fd >= 0;
    const int why = errno;
    ac_sys_release(&before);
    errno = why;
    return fd;
}

static int write_temp(batch *b, staged *g)
{
    const int fd = open_temp(g);
    if (fd < 0)
        return failed(b, g, errno);
    if (g->existed)
        ac_sys_set_mode(fd, g->mode); /* the umask may have taken bits the old file had; not worth failing for */
    int why = write_sink(fd, g->sink);
    if (!why && b->lasting)
        why = ac_sys_flush(fd);
    why = end_file(fd, why);
    return why ? failed(b, g, why) : AC_OK;
}

/* All outputs of the batch with this path, one after the other: a device or a fifo is opened once. */
static int write_special(batch *b, const staged *g)
{
    for (const staged *before = b->item; before < g; before++)
        if (before->special && !strcmp(before->path, g->path))
            return AC_OK;
    const int fd = ac_sys_open(g->path, AC_SYS_WRITE, 0);
    if (fd < 0)
        return failed(b, g, errno);
    int why = 0;
    for (const staged *s = g; !why && s < b->item + b->n; s++)
        if (s->special && !strcmp(s->path, g->path))
            why = write_sink(fd, s->sink);
    why = end_file(fd, why);
    return why ? failed(b, g, why) : AC_OK;
}

static bool print(const void *bytes, size_t n)
{
    return !n || fwrite(bytes, 1, n, stdout) == n;
}

static int write_stdout(batch *b, const staged *g)
{
    const ac_sink *s = g->sink;
    bool good = true;
    errno = 0;
    b->printed |= ac_sink_size(s) > 0;
    if (ac_sys_pipe_closed()) /* who reads has had enough; files are written all the same */
        return AC_OK;
    for (int32_t i = 0; i <= 2 * s->lasting.n && good; i++) {
        size_t n;
        const void *bytes = ac_sink_piece(s, i, &n);
        good = print(bytes, n);
    }
    if (!good || fflush(stdout))
        return ac_sys_pipe_closed() ? AC_OK : failed(b, g, errno ? errno : EIO);
    return AC_OK;
}

/* ------------------------------------------------------------------ appearing */

static void vanish(const batch *b)
{
    for (const staged *g = b->item; g < b->item + b->n; g++)
        if (g->appeared)
            ac_sys_remove(g->target);
}

/* Whole or not at all: no signal in between, and what appeared goes when another cannot. */
static int rename_all(batch *b)
{
    ac_sys_held before;
    int status = AC_OK;
    ac_sys_hold(&before);
    for (staged *g = b->item; status == AC_OK && g < b->item + b->n; g++) {
        if (!g->made)
            continue;
        if (ac_sys_rename(g->temp, g->target)) {
            status = failed(b, g, errno);
        } else {
            g->made = false;
            g->appeared = !g->existed;
        }
    }
    if (status != AC_OK)
        vanish(b);
    ac_sys_release(&before);
    return status;
}

/* The folder that a file is in; every one once. Its name is what the temporary's begins with. */
static int flush_folder(batch *b, const staged *g)
{
    const size_t dir = (size_t)(ac_path_name(g->target) - g->target);
    for (const staged *s = b->item; s < g; s++)
        if (s->target && (size_t)(ac_path_name(s->target) - s->target) == dir && !memcmp(s->target, g->target, dir))
            return AC_OK;
    g->temp[dir] = '\0';
    const int why = ac_sys_flush_folder(dir ? g->temp : ".");
    return why ? failed(b, g, why) : AC_OK;
}

/* Writes the outputs that cannot be undone, devices and then stdout, after all temporaries and before any file
 * appears. */
static int finish(batch *b)
{
    staged *const end = b->item + b->n;
    for (staged *g = b->item; g < end; g++)
        if (g->target)
            AC_TRY(write_temp(b, g));
    for (const staged *g = b->item; g < end; g++)
        if (g->special)
            AC_TRY(write_special(b, g));
    for (const staged *g = b->item; g < end; g++)
        if (!g->special && !g->target)
            AC_TRY(write_stdout(b, g));
    int status = rename_all(b);
    for (const staged *g = b->item; b->lasting && status == AC_OK && g < end; g++)
        if (g->target && (status = flush_folder(b, g)) != AC_OK)
            vanish(b);
    return status;
}

/* Also in a handler. */
static void remove_temps(void *arg)
{
    const batch *b = arg;
    for (const staged *g = b->item; g < b->item + b->n; g++)
        if (g->made)
            ac_sys_remove(g->temp);
}

/* Reports why the batch was not written: E0302. */
static int complain(ac_ctx *cx, const batch *b)
{
    const ac_place at = {.file = strcmp(b->failed, "-") ? ac_strdup(cx->region, b->failed) : "stdout"};
    const size_t n = (size_t)(ac_path_name(b->failed) - b->failed);
    const char *folder = n > 1 ? ac_strf(cx->region, "%.*s", (int)(n - 1), b->failed) : ".";
    ac_sys_info of;
    if (b->why != ENOENT || ac_sys_info_of(folder, &of) == 0)
        return ac_error(cx, at, E0302, "cannot write: %s", strerror(b->why));
    ac_error(cx, at, E0302, "cannot write: folder '%s' does not exist", folder);
    return ac_help(cx, "create it first: mkdir -p '%s'", folder);
}

static int commit(ac_ctx *cx, const ac_output *out, int32_t n, bool lasting)
{
    batch b = {.item = AC_NEW_N(cx->region, staged, n), .n = n, .lasting = lasting};
    ac_unfinished mine = {.undo = remove_temps, .arg = &b};
    int status = AC_OK;
    for (int32_t i = 0; status == AC_OK && i < n; i++)
        status = prepare(cx, &b, &b.item[i], &out[i]);
    if (status == AC_OK) {
        ac_unfinished_begin(&mine);
        status = finish(&b);
        remove_temps(&b);
        ac_unfinished_end(&mine);
    }
    cx->printed |= b.printed;
    return status == AC_OK ? AC_OK : complain(cx, &b);
}

int ac_sink_commit_all(ac_ctx *cx, const ac_output *out, int32_t n)
{
    return commit(cx, out, n, true);
}

int ac_sink_commit_scratch(ac_ctx *cx, const ac_output *out, int32_t n)
{
    return commit(cx, out, n, false);
}

int ac_sink_commit(ac_sink *s, const char *path)
{
    ac_output out = {s, path};
    return ac_sink_commit_all(s->cx, &out, 1);
}
