/* pb.c - reads protobuf messages in place, and checks every length. */
#include "import/wire/pb.h"

#include "base/format.h"

#include <string.h>

enum { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_GROUP, WIRE_END, WIRE_32 };
enum { MAX_DEPTH = 64, WORK_PER_BYTE = 64, WORK_FREE = 4096 };

/* One field as it is in the file. */
typedef struct field {
    uint32_t number, wire;
    uint64_t value; /* VARINT, 64, 32 */
    ac_span bytes;  /* BYTES */
} field;

void ac_pb_open(ac_pb *pb, ac_ctx *cx, const char *file, ac_span bytes)
{
    *pb = (ac_pb){.cx = cx, .file = file, .base = bytes.p};
    pb->work = WORK_FREE +
               (int64_t)((uint64_t)bytes.n > INT64_MAX / WORK_PER_BYTE / 2 ? INT64_MAX / WORK_PER_BYTE / 2 : bytes.n) *
                   WORK_PER_BYTE;
}

ac_place ac_pb_place(const ac_pb *pb, const void *at)
{
    const int64_t byte = (const uint8_t *)at - pb->base;
    if (!pb->lines)
        return (ac_place){.file = pb->file, .byte = 1 + byte};
    int32_t from = 0, to = pb->lines->n; /* the last part that begins at or before it */
    while (to - from > 1) {
        const int32_t middle = from + (to - from) / 2;
        if (pb->lines->item[middle].byte <= byte)
            from = middle;
        else
            to = middle;
    }
    if (from == to)
        return (ac_place){.file = pb->file};
    return (ac_place){.file = pb->file, .line = pb->lines->item[from].line, .col = pb->lines->item[from].col};
}

static bool fail(ac_pb *pb, const void *at, ac_code code, const char *what)
{
    if (!pb->failed)
        (void)ac_error(pb->cx, ac_pb_place(pb, at), code, "%s", what);
    pb->failed = true;
    return false;
}

bool ac_pb_spend(ac_pb *pb, int64_t steps)
{
    if (pb->failed)
        return false;
    pb->work -= steps;
    return pb->work >= 0 || fail(pb, pb->base, E0014, "reading the file takes far more steps than its size justifies");
}

bool ac_pb_enter(ac_pb *pb, const void *at)
{
    if (pb->failed)
        return false;
    if (pb->depth >= MAX_DEPTH)
        return fail(pb, at, E0014, "messages are nested more than 64 deep");
    pb->depth++;
    return true;
}

void ac_pb_leave(ac_pb *pb)
{
    pb->depth--;
}

/* A field of n bytes in a message that has only `left` more. */
static bool too_long(ac_pb *pb, ac_span m, const uint8_t *start, uint64_t n, uint64_t left)
{
    char text[160];
    const char *where = m.p == pb->base ? "the file looks cut off: a field says" : "a field says";
    ac_print(text, sizeof text, "%s that it has %llu bytes, and %llu are left in %s", where, (unsigned long long)n,
             (unsigned long long)left, m.p == pb->base ? "the file" : "the message it is in");
    return fail(pb, start, E0010, text);
}

/* Reads the field at *at and moves past it; groups come as their two ends. */
static bool take(ac_pb *pb, ac_span m, uint64_t *at, field *f)
{
    const uint8_t *start = m.p + *at;
    uint64_t tag, n;
    uint32_t low;
    if (!ac_pb_spend(pb, 1))
        return false;
    if (!ac_span_varint(m, at, &tag))
        return fail(pb, start, E0010, "a field ends in the middle of its number");
    f->wire = (uint32_t)(tag & 7);
    f->number = (uint32_t)(tag >> 3);
    if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
        return fail(pb, start, E0012, "field number 0 or above 2^29: this is not a protobuf message");
    switch (f->wire) {
    case WIRE_VARINT:
        return ac_span_varint(m, at, &f->value) || fail(pb, start, E0010, "a number is cut off");
    case WIRE_64:
        if (!ac_span_u64(m, *at, &f->value))
            return fail(pb, start, E0010, "a 64-bit number is cut off");
        *at += 8;
        return true;
    case WIRE_32:
        if (!ac_span_u32(m, *at, &low))
            return fail(pb, start, E0010, "a 32-bit number is cut off");
        f->value = low;
        *at += 4;
        return true;
    case WIRE_BYTES:
        if (!ac_span_varint(m, at, &n))
            return fail(pb, start, E0010, "the size of a field is cut off");
        if (!ac_span_sub(m, *at, n, &f->bytes))
            return too_long(pb, m, start, n, m.n - *at);
        *at += n;
        return true;
    case WIRE_GROUP:
    case WIRE_END:
        return true;
    default:
        return fail(pb, start, E0012, "wire type 6 or 7: this is not a protobuf message");
    }
}

/* The next field outside of unknown groups. */
static bool next(ac_pb *pb, ac_span m, uint64_t *at, field *f)
{
    int32_t open = 0;
    while (*at < m.n) {
        const uint8_t *start = m.p + *at;
        if (!take(pb, m, at, f))
            return false;
        open += f->wire == WIRE_GROUP;
        open -= f->wire == WIRE_END;
        if (open < 0 || open > MAX_DEPTH)
            return fail(pb, start, E0012, "groups do not match");
        if (!open && f->wire != WIRE_END)
            return true;
    }
    return open ? fail(pb, m.p + m.n, E0010, "a group is not closed") : false;
}

