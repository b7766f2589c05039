/* replay.c - reads and replays a certificate of code, call by call, and prints the verdict; see replay.h. */
#include "prove/replay/replay.h"

#include "prove/replay/check_code.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define leave(status) (fflush(stdout), _Exit(status))

static int status = 2; /* exit status of a refusal: 2 until the file has been read, then 1 */

void refuse(const char *format, ...)
{
    va_list ap;
    printf("REFUSED ");
    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
    putchar('\n');
    leave(status);
}

void *room(void *old, size_t n, size_t size)
{
    void *p = n > SIZE_MAX / 2 / size ? NULL : realloc(old, n * size + 1);
    if (!p)
        refuse("out of memory");
    return p;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t n = 0, got = 1;
    if (!file)
        refuse("cannot open %s", path);
    while (got) {
        text = room(text, n + 65536 + 1, 1);
        n += got = fread(text + n, 1, 65536, file);
    }
    if (ferror(file) || memchr(text, '\0', n))
        refuse("%s is not a text file", path);
    text[n] = '\0';
    fclose(file);
    return text;
}

/* ------------------------------------------------------------------ the verdict */

/* The reason why a certificate without calls, or without results, shows nothing; NULL: it has both. */
static const char *shows_nothing(const program *c)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < c->n_after; i++)
        bytes += c->after[i].bytes;
    return !c->n_calls ? "the certificate has no step" : !bytes ? "the certificate names no result" : NULL;
}

static void check_written(const program *c, const char *path)
{
    char hex[65];
    bool named = false;
    hash_file(path, hex);
    for (int32_t i = 0; i < c->n_written; i++)
        named |= !strcmp(hex, c->written[i]);
    if (!named)
        refuse("%s is not a file that was written with the certificate", path);
}

int check_code(const char *path, const char *written)
{
    enum { SHOWN = 0, REFUSED = 1, INCOMPLETE = 3 };
    program c = {0};
    int32_t open = 0;
    read_code(read_text(path), &c);
    status = REFUSED;
    if (written)
        check_written(&c, written);
    for (int32_t i = 0; i < c.n_before; i++) {
        const holding *h = &c.before[i];
        hold(&c.memory[h->memory], h->offset, h->bytes, h->tensor, h->begin);
        left_before(h->tensor);
    }
    for (int32_t i = 0; i < c.n_calls; i++) {
        replay_call(&c, i);
        open += c.call[i].open != NULL;
    }
    for (int32_t i = 0; i < c.n_after; i++)
        expect_held(&c, &c.after[i], c.n_calls);
    const char *nothing = shows_nothing(&c);
    const bool valid = !open && !nothing;
    printf("%s %d of %d steps: accesses %lld, arithmetic %lld, shifts %lld, loops %lld, written %lld\n",
           valid ? "VALID" : "INCOMPLETE", c.n_calls - open, c.n_calls, (long long)shown.accesses,
           (long long)shown.arithmetic, (long long)shown.shifts, (long long)shown.loops, (long long)shown.written);
    for (int32_t i = 0; i < c.n_calls; i++)
        if (c.call[i].open)
            printf("  not checked: %s\n", c.call[i].open);
    if (nothing)
        printf("  not checked: %s\n", nothing);
    return valid ? SHOWN : INCOMPLETE;
}
