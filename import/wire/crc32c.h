/* crc32c.h - the checksum of TensorFlow's and LevelDB's files: CRC-32C (Castagnoli; reflected polynomial 0x82f63b78),
 * as RFC 3720 has it. Files hold it rotated and shifted ("masked"), since a checksum of bytes that hold checksums is
 * weak.
 *
 *     ac_crc32c c;                                          8 KiB of tables
 *     ac_crc32c_init(&c);
 *     uint32_t sum = ac_crc32c_of(&c, 0, bytes, n);         of "123456789": 0xe3069283
 *     sum = ac_crc32c_of(&c, sum, more, m);                 of both, one after the other
 *
 * Cost: eight bytes a step through eight tables ("slicing by 8": Kounavis and Berry 2005), 1 to 2 GB/s. */
#ifndef AC_IMPORT_WIRE_CRC32C_H
#define AC_IMPORT_WIRE_CRC32C_H
#include <stddef.h>
#include <stdint.h>

typedef struct ac_crc32c {
    uint32_t table[8][256]; /* table[k][b]: byte b with k bytes of 0 after it */
} ac_crc32c;

void ac_crc32c_init(ac_crc32c *c);
uint32_t ac_crc32c_of(const ac_crc32c *c, uint32_t sum, const uint8_t *p, size_t n);
uint32_t ac_crc32c_masked(uint32_t sum);

#endif
