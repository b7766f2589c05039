/* pb.h - reading protobuf messages in place from a file that may be hostile.
 *
 *     typedef struct dim { int64_t value; ac_span param; } dim;
 *     static const ac_pb_field DIM[] = {
 *         {1, AC_PB_INT, offsetof(dim, value)}, {2, AC_PB_BYTES, offsetof(dim, param)}, {0}};
 *     dim d = {.value = -1};                               omitted fields keep their value
 *     if (!ac_pb_read(&pb, message, DIM, &d))
 *         return AC_FAIL;                                  the diagnostic has been recorded
 *
 * A table lists the wanted fields; others are skipped, also unknown groups. If a singular field occurs several times,
 * the last one wins. A repeated field becomes an ac_pb_list, which remembers where it is and is walked later; packed
 * and unpacked numbers read the same. A field whose wire type does not suit its kind counts as unknown.
 *
 * The first broken rule records one diagnostic (E0010, E0012, E0014 with its byte) and sets `failed`; from then on
 * nothing is read. Every field and element costs work, and E0014 stops reading if the file's size does not justify it.
 * Callers count the nesting of messages with ac_pb_enter.
 *
 * Cost: ac_pb_read O(fields of that level), contents are stepped over. Memory: lists of numbers that are not one packed
 * run are copied into the context's region; nothing else is. */
#ifndef AC_IMPORT_WIRE_PB_H
#define AC_IMPORT_WIRE_PB_H
#include "base/bytes.h"
#include "base/ctx.h"

/* Bytes that were made from a text: the line and column that each part of them came from, in the order of the bytes. */
typedef struct ac_pb_line {
    int64_t byte;
    int32_t line, col;
} ac_pb_line;

typedef struct ac_pb_lines {
    const ac_pb_line *item;
    int32_t n;
} ac_pb_lines;

typedef struct ac_pb {
    ac_ctx *cx;
    const char *file;
    const uint8_t *base;      /* the position of byte 0 of the file, for messages */
    const ac_pb_lines *lines; /* messages name lines instead; NULL: bytes */
    int64_t work;             /* steps left */
    int32_t depth;            /* messages entered */
    bool failed;
} ac_pb;

typedef enum ac_pb_kind {
    AC_PB_INT,    /* varint -> int64_t */
    AC_PB_F32,    /* fixed32 -> float */
    AC_PB_BYTES,  /* string, bytes or message -> ac_span */
    AC_PB_MANY,   /* repeated strings, bytes or messages -> ac_pb_list */
    AC_PB_NUMBERS /* repeated numbers, packed or not -> ac_pb_list */
} ac_pb_kind;

typedef struct ac_pb_field {
    uint32_t number; /* 0 ends a table */
    ac_pb_kind kind;
    size_t offset;
} ac_pb_field;

typedef struct ac_pb_list {
    ac_span in;      /* the message from the first occurrence on */
    uint32_t number; /* the field; 0: it does not occur */
    uint32_t n;      /* occurrences; a packed run counts once */
} ac_pb_list;

void ac_pb_open(ac_pb *pb, ac_ctx *cx, const char *file, ac_span bytes);
ac_place ac_pb_place(const ac_pb *pb, const void *at);
bool ac_pb_spend(ac_pb *pb, int64_t steps); /* false: E0014, or failed before */
/* One level deeper; false: deeper than any sane model (E0014). Every success is matched by ac_pb_leave. */
bool ac_pb_enter(ac_pb *pb, const void *at);
void ac_pb_leave(ac_pb *pb);

/* A string as an interned name. NULL: it holds control bytes (reported), or reading has failed. */
const char *ac_pb_name(ac_pb *pb, ac_span s);

bool ac_pb_read(ac_pb *pb, ac_span message, const ac_pb_field *table, void *into);

/* The next string, bytes or message of a list; the list steps on. false: no more, or failed. */
bool ac_pb_next(ac_pb *pb, ac_pb_list *list, ac_span *out);
/* All numbers of a list; NULL when it is empty or reading failed. */
const int64_t *ac_pb_ints(ac_pb *pb, ac_pb_list list, int64_t *n);
/* All fixed32 (width 4) or fixed64 (width 8) numbers, little-endian, at any address; NULL as above. */
const void *ac_pb_fixed(ac_pb *pb, ac_pb_list list, uint32_t width, int64_t *n);

#endif
