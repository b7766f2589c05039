/* pb_write.h - fields of protobuf messages, appended to a sink.
 *
 *     ac_sink inner;
 *     ac_sink_open(&inner, cx);
 *     ac_pbw_int(&inner, 1, 7);
 *     ac_pbw_message(&outer, 2, &inner);      a message is complete before it goes into another
 *
 * Cost: each level copies the bytes again. Fields that equal their default are also written. */
#ifndef AC_EXPORT_PB_WRITE_H
#define AC_EXPORT_PB_WRITE_H
#include "base/sink.h"

void ac_pbw_int(ac_sink *to, int field, int64_t v);
void ac_pbw_float(ac_sink *to, int field, float v);
void ac_pbw_bytes(ac_sink *to, int field, const void *p, size_t n);
void ac_pbw_string(ac_sink *to, int field, const char *s);
void ac_pbw_message(ac_sink *to, int field, const ac_sink *m);

#endif
