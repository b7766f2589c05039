/* sha256.h - SHA-256 (FIPS 180-4), to name a model file in headers and reports. */
#ifndef AC_BASE_SHA256_H
#define AC_BASE_SHA256_H
#include <stddef.h>

void ac_sha256_hex(const void *data, size_t n, char hex[65]); /* lower case, NUL-terminated */

#endif
