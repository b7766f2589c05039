/* arrays.c - prints constants in C: as arrays of their own element type, correct for both byte orders; or as a block
 * that the assembler includes. Many floats are written as the words of their bits, which compilers read in half the
 * time. NAME_check_weights: the CRC-32 of the weights, as the code has them in memory, against the one that they had
 * here. */
#include "codegen/c/emit.h"

#include "base/hash/crc32.h"

#include <inttypes.h>
#include <math.h>

enum { READABLE_FLOATS = 256, KEPT = 4096 /* texts of elements in memory at once */ };

static bool all_finite(const ac_const *k)
{
    for (int64_t i = 0; i < k->count; i++)
        if (!isfinite(ac_dtype_get_num(k->dtype, k->data, i)))
            return false;
    return true;
}

static bool as_words(const ac_const *k)
{
    return (k->dtype == AC_F32 || k->dtype == AC_F64) && (k->count > READABLE_FLOATS || !all_finite(k));
}

/* words: print floats as words; half floats always are. */
static void put_element(ac_sink *to, ac_region *r, const ac_const *k, int64_t i, bool words, bool strict)
{
    const ac_dtype d = k->dtype, u = ac_c_unsigned(ac_dtype_bits(d));
    if (words || ac_dtype_is_half(d))
        ac_putf(to, strict ? "0x%" PRIx64 "u" : "0x%" PRIx64, (uint64_t)ac_dtype_get_int(u, k->data, i));
    else if (d == AC_F32)
        ac_put(to, ac_c_float(r, (float)ac_dtype_get_num(d, k->data, i)).text);
    else if (d == AC_F64)
        ac_put(to, ac_c_double(r, ac_dtype_get_num(d, k->data, i)).text);
    else if (d == AC_U32)
        ac_put(to, ac_c_uint(r, (uint64_t)ac_dtype_get_int(d, k->data, i)).text);
    else if (d == AC_U64)
        ac_put(to, ac_c_uint64(r, (uint64_t)ac_dtype_get_int(d, k->data, i)).text);
    else
        ac_put(to, ac_c_int(r, ac_dtype_get_int(d, k->data, i)).text);
}

static void put_elements(ac_sink *to, const ac_const *k, bool words, bool strict)
{
    ac_heap *heap = ac_region_heap(to->cx->region);
    ac_region *texts = ac_region_open(heap);
    size_t start = to->n;
    ac_put(to, "   ");
    for (int64_t i = 0; i < k->count; i++) {
        if (i && i % KEPT == 0) {
            ac_region_close(texts);
            texts = ac_region_open(heap);
        }
        if (to->n - start > 105) {
            ac_put(to, "\n   ");
            start = to->n;
        }
        ac_putc(to, ' ');
        put_element(to, texts, k, i, words, strict);
        if (i + 1 < k->count)
            ac_putc(to, ',');
    }
    ac_putc(to, '\n');
    ac_region_close(texts);
}

void ac_emit_rodata(ac_emit *e, int32_t i, const char *name)
{
    const ac_const *k = e->m->konst[i];
    ac_sink *to = e->to;
    const bool shared = e->m->konst_name && e->m->konst_name[i] == name, elsewhere = shared && e->m->konst_extern[i];
    const char *storage = shared ? "" : "static ", *section = ac_strf(e->region, "%s_SECTION_RODATA ", e->file.upper);
    bool words = as_words(k);
    const char *type = ac_dtype_c(k->dtype);
    const char *aligned = "";
    const ac_target *t = e->file.target;
    const int32_t align = t->vec_bytes || !t->dsp || k->align < 4 ? k->align : 4; /* words */
    const bool by_words = t->dsp && !k->source && ac_dtype_size(k->dtype, 1) < 4;
    if ((t->vec_bytes || by_words) && align > 1)
        aligned = ac_strf(e->region, " __attribute__((aligned(%d)))", align);
    long long n = k->count > 0 ? (long long)k->count : 1;
    if (words) {
        const char *before = shared ? ac_strf(e->region, "union %s_both", name) : "union";
        ac_putf(to, "%s%sconst %s {\n    %s bits[%lld];\n    %s value[%lld];\n} %s%s%s", elsewhere ? "" : section,
                elsewhere ? "extern " : storage, before, k->dtype == AC_F64 ? "uint64_t" : "uint32_t", n, type, n, name,
                aligned, elsewhere ? ";\n\n" : " = {{\n");
        if (!elsewhere) {
            put_elements(to, k, true, ac_c_strict(&e->file));
            ac_put(to, "}};\n\n");
        }
        e->konst[i] = ac_strf(e->region, "%s.value", name);
        return;
    }
    e->konst[i] = name;
    if (shared) /* declared first: a definition that other files use needs one */
        ac_putf(to, "extern const %s %s[%lld];%s\n", type, name, n, elsewhere ? "\n" : "");
    if (elsewhere)
        return;
    ac_putf(to, "%s%sconst %s %s[%lld]%s = {\n", section, storage, type, name, n, aligned);
    if (k->count)
        put_elements(to, k, false, ac_c_strict(&e->file));
    else
        ac_put(to, "    0\n");
    ac_put(to, "};\n\n");
}

const char *ac_emit_blob_of(const ac_module *m)
{
    return m->block ? m->block->name : m->name;
}

