/* siphash.h - a hash with a secret key: who does not know the key cannot make texts that collide.
 *
 *     uint64_t key[2];
 *     ac_random_key(key);                         another one in each process
 *     uint64_t h = ac_siphash(key, text, n);
 *
 * Only for tables in memory: nothing that is written may depend on it. Cost: 2 rounds for 8 bytes, 4 at the end.
 * Source of the method: Aumasson and Bernstein 2012, SipHash-2-4. */
#ifndef AC_BASE_HASH_SIPHASH_H
#define AC_BASE_HASH_SIPHASH_H
#include <stddef.h>
#include <stdint.h>

uint64_t ac_siphash(const uint64_t key[2], const void *text, size_t n);
void ac_random_key(uint64_t key[2]);

#endif
