/* sink.h - the destination of text and bytes: built in memory first, then committed whole.
 *
 *     ac_sink s;
 *     ac_sink_open(&s, cx);
 *     ac_putf(&s, "arena %lld B\n", n);
 *     AC_TRY(ac_sink_commit(&s, "out.c"));       temporary file in its folder, flushed, then renamed; "-" is stdout
 *
 * A failed commit reports E0302 (with the reason of the operating system) and leaves neither a temporary nor a half
 * file; so does a signal that ends the tool. Files are on disk before they appear, their folders afterwards. A symbolic
 * link is followed, even to a missing file; a device or a fifo is written in place. Memory: grows in the context's
 * region. Several outputs of one command are committed together with ac_sink_commit_all: either all files appear or
 * none. */
#ifndef AC_BASE_SINK_H
#define AC_BASE_SINK_H
#include "base/ctx.h"
#include "base/vec.h"

/* Bytes of another owner that are written before byte `at` of the text. */
typedef struct ac_lasting {
    const void *bytes;
    size_t n, at;
} ac_lasting;

typedef struct ac_sink {
    ac_ctx *cx;
    char *text; /* not NUL-terminated until ac_sink_text */
    size_t n, cap;
    AC_VEC(ac_lasting) lasting; /* bytes that are not copied, by place */
} ac_sink;

void ac_sink_open(ac_sink *s, ac_ctx *cx);
void ac_sink_room(ac_sink *s, size_t n); /* memory for n more bytes now, instead of by doubling */
char *ac_sink_end(ac_sink *s, size_t n); /* where up to n bytes may be written; the writer adds their number to s->n */
void ac_put(ac_sink *s, const char *text);
void ac_put_n(ac_sink *s, const void *bytes, size_t n);
void ac_sink_insert(ac_sink *s, size_t at, const char *text); /* before byte `at` of the text */
/* Large bytes that stay where they are until the commit; only that sees them, `text` and `n` do not. */
void ac_put_lasting(ac_sink *s, const void *bytes, size_t n);
size_t ac_sink_size(const ac_sink *s); /* with those */
/* Piece i of all bytes, in order: 0 .. 2 * s->lasting.n. Pieces may be empty. */
const void *ac_sink_piece(const ac_sink *s, int32_t i, size_t *n);
void ac_putc(ac_sink *s, char c);
void ac_put_int(ac_sink *s, int64_t v); /* decimal; several times faster than ac_putf */
void ac_putf(ac_sink *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A size as people read it: "55,296". Writes into one of a few rotating buffers inside the sink's region. */
const char *ac_commas(ac_ctx *cx, int64_t n);
const char *ac_sink_text(ac_sink *s); /* NUL-terminated; valid until the next put */

typedef struct ac_output {
    ac_sink *sink;
    const char *path; /* "-": stdout, written after all files succeeded */
} ac_output;
int ac_sink_commit(ac_sink *s, const char *path);
int ac_sink_commit_all(ac_ctx *cx, const ac_output *out, int32_t n);
int ac_sink_commit_scratch(ac_ctx *cx, const ac_output *out, int32_t n); /* not flushed: they go with the tool */

#endif
