/* crc32.c - CRC-32, two look-ups of four bits for each byte; see crc32.h. */
#include "base/hash/crc32.h"

uint32_t ac_crc32(uint32_t sum, const void *bytes, size_t n)
{
    static const uint32_t OF[16] = {0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u,
                                    0x4db26158u, 0x5005713cu, 0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
                                    0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};
    const uint8_t *p = bytes;
    sum = ~sum;
    for (size_t i = 0; i < n; i++) {
        sum = sum >> 4 ^ OF[(sum ^ p[i]) & 15];
        sum = sum >> 4 ^ OF[(sum ^ p[i] >> 4) & 15];
    }
    return ~sum;
}
