/* appended.c - appends the constants to an object that LLVM has written without them.
 *
 *     ELF header | code, relocations, symbols, section headers     from LLVM; one section has a single byte
 *     padding | the block of constants (constants.h)               appended; that section begins here
 *
 * Code refers to the block by an undefined symbol. Afterwards the section header gets the offset and size of the block,
 * and the symbol that section. So constants are copied neither into LLVM's module nor through its writer, which takes
 * several times their memory. Format: System V ABI, chapter 4 (object files), 32 and 64 bits, little-endian. */
#include "codegen/llvm/ir.h"

#include <string.h>

enum { WORTH = 8 << 20, ALIGN = 64 }; /* bytes */

/* Offsets of fields, in files of 32 and of 64 bits. */
typedef struct layout {
    int32_t word;                               /* bytes of addresses, offsets and sizes */
    int32_t table, table_n, table_names;        /* of the header: section headers */
    int32_t section, offset, size, link, align; /* bytes of a section header; fields */
    int32_t symbol, value, extent, index;       /* bytes of a symbol; fields */
} layout;

static const layout OF_32 = {4, 0x20, 0x30, 0x32, 40, 16, 20, 24, 32, 16, 4, 8, 14},
                    OF_64 = {8, 0x28, 0x3C, 0x3E, 64, 24, 32, 40, 48, 24, 8, 16, 6};

typedef struct elf {
    uint8_t *bytes;
    uint64_t n;
    const layout *l;
    uint64_t sections, n_sections; /* offset of the table; entries */
} elf;

static uint64_t get(const elf *e, uint64_t at, int32_t bytes)
{
    uint64_t v = 0;
    for (int32_t i = 0; i < bytes && at + (uint64_t)i < e->n; i++)
        v |= (uint64_t)e->bytes[at + (uint64_t)i] << 8 * i;
    return v;
}

static void put(elf *e, uint64_t at, int32_t bytes, uint64_t v)
{
    for (int32_t i = 0; i < bytes && at + (uint64_t)i < e->n; i++)
        e->bytes[at + (uint64_t)i] = (uint8_t)(v >> 8 * i);
}

static uint64_t section(const elf *e, uint64_t i)
{
    return e->sections + i * (uint64_t)e->l->section;
}

static bool named(const elf *e, uint64_t strings, uint64_t name, const char *text)
{
    const uint64_t at = get(e, section(e, strings) + (uint64_t)e->l->offset, e->l->word) + name;
    const size_t n = strlen(text) + 1;
    return at + n <= e->n && !memcmp(e->bytes + at, text, n);
}

static bool open_elf(elf *e)
{
    if (e->n < 64 || memcmp(e->bytes, "\177ELF", 4) != 0 || e->bytes[5] != 1)
        return false;
    e->l = e->bytes[4] == 2 ? &OF_64 : &OF_32;
    e->sections = get(e, (uint64_t)e->l->table, e->l->word);
    e->n_sections = get(e, (uint64_t)e->l->table_n, 2);
    return e->n_sections > 0 && e->sections + e->n_sections * (uint64_t)e->l->section <= e->n;
}

/* The number of the section with this name; 0: none. */
static uint64_t find_section(const elf *e, const char *name)
{
    const uint64_t names = get(e, (uint64_t)e->l->table_names, 2);
    uint64_t found = 0;
    for (uint64_t i = 1; i < e->n_sections && !found; i++)
        found = named(e, names, get(e, section(e, i), 4), name) ? i : 0;
    return found;
}

/* Defines the symbol: the first `size` bytes of section `in`. Objects that do not use the symbol do not have it. */
static void define(elf *e, const char *name, uint64_t in, uint64_t size)
{
    const uint64_t table = find_section(e, ".symtab"), at = section(e, table);
    const uint64_t from = get(e, at + (uint64_t)e->l->offset, e->l->word),
                   n = get(e, at + (uint64_t)e->l->size, e->l->word) / (uint64_t)e->l->symbol;
    const uint64_t strings = get(e, at + (uint64_t)e->l->link, 4);
    for (uint64_t i = 1; i < n && table; i++) {
        const uint64_t s = from + i * (uint64_t)e->l->symbol;
        if (!named(e, strings, get(e, s, 4), name))
            continue;
        put(e, s + (uint64_t)e->l->index, 2, in);
        put(e, s + (uint64_t)e->l->value, e->l->word, 0);
        put(e, s + (uint64_t)e->l->extent, e->l->word, size);
    }
}

