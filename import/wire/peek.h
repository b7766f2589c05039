/* peek.h - recognises the format of a file from its first bytes. Nothing is reported and nothing allocated.
 *
 *     return ac_peek_text(s) && ac_peek_starts(ac_peek_word(s), "graph");
 *
 * Protobuf has no magic number, so the fields of its outermost message are used. Fields that a format does not have are
 * ignored: a newer schema may have them. A field that it has, but of another kind, excludes it:
 *
 *     ac_outline o = ac_peek_outline(s);
 *     return !o.broken && (o.messages & AC_FIELD(7)) && !(o.numbers & AC_FIELD(7)) && !(o.messages & AC_FIELD(1));
 *
 * Cost: inspects at most 64 KiB of text, or 4 million fields. */
#ifndef AC_IMPORT_WIRE_PEEK_H
#define AC_IMPORT_WIRE_PEEK_H
#include "base/bytes.h"

/* True if the first bytes contain no control characters except those of text. */
bool ac_peek_text(ac_span s);
bool ac_peek_contains(ac_span s, const char *word);
bool ac_peek_starts(ac_span s, const char *word);
/* From the first byte after blanks and # comments, which all text formats share. */
ac_span ac_peek_word(ac_span s);

/* Is it likely that a ZIP archive has a member with this in its name? */
bool ac_peek_member(ac_span s, const char *name);

#define AC_FIELD(k) (UINT64_C(1) << (k))

typedef struct ac_outline {
    uint64_t numbers, messages; /* AC_FIELD(k): field k occurs as a number, as a length-prefixed run of bytes; k < 64 */
    bool layer;                 /* field 100 occurs as a message (Caffe's layers) */
    bool high;                  /* a field from 200 on occurs (Core ML) */
    bool broken;                /* it is not protobuf */
    ac_span first, seventh;     /* content of the first field 1, 7 */
} ac_outline;
/* A field that reaches past the end still counts: truncated files are recognised as well. */
ac_outline ac_peek_outline(ac_span s);

#endif
