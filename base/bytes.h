/* bytes.h - reads untrusted binary formats: every access gives its place and is checked against the end.
 *
 *     ac_span s = {file.data, file.n};
 *     uint32_t root;
 *     if (!ac_span_u32(s, 0, &root) || !ac_span_has(s, root, 4))
 *         return ac_error(...);
 *
 * Values are little-endian and may be at any address. Places are 64-bit, so that a sum of two offsets of the file
 * cannot wrap. Nothing is copied, nothing is allocated; a failed read leaves *out untouched. Cost O(1). */
#ifndef AC_BASE_BYTES_H
#define AC_BASE_BYTES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ac_span {
    const uint8_t *p;
    size_t n;
} ac_span;

bool ac_span_has(ac_span s, uint64_t at, uint64_t n);                    /* bytes at .. at+n-1 exist */
bool ac_span_sub(ac_span s, uint64_t at, uint64_t n, ac_span *out);      /* those bytes */
bool ac_span_starts(ac_span s, uint64_t at, const void *with, size_t n); /* those bytes equal `with` */

bool ac_span_u8(ac_span s, uint64_t at, uint8_t *out);
bool ac_span_u16(ac_span s, uint64_t at, uint16_t *out);
bool ac_span_u32(ac_span s, uint64_t at, uint32_t *out);
bool ac_span_u64(ac_span s, uint64_t at, uint64_t *out);
bool ac_span_i32(ac_span s, uint64_t at, int32_t *out);
bool ac_span_f32(ac_span s, uint64_t at, float *out);

/* A base-128 number of the protobuf wire format (at most 10 bytes); *at moves after it. */
bool ac_span_varint(ac_span s, uint64_t *at, uint64_t *out);

#endif
