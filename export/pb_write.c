/* pb_write.c - writing the protobuf wire format. */
#include "export/pb_write.h"

#include <string.h>

static void varint(ac_sink *to, uint64_t v)
{
    for (; v > 127; v >>= 7)
        ac_putc(to, (char)((v & 127) | 128));
    ac_putc(to, (char)v);
}

static void key(ac_sink *to, int field, unsigned kind)
{
    varint(to, (uint64_t)field << 3 | kind);
}

void ac_pbw_int(ac_sink *to, int field, int64_t v)
{
    key(to, field, 0);
    varint(to, (uint64_t)v);
}

void ac_pbw_float(ac_sink *to, int field, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    key(to, field, 5);
    for (int i = 0; i < 4; i++)
        ac_putc(to, (char)(bits >> (8 * i) & 255));
}

void ac_pbw_bytes(ac_sink *to, int field, const void *p, size_t n)
{
    key(to, field, 2);
    varint(to, n);
    ac_put_n(to, p, n);
}

void ac_pbw_string(ac_sink *to, int field, const char *s)
{
    ac_pbw_bytes(to, field, s, strlen(s));
}

void ac_pbw_message(ac_sink *to, int field, const ac_sink *m)
{
    ac_pbw_bytes(to, field, m->text, m->n);
}
