/* sink.c - text that grows, and files that appear whole or not at all. */
/* realpath is XSI; stat, open and rename are POSIX. */
#define _XOPEN_SOURCE 700
#include "base/sink.h"
#include "base/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Building in memory. */

void ac_sink_open(ac_sink *s, ac_ctx *cx)
{
    *s = (ac_sink){.cx = cx};
}

static void grow(ac_sink *s, size_t cap)
{
    char *fresh = ac_alloc(s->cx->region, cap);
    if (s->n)
        memcpy(fresh, s->text, s->n);
    s->text = fresh;
    s->cap = cap;
}

static void reserve(ac_sink *s, size_t more)
{
    if (s->cap - s->n >= more)
        return;
    if (more > SIZE_MAX / 4 || s->n > SIZE_MAX / 4)
        ac_heap_give_up(&s->cx->heap);
    size_t cap = s->cap ? s->cap * 2 : 1024;
    while (cap - s->n < more)
        cap *= 2;
    grow(s, cap);
}

void ac_sink_room(ac_sink *s, size_t n)
{
    if (n > SIZE_MAX / 4 || s->n > SIZE_MAX / 4)
        ac_heap_give_up(&s->cx->heap);
    if (s->cap - s->n < n)
        grow(s, s->n + n);
}

char *ac_sink_end(ac_sink *s, size_t n)
{
    reserve(s, n);
    return s->text + s->n;
}

void ac_put_n(ac_sink *s, const void *bytes, size_t n)
{
    if (!n)
        return;
    reserve(s, n);
    memcpy(s->text + s->n, bytes, n);
    s->n += n;
}

void ac_put_int(ac_sink *s, int64_t v)
{
    char digits[20], *p = digits + sizeof digits;
    uint64_t rest = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do
        *--p = (char)('0' + rest % 10);
    while (rest /= 10);
    if (v < 0)
        *--p = '-';
    ac_put_n(s, p, (size_t)(digits + sizeof digits - p));
}

void ac_put(ac_sink *s, const char *text)
{
    ac_put_n(s, text, strlen(text));
}

void ac_putc(ac_sink *s, char c)
{
    ac_put_n(s, &c, 1);
}

void ac_putf(ac_sink *s, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    reserve(s, 128);
    int n = vsnprintf(s->text + s->n, s->cap - s->n, fmt, ap);
    if (n > 0 && (size_t)n >= s->cap - s->n) { /* did not fit: now the length is known */
        reserve(s, (size_t)n + 1);
        n = vsnprintf(s->text + s->n, s->cap - s->n, fmt, again);
    }
    if (n > 0)
        s->n += (size_t)n;
    va_end(again);
    va_end(ap);
}