static const char *section_name(const l_module *M)
{
    return ac_strf(M->region, ".rodata.%s_constants", M->m->name);
}

static const char *symbol_name(const l_module *M)
{
    return ac_strf(M->region, "%s_constants", M->m->name);
}

bool l_appends(const l_module *M, const char *kind)
{
    const ac_module *m = M->m;
    const char *triple = LLVMGetTarget(M->mod);
    const bool is_elf =
        !strstr(triple, "wasm") && !strstr(triple, "windows") && !strstr(triple, "darwin") && !strstr(triple, "apple");
    return is_elf && !strcmp(kind, "o") && M->weights == AC_WEIGHTS_RODATA && !m->konst_name && !m->section_rodata &&
           !m->host && ac_consts_bytes(m) >= WORTH;
}

void l_appended_constants(l_module *M)
{
    const ac_module *m = M->m;
    LLVMTypeRef byte = M->i8;
    M->offset = AC_NEW_N(M->region, ac_bytes, m->n_konst + 1);
    ac_consts_layout(m, M->offset, &M->total);
    LLVMValueRef block = LLVMAddGlobal(M->mod, LLVMArrayType2(byte, (uint64_t)M->total), symbol_name(M));
    LLVMSetGlobalConstant(block, true);
    LLVMSetAlignment(block, ALIGN);
    LLVMSetVisibility(block, LLVMHiddenVisibility);
    for (int32_t i = 0; i < m->n_konst; i++) {
        LLVMValueRef at = LLVMConstInt(M->i64, (uint64_t)M->offset[i], false);
        M->konst[i] = LLVMConstInBoundsGEP2(byte, block, &at, 1);
    }
    LLVMValueRef place = LLVMAddGlobal(M->mod, byte, ac_strf(M->region, "%s_constants_begin", m->name));
    LLVMSetInitializer(place, LLVMConstInt(byte, 0, false));
    LLVMSetGlobalConstant(place, true);
    LLVMSetLinkage(place, LLVMInternalLinkage);
    LLVMSetSection(place, section_name(M));
    LLVMValueRef used = LLVMAddGlobal(M->mod, LLVMArrayType2(M->ptr, 1), "llvm.compiler.used"); /* keeps it */
    LLVMSetInitializer(used, LLVMConstArray2(M->ptr, &place, 1));
    LLVMSetLinkage(used, LLVMAppendingLinkage);
    LLVMSetSection(used, "llvm.metadata");
}

int l_append(l_module *M, const void *object, size_t n, ac_sink *to)
{
    static const uint8_t none[ALIGN];
    elf e = {ac_copy(M->region, object, n), n, NULL, 0, 0};
    const uint64_t begin = (n + ALIGN - 1) / ALIGN * ALIGN, in = open_elf(&e) ? find_section(&e, section_name(M)) : 0;
    if (!in || (e.l->word == 4 && begin + (uint64_t)M->total > UINT32_MAX))
        return ac_error(M->cx, (ac_place){0}, E0901, "LLVM: the object has no place for its constants");
    put(&e, section(&e, in) + (uint64_t)e.l->offset, e.l->word, begin);
    put(&e, section(&e, in) + (uint64_t)e.l->size, e.l->word, (uint64_t)M->total);
    put(&e, section(&e, in) + (uint64_t)e.l->align, e.l->word, ALIGN);
    define(&e, symbol_name(M), in, (uint64_t)M->total);
    ac_put_n(to, e.bytes, n);
    ac_put_n(to, none, begin - n);
    return ac_blob_write(M->m, to);
}
