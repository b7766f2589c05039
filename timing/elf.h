/* elf.h - an ELF file of a microcontroller: segments, symbols, and checks of both.
 *
 *     ac_elf e;
 *     AC_TRY(ac_elf_read(cx, path, bytes, n, &e));          E0010 to E0013: cut, or inconsistent
 *     const ac_elf_symbol *s = ac_elf_function(&e, "kws_run");
 *     ac_elf_name_at(&e, address)                           of the function that has the address; "?"
 *
 * Names point into the bytes. Memory: the context's region. */
#ifndef AC_TIMING_ELF_H
#define AC_TIMING_ELF_H
#include "base/ctx.h"
#include "base/vec.h"

typedef struct ac_elf_segment {
    uint32_t at, offset, bytes, all_bytes; /* bytes: in the file; all_bytes: in memory */
    bool writable, code;
} ac_elf_segment;

typedef struct ac_elf_symbol {
    uint32_t at; /* without the bit of Thumb */
    const char *name;
} ac_elf_symbol;

typedef struct ac_elf {
    const uint8_t *bytes;
    bool riscv; /* else Arm */
    AC_VEC(ac_elf_segment) segment;
    AC_VEC(ac_elf_symbol) function; /* by address */
} ac_elf;

int ac_elf_read(ac_ctx *cx, const char *path, const uint8_t *bytes, size_t n, ac_elf *out);
const ac_elf_symbol *ac_elf_function(const ac_elf *e, const char *name);
const char *ac_elf_name_at(const ac_elf *e, uint32_t address);

#endif