const char *ac_commas(ac_ctx *cx, int64_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%lld", (long long)n), neg = n < 0;
    char *out = ac_alloc(cx->region, 32), *to = out;
    for (int i = 0; i < len; i++) {
        if (i > neg && (len - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    return out;
}

const char *ac_sink_text(ac_sink *s)
{
    reserve(s, 1);
    s->text[s->n] = 0;
    return s->text;
}

/* Committing. A path is one of three things: "-" (stdout), something that exists and is not a regular file (a device, a
 * fifo: written in place, because a rename would replace it), or a file, new or old (written beside it, then renamed).
 */

typedef struct staged {
    const char *path; /* what messages show */
    char *target;     /* what is renamed to: the end of a chain of symbolic links; NULL: not a file */
    char *temp;       /* exists on disk while not NULL */
    bool existed, special;
} staged;

static int refuse(ac_ctx *cx, const char *path, int why)
{
    ac_place at = {.file = strcmp(path, "-") ? ac_strdup(cx->region, path) : "stdout"};
    return ac_error(cx, at, E0302, "cannot write: %s", strerror(why));
}

/* All bytes or an errno. Short writes go on, EINTR is no error. */
static int write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t w = write(fd, p, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0)
            return w < 0 ? errno : EIO;
        p += w;
        n -= (size_t)w;
    }
    return 0;
}

/* Some file systems report a full disk only at close, so its result counts. */
static int write_and_close(int fd, const ac_sink *s)
{
    int why = write_all(fd, s->text, s->n);
    if (close(fd) && !why && errno != EINTR)
        why = errno;
    return why;
}

/* A new file in the target's folder, so that the rename never crosses a file system. Its name does not depend on the
 * target's: that may already be as long as the system allows. */
static int open_temp(ac_ctx *cx, staged *g, mode_t mode)
{
    const int dir = (int)(ac_path_name(g->target) - g->target);
    for (int i = 0; i < 10000; i++) {
        char *name = ac_strf(cx->region, "%.*s.arenac-%d.tmp", dir, g->target, i);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, mode);
        if (fd >= 0)
            g->temp = name;
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static int stage(ac_ctx *cx, staged *g, const ac_output *out)
{
    struct stat st;
    *g = (staged){.path = out->path};
    if (!strcmp(out->path, "-"))
        return AC_OK;
    mode_t mode = 0666;
    g->target = ac_strdup(cx->region, out->path);
    if (stat(out->path, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return refuse(cx, out->path, EISDIR);
        g->existed = true;
        g->special = !S_ISREG(st.st_mode);
        if (g->special)
            return AC_OK;
        if (access(out->path, W_OK)) /* a rename would not ask */
            return refuse(cx, out->path, errno);
        mode = st.st_mode & 0777;
        char *real = realpath(out->path, NULL);
        if (real)
            g->target = ac_strdup(cx->region, real);
        free(real);
    } else if (errno != ENOENT) {
        return refuse(cx, out->path, errno);
    }
    int fd = open_temp(cx, g, mode);
    if (fd < 0)
        return refuse(cx, out->path, errno);
    if (g->existed) {
        int ignored = fchmod(fd, mode); /* the umask may have taken bits the old file had; not worth failing for */
        (void)ignored;
    }
    int why = write_and_close(fd, out->sink);
    return why ? refuse(cx, out->path, why) : AC_OK;
}

/* What cannot be undone comes after every temporary was written and before any file appears. */
static int write_in_place(ac_ctx *cx, const staged *g, const ac_sink *s)
{
    int why = 0;
    if (g->special) {
        int fd = open(g->path, O_WRONLY);
        why = fd < 0 ? errno : write_and_close(fd, s);
    } else if (!g->target) {
        errno = 0;
        if ((s->n && fwrite(s->text, 1, s->n, stdout) != s->n) || fflush(stdout))
            why = errno ? errno : EIO;
    }
    return why ? refuse(cx, g->path, why) : AC_OK;
}

static int finish(ac_ctx *cx, staged *g, const ac_output *out, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        AC_TRY(stage(cx, &g[i], &out[i]));
    for (int pass = 0; pass < 2; pass++) /* devices first, stdout last */
        for (int32_t i = 0; i < n; i++)
            if (pass == (g[i].target == NULL))
                AC_TRY(write_in_place(cx, &g[i], out[i].sink));
    for (int32_t i = 0; i < n; i++) {
        if (!g[i].temp)
            continue;
        if (rename(g[i].temp, g[i].target)) {
            int why = errno;
            for (int32_t k = 0; k < i; k++) /* the new ones that already appeared */
                if (g[k].target && !g[k].existed)
                    unlink(g[k].target);
            return refuse(cx, g[i].path, why);
        }
        g[i].temp = NULL;
    }
    return AC_OK;
}

int ac_sink_commit_all(ac_ctx *cx, const ac_output *out, int32_t n)
{
    staged *g = AC_NEW_N(cx->region, staged, n);
    int rc = finish(cx, g, out, n);
    for (int32_t i = 0; i < n; i++)
        if (g[i].temp)
            unlink(g[i].temp);
    return rc;
}

int ac_sink_commit(ac_sink *s, const char *path)
{
    ac_output out = {s, path};
    return ac_sink_commit_all(s->cx, &out, 1);
}