static void store(const ac_pb_field *row, const field *f, ac_span m, uint64_t from, void *into)
{
    void *to = (char *)into + row->offset;
    ac_pb_list *list = to;
    switch (row->kind) {
    case AC_PB_INT:
        if (f->wire == WIRE_VARINT)
            memcpy(to, &f->value, sizeof f->value);
        break;
    case AC_PB_F32: {
        const uint32_t bits = (uint32_t)f->value;
        if (f->wire == WIRE_32)
            memcpy(to, &bits, sizeof bits);
        break;
    }
    case AC_PB_BYTES:
        if (f->wire == WIRE_BYTES)
            memcpy(to, &f->bytes, sizeof f->bytes);
        break;
    case AC_PB_MANY:
    case AC_PB_NUMBERS:
        if (row->kind == AC_PB_MANY && f->wire != WIRE_BYTES)
            break; /* protobuf treats it as another field; and the list is limited to a number that can be walked */
        if (!list->n)
            *list = (ac_pb_list){{m.p + from, m.n - (size_t)from}, row->number, 0};
        list->n++;
        break;
    }
}

bool ac_pb_read(ac_pb *pb, ac_span message, const ac_pb_field *table, void *into)
{
    field f;
    uint64_t at = 0, from = 0;
    while (next(pb, message, &at, &f)) {
        for (const ac_pb_field *row = table; row->number; row++)
            if (row->number == f.number)
                store(row, &f, message, from, into);
        from = at;
    }
    return !pb->failed;
}

bool ac_pb_next(ac_pb *pb, ac_pb_list *list, ac_span *out)
{
    field f;
    uint64_t at = 0;
    while (list->n && next(pb, list->in, &at, &f)) {
        if (f.number != list->number)
            continue;
        list->n--;
        if (f.wire != WIRE_BYTES)
            continue;
        list->in = (ac_span){list->in.p + at, list->in.n - (size_t)at};
        *out = f.bytes;
        return true;
    }
    list->n = 0;
    return false;
}

const int64_t *ac_pb_ints(ac_pb *pb, ac_pb_list list, int64_t *n)
{
    field f;
    int64_t cap = 0;
    *n = 0;
    for (uint64_t at = 0, left = list.n; left && next(pb, list.in, &at, &f);)
        if (f.number == list.number) {
            cap += f.wire == WIRE_BYTES ? (int64_t)f.bytes.n : 1;
            left--;
        }
    if (!cap || !ac_pb_spend(pb, cap))
        return NULL;
    int64_t *out = AC_NEW_N(pb->cx->region, int64_t, cap);
    for (uint64_t at = 0, left = list.n; left && next(pb, list.in, &at, &f);) {
        if (f.number != list.number)
            continue;
        left--;
        if (f.wire == WIRE_VARINT)
            out[(*n)++] = (int64_t)f.value;
        uint64_t v;
        for (uint64_t k = 0; f.wire == WIRE_BYTES && k < f.bytes.n;) {
            if (!ac_span_varint(f.bytes, &k, &v)) {
                (void)fail(pb, f.bytes.p, E0010, "a list of numbers is cut off");
                return NULL;
            }
            out[(*n)++] = (int64_t)v;
        }
    }
    return pb->failed || !*n ? NULL : out;
}

const void *ac_pb_fixed(ac_pb *pb, ac_pb_list list, uint32_t width, int64_t *n)
{
    const uint32_t wire = width == 4 ? WIRE_32 : WIRE_64;
    field f;
    int64_t bytes = 0;
    const uint8_t *run = NULL;
    uint32_t runs = 0;
    *n = 0;
    for (uint64_t at = 0, left = list.n; left && next(pb, list.in, &at, &f);) {
        if (f.number != list.number)
            continue;
        left--;
        if (f.wire == WIRE_BYTES && f.bytes.n % width) {
            (void)fail(pb, f.bytes.p, E0012, "a list of numbers ends inside a number");
            return NULL;
        }
        bytes += f.wire == WIRE_BYTES ? (int64_t)f.bytes.n : f.wire == wire ? (int64_t)width : 0;
        run = f.wire == WIRE_BYTES ? f.bytes.p : NULL;
        runs++;
    }
    *n = bytes / width;
    if (pb->failed || !bytes || (runs == 1 && run))
        return pb->failed ? NULL : run;
    uint8_t *out = ac_alloc(pb->cx->region, (uint64_t)bytes), *to = out;
    for (uint64_t at = 0, left = list.n; left && next(pb, list.in, &at, &f);) {
        if (f.number != list.number)
            continue;
        left--;
        if (f.wire == WIRE_BYTES) {
            memcpy(to, f.bytes.p, f.bytes.n);
            to += f.bytes.n;
        } else if (f.wire == wire) {
            for (uint32_t k = 0; k < width; k++)
                *to++ = (uint8_t)(f.value >> (8 * k));
        }
    }
    return pb->failed ? NULL : out;
}

const char *ac_pb_name(ac_pb *pb, ac_span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < 0x20 || s.p[i] == 0x7f) {
            if (!pb->failed)
                ac_error(pb->cx, ac_pb_place(pb, s.p + i), E0012, "a name or text holds the control byte 0x%02x",
                         s.p[i]);
            pb->failed = true;
            return NULL;
        }
    if (!ac_pb_spend(pb, (int64_t)s.n / 16 + 1))
        return NULL;
    return ac_intern_n(pb->cx, (const char *)s.p, s.n);
}
