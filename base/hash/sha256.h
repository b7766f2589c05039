/* sha256.h - SHA-256 (FIPS 180-4), to name a model file in headers and reports.
 *
 *     ac_sha256 s = ac_sha256_open();
 *     ac_sha256_add(&s, first, n);           any number of pieces
 *     ac_sha256_close(&s, hex);
 *
 * Cost: about 2 bytes in a nanosecond where the processor has instructions for it, else a fifth of that. */
#ifndef AC_BASE_HASH_SHA256_H
#define AC_BASE_HASH_SHA256_H
#include <stddef.h>
#include <stdint.h>

typedef struct ac_sha256 {
    uint32_t h[8];
    uint64_t n;       /* bytes so far */
    uint8_t part[64]; /* the last n % 64 of them */
} ac_sha256;

ac_sha256 ac_sha256_open(void);
void ac_sha256_add(ac_sha256 *s, const void *data, size_t n);
void ac_sha256_close(ac_sha256 *s, char hex[65]);             /* lower case, NUL-terminated */
void ac_sha256_hex(const void *data, size_t n, char hex[65]); /* of one piece */

#endif
