/* inflate.h - decompresses DEFLATE (RFC 1951), the method of zip and of numpy.savez_compressed.
 *
 *     const char *wrong = ac_inflate(from, to, n);         NULL: `to` has exactly n bytes
 *
 * A reader of foreign files: no access leaves `from` or `to`, whatever the bytes are. Returns the reason why the stream
 * is damaged. Cost: O(n). Memory: some kilobytes of the stack. */
#ifndef AC_BASE_ZIP_INFLATE_H
#define AC_BASE_ZIP_INFLATE_H
#include "base/bytes.h"

const char *ac_inflate(ac_span from, uint8_t *to, size_t n);

#endif
