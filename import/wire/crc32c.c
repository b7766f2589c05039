/* crc32c.c - CRC-32C by tables; see crc32c.h. */
#include "import/wire/crc32c.h"

void ac_crc32c_init(ac_crc32c *c)
{
    static const uint32_t POLYNOMIAL = 0x82f63b78u;
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t v = b;
        for (int bit = 0; bit < 8; bit++)
            v = v >> 1 ^ (v & 1 ? POLYNOMIAL : 0);
        c->table[0][b] = v;
    }
    for (int k = 1; k < 8; k++)
        for (uint32_t b = 0; b < 256; b++) {
            const uint32_t v = c->table[k - 1][b];
            c->table[k][b] = v >> 8 ^ c->table[0][v & 255];
        }
}

uint32_t ac_crc32c_of(const ac_crc32c *c, uint32_t sum, const uint8_t *p, size_t n)
{
    uint32_t v = ~sum;
    for (; n >= 8; n -= 8, p += 8) {
        v ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        v = c->table[7][v & 255] ^ c->table[6][v >> 8 & 255] ^ c->table[5][v >> 16 & 255] ^ c->table[4][v >> 24] ^
            c->table[3][p[4]] ^ c->table[2][p[5]] ^ c->table[1][p[6]] ^ c->table[0][p[7]];
    }
    for (; n; n--, p++)
        v = v >> 8 ^ c->table[0][(v ^ *p) & 255];
    return ~v;
}

uint32_t ac_crc32c_masked(uint32_t sum)
{
    return (sum >> 15 | sum << 17) + 0xa282ead8u;
}
