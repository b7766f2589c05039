/* hash.h - a quick hash of many bytes, to find equal ones: weights, whose bytes are compared after it.
 *
 *     uint64_t h = ac_bytes_hash(weights, n);
 *
 * The same on every machine of one byte order. Collisions can be constructed; siphash.h is for tables that must resist
 * that. Cost: about 8 bytes in a nanosecond. */
#ifndef AC_BASE_HASH_HASH_H
#define AC_BASE_HASH_HASH_H
#include <stddef.h>
#include <stdint.h>

uint64_t ac_bytes_hash(const void *bytes, size_t n);

#endif
