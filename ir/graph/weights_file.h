/* weights_file.h - the file next to a text model that holds its large constants (docs/text-format.md).
 *
 *     arenac-weights 1 bytes 786560 sha256 5f0c...            one line, blanks up to byte 127, a line break
 *     constants, each at a multiple of 64, zeros between them, row-major and little-endian as in memory
 *
 * `bytes` is the size of the whole file, `sha256` the sum of everything after the header. The text names both, so
 * opening refuses a file that belongs to another text. The checksum itself is compared only when values are used
 * (ac_weights_verify), because a plan does not need to read them. Opening maps the file: nothing is copied.
 *
 *     ac_weights_start(&sink);                               writing
 *     offset = ac_weights_add(&sink, data, bytes);
 *     ac_weights_seal(&sink, sha256);
 *
 *     AC_TRY(ac_weights_open(cx, at, &file, bytes, sha256, &w));   reading: w->data lives as long as the context
 *     AC_TRY(ac_weights_verify(cx, w));
 *
 * Errors: E0301 the file cannot be read, E0016 it is not the one the text names. */
#ifndef AC_IR_GRAPH_WEIGHTS_FILE_H
#define AC_IR_GRAPH_WEIGHTS_FILE_H
#include "base/file.h"
#include "base/sink.h"

enum { AC_WEIGHTS_HEADER = 128, AC_WEIGHTS_ALIGN = 64 };

typedef struct ac_weights_file {
    const char *path;
    const uint8_t *data; /* from the header on, n bytes */
    int64_t n;
    const char *sha256;
} ac_weights_file;

void ac_weights_start(ac_sink *to, int64_t bytes);                    /* capacity for the header and about that many
                                                                       * bytes */
int64_t ac_weights_add(ac_sink *to, const void *data, int64_t bytes); /* where in the file they are */
void ac_weights_seal(ac_sink *to, char sha256[65]);

/* f: open; it is closed with the context. */
int ac_weights_open(ac_ctx *cx, ac_place at, const ac_file *f, int64_t bytes, const char *sha256,
                    ac_weights_file **out);
int ac_weights_verify(ac_ctx *cx, const ac_weights_file *w);

#endif
