/* elf.c - reads ELF files of 32 bits, little-endian; see elf.h. Every offset and count is checked against the file. */
#include "timing/elf.h"

#include "base/bytes.h"

#include <stdlib.h>

enum { HEADER = 52, PROGRAM = 32, SECTION = 40, SYMBOL = 16 };
enum { EXECUTABLE = 2, ARM = 40, RISCV = 243, LOAD = 1, SYMBOLS = 2, FUNCTION = 2 };

typedef struct reader {
    ac_ctx *cx;
    ac_place at;
    ac_span file;
    ac_elf *e;
} reader;

/* 0 outside of the file */
static uint32_t half(const reader *r, size_t at)
{
    uint16_t x = 0;
    ac_span_u16(r->file, at, &x);
    return x;
}

static uint32_t word(const reader *r, size_t at)
{
    uint32_t x = 0;
    ac_span_u32(r->file, at, &x);
    return x;
}

static int header(const reader *r)
{
    if (r->file.n < HEADER || !ac_span_starts(r->file, 0, "\177ELF", 4))
        return ac_error(r->cx, r->at, E0001, "not an ELF file");
    if (r->file.p[4] != 1 || r->file.p[5] != 1)
        return ac_error(r->cx, r->at, E0017, "not an ELF file of 32 bits, little-endian");
    const uint32_t machine = half(r, 18);
    if (machine != ARM && machine != RISCV)
        return ac_error(r->cx, r->at, E0017, "ELF machine %u, expected 40 (Arm) or 243 (RISC-V)", machine);
    r->e->riscv = machine == RISCV;
    if (half(r, 16) == EXECUTABLE)
        return AC_OK;
    ac_error(r->cx, r->at, E0017, "ELF type %u, expected 2 (a linked program)", half(r, 16));
    return ac_help(r->cx, "link the program: calls in an object have no addresses yet");
}

static int segments(const reader *r)
{
    const uint32_t at = word(r, 28), n = half(r, 44);
    if (n && (half(r, 42) != PROGRAM || !ac_span_has(r->file, at, (uint64_t)n * PROGRAM)))
        return ac_error(r->cx, r->at, E0011, "the program headers are outside of the file");
    for (uint32_t i = 0; i < n; i++) {
        const size_t h = at + i * PROGRAM;
        const ac_elf_segment s = {word(r, h + 8),  word(r, h + 4),      word(r, h + 16),
                                  word(r, h + 20), word(r, h + 24) & 2, word(r, h + 24) & 1};
        if (word(r, h) != LOAD || !s.all_bytes)
            continue;
        if (!ac_span_has(r->file, s.offset, s.bytes) || s.bytes > s.all_bytes || s.all_bytes > UINT32_MAX - s.at)
            return ac_error(r->cx, r->at, E0011, "segment %u is outside of the file or of memory", i);
        ac_push(r->cx->region, &r->e->segment, s);
    }
    return r->e->segment.n ? AC_OK : ac_error(r->cx, r->at, E0012, "no segment to load");
}

static int by_address(const void *a, const void *b)
{
    const ac_elf_symbol *x = a, *y = b;
    return x->at != y->at ? (x->at < y->at ? -1 : 1) : strcmp(x->name, y->name);
}

static int symbols_of(const reader *r, size_t h, size_t sections, uint32_t n_sections)
{
    const uint32_t at = word(r, h + 16), bytes = word(r, h + 20), link = word(r, h + 24);
    if (link >= n_sections || !ac_span_has(r->file, at, bytes))
        return ac_error(r->cx, r->at, E0011, "the table of symbols is outside of the file");
    const size_t names = sections + (size_t)link * SECTION;
    const uint32_t first = word(r, names + 16), length = word(r, names + 20);
    if (!ac_span_has(r->file, first, length) || !length || r->file.p[first + length - 1])
        return ac_error(r->cx, r->at, E0011, "the names of symbols are outside of the file");
    for (uint32_t k = 0; k + SYMBOL <= bytes; k += SYMBOL) {
        const uint32_t name = word(r, at + k), value = word(r, at + k + 4);
        if (name >= length)
            return ac_error(r->cx, r->at, E0013, "symbol %u has no name", k / SYMBOL);
        if ((r->file.p[at + k + 12] & 15) == FUNCTION && half(r, at + k + 14))
            ac_push(r->cx->region, &r->e->function,
                    ((ac_elf_symbol){value & ~1u, (const char *)r->file.p + first + name}));
    }
    return AC_OK;
}

static int symbols(const reader *r)
{
    const uint32_t at = word(r, 32), n = half(r, 48);
    if (n && (half(r, 46) != SECTION || !ac_span_has(r->file, at, (uint64_t)n * SECTION)))
        return ac_error(r->cx, r->at, E0011, "the section headers are outside of the file");
    for (uint32_t i = 0; i < n; i++)
        if (word(r, at + i * SECTION + 4) == SYMBOLS)
            AC_TRY(symbols_of(r, at + i * SECTION, at, n));
    if (r->e->function.n)
        qsort(r->e->function.item, (size_t)r->e->function.n, sizeof *r->e->function.item, by_address);
    return AC_OK;
}

int ac_elf_read(ac_ctx *cx, const char *path, const uint8_t *bytes, size_t n, ac_elf *out)
{
    const reader r = {cx, {.file = path}, {bytes, n}, out};
    *out = (ac_elf){.bytes = bytes};
    AC_TRY(header(&r));
    AC_TRY(segments(&r));
    return symbols(&r);
}

const ac_elf_symbol *ac_elf_function(const ac_elf *e, const char *name)
{
    for (int32_t i = 0; i < e->function.n; i++)
        if (!strcmp(e->function.item[i].name, name))
            return &e->function.item[i];
    return NULL;
}

const char *ac_elf_name_at(const ac_elf *e, uint32_t address)
{
    const char *name = "?";
    for (int32_t i = 0; i < e->function.n && e->function.item[i].at <= address; i++)
        name = e->function.item[i].name;
    return name;
}