void ac_emit_asm(ac_emit *e)
{
    const char *p = ac_emit_blob_of(e->m), *P = ac_c_upper(e->region, p);
    if (e->m->block_extern) {
        ac_putf(e->to, "/* The weights, with those of %s.c. */\nextern const uint8_t %s_blob[%lld];\n\n", p, p,
                (long long)e->total);
        return;
    }
    const char *file = e->blob_name ? ac_c_string_text(e->region, ac_c_string_text(e->region, e->blob_name)) : NULL;
    const char *section = e->m->section_rodata ? ac_c_string_text(e->region, e->m->section_rodata)
                                               : ac_strf(e->region, ".rodata.%s_blob", p);
    ac_putf(e->to,
            "/* The weights, %lld bytes: %s. */\n"
            "#ifndef %s_BLOB_FILE\n"
            "#define %s_BLOB_FILE %s%s%s\n"
            "#endif\n"
            "#if defined(__APPLE__)\n"
            "__asm__(\".section __TEXT,__const\\n\"\n"
            "        \".private_extern _%s_blob\\n\"\n"
            "        \".p2align 6\\n\"\n"
            "        \"_%s_blob:\\n\"\n"
            "        \".incbin \\\"\" %s_BLOB_FILE \"\\\"\\n\"\n"
            "        \".text\\n\");\n"
            "#else\n"
            "__asm__(\".pushsection %s,\\\"a\\\"\\n\"\n"
            "        \".globl %s_blob\\n\"\n"
            "        \".hidden %s_blob\\n\"\n"
            "        \".balign 64\\n\"\n"
            "        \"%s_blob:\\n\"\n"
            "        \".incbin \\\"\" %s_BLOB_FILE \"\\\"\\n\"\n"
            "        \".popsection\\n\");\n"
            "#endif\n"
            "extern const uint8_t %s_blob[%lld];\n\n",
            (long long)e->total,
            file ? ac_c_comment_text(e->region, e->blob_name)
                 : ac_strf(e->region, "beside this file, with its name and .bin; else -D%s_BLOB_FILE='\"PATH\"'", P),
            P, P, file ? "\"" : "__FILE__ \".bin\"", file ? file : "", file ? "\"" : "", p, p, P, section, p, p, p, P,
            p, (long long)e->total);
}

/* ------------------------------------------------------------------ NAME_check_weights */

static void put_sum(ac_emit *e)
{
    const char *p = e->m->name;
    ac_putf(e->to,
            "/* CRC-32 of ZIP, half a byte at a time; the first and the last value are inverted. */\n"
            "static uint32_t %s_crc32(uint32_t before, const uint8_t *at, size_t n)\n{\n"
            "    static const uint32_t of[16] = {\n"
            "        0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u, 0x4db26158u, "
            "0x5005713cu,\n"
            "        0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu, 0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, "
            "0xbdbdf21cu};\n"
            "    uint32_t sum = before;\n    size_t i;\n    for (i = 0; i < n; i++) {\n"
            "        sum ^= (uint32_t)at[i];\n        sum = (sum >> 4) ^ of[sum & 15u];\n"
            "        sum = (sum >> 4) ^ of[sum & 15u];\n    }\n    return sum;\n}\n\n",
            p);
}

static void put_array(ac_emit *e, const char *at, ac_bytes n)
{
    ac_putf(e->to, "    sum = %s_crc32(sum, (const uint8_t *)(const void *)%s, %lldu);\n", e->m->name, at,
            (long long)n);
}

/* Each array of the text once, in order. */
static uint32_t put_arrays(ac_emit *e)
{
    const ac_module *m = e->m;
    const int32_t *twin = ac_consts_twins(m, true);
    uint32_t sum = 0;
    for (int32_t i = 0; i < m->n_konst; i++)
        if (twin[i] == i && ac_const_bytes(m->konst[i])) {
            put_array(e, e->konst[i], ac_const_bytes(m->konst[i]));
            sum = ac_crc32(sum, m->konst[i]->data, (size_t)ac_const_bytes(m->konst[i]));
        }
    return sum;
}

int ac_emit_check_weights(ac_emit *e)
{
    const ac_module *m = e->m;
    const char *p = m->name, *U = e->file.upper;
    const bool rodata = e->weights == AC_WEIGHTS_RODATA;
    uint32_t sum = 0;
    if (!m->n_konst) {
        ac_putf(e->to, "int %s_check_weights(const %s_mem *m)\n{\n    (void)m;\n    return %s_OK;\n}\n\n", p, p, U);
        return AC_OK;
    }
    if (rodata)
        ac_put(e->to, "#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__\n"
                      "#error \"--check-weights expects little-endian weights\"\n#endif\n\n");
    put_sum(e);
    ac_putf(e->to, "int %s_check_weights(const %s_mem *m)\n{\n    uint32_t sum = 0xffffffffu;\n%s", p, p,
            e->weights == AC_WEIGHTS_BLOB ? "" : "    (void)m;\n");
    if (rodata) {
        sum = put_arrays(e);
    } else {
        put_array(e, e->weights == AC_WEIGHTS_BLOB ? "m->weights" : ac_strf(e->region, "%s_blob", ac_emit_blob_of(m)),
                  e->total);
        AC_TRY(ac_blob_crc32(m, &sum));
    }
    ac_putf(e->to, "    return (sum == 0x%08xu) ? (int)%s_OK : (int)%s_EWEIGHTS;\n}\n\n", ~sum, U, U);
    return AC_OK;
}
