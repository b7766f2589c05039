/* zip.h - reads ZIP archives of unknown origin, from memory: members stored or deflated, each with its CRC-32 checked.
 *
 *     ac_zip z;
 *     const char *wrong = ac_zip_open(cx->region, file, &z);               NULL: its directory is in order
 *     for (int32_t i = 0; i < z.member.n; i++)
 *         ... z.member.item[i].name, .n bytes ...
 *     wrong = ac_zip_read(cx->region, &z.member.item[i], &bytes, &crc);    NULL: intact
 *
 * Texts of faults are the end of a sentence "not a usable archive: ..". Refused: members that are outside of the
 * archive or share bytes, names that are absolute, empty, with "..", or with control bytes, two members of one name,
 * encrypted ones. Archives and members above 4 GiB (ZIP64) are read; those in several parts are not.
 *
 * Cost: O(members log members) to open, 3 ns a byte to read. Memory: the region; bytes of stored members stay in the
 * file. */
#ifndef AC_BASE_ZIP_ZIP_H
#define AC_BASE_ZIP_ZIP_H
#include "base/bytes.h"
#include "base/vec.h"

typedef struct ac_zip_member {
    const char *name;
    ac_span bytes; /* as they are in the archive */
    uint64_t n;    /* bytes when they are unpacked */
    uint32_t crc;
    uint16_t method;     /* 0: stored, 8: deflated */
    uint64_t begin, end; /* of header and bytes in the archive */
    bool read;           /* bytes are unpacked and intact */
} ac_zip_member;

typedef struct ac_zip {
    AC_VEC(ac_zip_member) member; /* in the order of the directory */
    int32_t *by_name;             /* numbers of members, in the order of their names */
} ac_zip;

const char *ac_zip_open(ac_region *region, ac_span file, ac_zip *out);
/* NULL: none of that name. */
ac_zip_member *ac_zip_find(const ac_zip *z, const char *name);
/* The member's bytes, unpacked. *found: of damaged bytes, their CRC-32; else that of the directory. */
const char *ac_zip_read(ac_region *region, ac_zip_member *m, ac_span *bytes, uint32_t *found);

#endif
