/* Weights. As C text they are arrays of their own element type, right on machines of either byte order; many floats are
 * written as the words of their bits, which compilers read in half the time. As a blob they are one file: a header of
 * 64 bytes, then each constant at its alignment.
 *
 *     0   8   "arnblob" and a 0
 *     8   4   version, 1          12  4   bytes of the header, 64
 *     16  8   bytes of the blob   24  8   FNV-1a of everything behind the header
 *     32  32  0                   all numbers little-endian, as the constants are */
#include "codegen/c/emit.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static ac_bytes size_of(const ac_const *k)
{
    return ac_dtype_size(k->dtype, k->count);
}

int ac_emit_make_consts(const ac_module *m)
{
    for (int32_t i = 0; i < m->n_konst; i++)
        if (!ac_const_data(m->cx, m->konst[i]))
            return AC_FAIL;
    return AC_OK;
}

int32_t *ac_emit_twins(const ac_module *m, bool same_type)
{
    int32_t *twin = AC_NEW_N(m->cx->region, int32_t, m->n_konst + 1);
    for (int32_t i = 0; i < m->n_konst; i++) {
        const ac_const *k = m->konst[i];
        for (twin[i] = 0; twin[i] < i; twin[i]++) {
            const ac_const *o = m->konst[twin[i]];
            if (twin[twin[i]] != twin[i] || size_of(o) != size_of(k) || (same_type && o->dtype != k->dtype))
                continue;
            if (k == o || (k->source && k->source == o->source) ||
                (k->data && o->data && !memcmp(k->data, o->data, (size_t)size_of(k))))
                break;
        }
    }
    return twin;
}

void ac_module_layout_consts(const ac_module *m, ac_bytes *offset, ac_bytes *total)
{
    int32_t *twin = ac_emit_twins(m, false);
    ac_bytes at = E_BLOB_HEADER;
    for (int32_t i = 0; i < m->n_konst; i++) {
        if (twin[i] < i) {
            offset[i] = offset[twin[i]];
            continue;
        }
        int32_t align = 1;
        for (int32_t j = i; j < m->n_konst; j++)
            if (twin[j] == i && m->konst[j]->align > align)
                align = m->konst[j]->align;
        offset[i] = at = ac_align_up(at, align);
        at += size_of(m->konst[i]);
    }
    *total = at;
}

ac_bytes ac_module_const_bytes(const ac_module *m)
{
    ac_bytes *offset = AC_NEW_N(m->cx->region, ac_bytes, m->n_konst + 1), total;
    ac_module_layout_consts(m, offset, &total);
    return total - E_BLOB_HEADER;
}

ac_weights ac_module_weights(const ac_module *m)
{
    if (m->weights != AC_WEIGHTS_AUTO)
        return m->weights;
    return ac_module_const_bytes(m) > 1 << 20 ? AC_WEIGHTS_ASM : AC_WEIGHTS_RODATA;
}

/* C text. */

enum { READABLE_FLOATS = 256 };

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

static void put_element(ac_sink *to, const ac_const *k, int64_t i, bool words)
{
    ac_region *r = to->cx->region;
    const char *p = (const char *)k->data + i * (ac_dtype_bits(k->dtype) / 8);
    switch ((int)k->dtype) {
    case AC_F32:
        if (words) {
            uint32_t bits;
            memcpy(&bits, p, sizeof bits);
            ac_putf(to, "0x%" PRIx32, bits);
        } else {
            float v;
            memcpy(&v, p, sizeof v);
            ac_put(to, ac_c_float(r, v).text);
        }
        break;
    case AC_F64:
        if (words) {
            uint64_t bits;
            memcpy(&bits, p, sizeof bits);
            ac_putf(to, "0x%" PRIx64, bits);
        } else {
            double v;
            memcpy(&v, p, sizeof v);
            ac_put(to, ac_c_double(r, v).text);
        }
        break;
    case AC_F16:
    case AC_BF16: {
        uint16_t bits;
        memcpy(&bits, p, sizeof bits);
        ac_putf(to, "0x%x", bits);
        break;
    }
    case AC_U32:
        ac_putf(to, "%" PRIu32 "u", (uint32_t)ac_dtype_get_int(AC_U32, k->data, i));
        break;
    case AC_U64:
        ac_put(to, ac_c_uint64(r, (uint64_t)ac_dtype_get_int(AC_U64, k->data, i)).text);
        break;
    default:
        ac_put(to, ac_c_int(r, ac_dtype_get_int(k->dtype, k->data, i)).text);
    }
}

static void put_elements(ac_sink *to, const ac_const *k, bool words)
{
    size_t start = to->n;
    ac_put(to, "   ");
    for (int64_t i = 0; i < k->count; i++) {
        if (to->n - start > 105) {
            ac_put(to, "\n   ");
            start = to->n;
        }
        ac_putc(to, ' ');
        put_element(to, k, i, words);
        if (i + 1 < k->count)
            ac_putc(to, ',');
    }
    ac_putc(to, '\n');
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
    if (e->file.target->vec_bytes && k->align > 1)
        aligned = ac_strf(e->region, " __attribute__((aligned(%d)))", k->align);
    long long n = k->count > 0 ? (long long)k->count : 1;
    if (words) {
        const char *before = shared ? ac_strf(e->region, "union %s_both", name) : "union";
        ac_putf(to, "%s%sconst %s {\n    %s bits[%lld];\n    %s value[%lld];\n} %s%s%s", elsewhere ? "" : section,
                elsewhere ? "extern " : storage, before, k->dtype == AC_F64 ? "uint64_t" : "uint32_t", n, type, n, name,
                aligned, elsewhere ? ";\n\n" : " = {{\n");
        if (!elsewhere) {
            put_elements(to, k, true);
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
        put_elements(to, k, false);
    else
        ac_put(to, "    0\n");
    ac_put(to, "};\n\n");
}

/* What sharing needs to know of one module. */
typedef struct sharer {
    ac_module *m;
    int32_t *twin;
    bool text; /* its constants are C text */
} sharer;

/* The first module before `last` with the same bytes as constant k, and which constant it is there. */
static int32_t find_equal(const sharer *s, int32_t last, const ac_const *k, int32_t *index)
{
    for (int32_t a = 0; a < last; a++)
        for (int32_t i = 0; i < s[a].m->n_konst && s[a].text; i++) {
            const ac_const *o = s[a].m->konst[i];
            if (s[a].twin[i] == i && o->dtype == k->dtype && o->count == k->count &&
                !memcmp(o->data, k->data, (size_t)size_of(k))) {
                *index = i;
                return a;
            }
        }
    return -1;
}

int ac_module_share_consts(ac_module *const *m, int32_t n, ac_bytes *saved)
{
    enum { WORTH = 16 }; /* bytes */
    sharer *s = n ? AC_NEW_N(m[0]->cx->region, sharer, n) : NULL;
    *saved = 0;
    for (int32_t b = 0; b < n; b++) {
        m[b]->konst_name = AC_NEW_N(m[b]->cx->region, const char *, m[b]->n_konst + 1);
        m[b]->konst_extern = AC_NEW_N(m[b]->cx->region, bool, m[b]->n_konst + 1);
        AC_TRY(ac_emit_make_consts(m[b]));
        s[b] = (sharer){m[b], ac_emit_twins(m[b], true), ac_module_weights(m[b]) == AC_WEIGHTS_RODATA};
        for (int32_t i = 0; i < m[b]->n_konst && s[b].text; i++) {
            const ac_const *k = m[b]->konst[i];
            int32_t j = 0;
            const int32_t a = s[b].twin[i] < i || size_of(k) < WORTH ? -1 : find_equal(s, b, k, &j);
            if (a < 0)
                continue;
            if (!m[a]->konst_name[j])
                m[a]->konst_name[j] = ac_strf(m[a]->cx->region, "%s_shared_%d", m[a]->name, j);
            if (m[a]->konst[j]->align < k->align)
                m[a]->konst[j]->align = k->align;
            m[b]->konst_name[i] = m[a]->konst_name[j];
            m[b]->konst_extern[i] = true;
            *saved += size_of(k);
        }
    }
    return AC_OK;
}

/* The blob. */

static void put_le(uint8_t *to, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(v >> (8 * i));
}

int ac_emit_blob_header(const ac_module *m, uint8_t header[E_BLOB_HEADER], const uint8_t *bytes, ac_bytes total)
{
    (void)m;
    uint64_t h = UINT64_C(14695981039346656037);
    for (ac_bytes i = E_BLOB_HEADER; i < total; i++)
        h = (h ^ bytes[i]) * UINT64_C(1099511628211);
    memset(header, 0, E_BLOB_HEADER);
    memcpy(header, "arnblob", 7);
    put_le(header + 8, 1, 4);
    put_le(header + 12, E_BLOB_HEADER, 4);
    put_le(header + 16, (uint64_t)total, 8);
    put_le(header + 24, h, 8);
    return AC_OK;
}

int ac_emit_blob_bytes(const ac_module *m, uint8_t **bytes, ac_bytes *total)
{
    AC_TRY(ac_emit_make_consts(m));
    ac_bytes *offset = AC_NEW_N(m->cx->region, ac_bytes, m->n_konst + 1);
    ac_module_layout_consts(m, offset, total);
    *bytes = ac_alloc(m->cx->region, (size_t)*total);
    for (int32_t i = 0; i < m->n_konst; i++)
        if (size_of(m->konst[i]))
            memcpy(*bytes + offset[i], m->konst[i]->data, (size_t)size_of(m->konst[i]));
    return ac_emit_blob_header(m, *bytes, *bytes, *total);
}

int ac_emit_blob(ac_module *m, ac_sink *to)
{
    uint8_t *bytes;
    ac_bytes total;
    AC_TRY(ac_emit_blob_bytes(m, &bytes, &total));
    ac_put_n(to, bytes, (size_t)total);
    return AC_OK;
}

void ac_emit_asm(ac_emit *e)
{
    const char *p = e->m->name, *file = ac_c_string_text(e->region, ac_c_string_text(e->region, e->blob_name));
    const char *section = e->m->section_rodata ? ac_c_string_text(e->region, e->m->section_rodata)
                                               : ac_strf(e->region, ".rodata.%s_blob", p);
    ac_putf(e->to,
            "/* The weights: %s %lld bytes, beside this file or on the assembler's include path (-I). */\n"
            "#if defined(__APPLE__)\n"
            "__asm__(\".section __TEXT,__const\\n\"\n"
            "        \".private_extern _%s_blob\\n\"\n"
            "        \".p2align 6\\n\"\n"
            "        \"_%s_blob:\\n\"\n"
            "        \".incbin \\\"%s\\\"\\n\"\n"
            "        \".text\\n\");\n"
            "#else\n"
            "__asm__(\".pushsection %s,\\\"a\\\"\\n\"\n"
            "        \".globl %s_blob\\n\"\n"
            "        \".hidden %s_blob\\n\"\n"
            "        \".balign 64\\n\"\n"
            "        \"%s_blob:\\n\"\n"
            "        \".incbin \\\"%s\\\"\\n\"\n"
            "        \".popsection\\n\");\n"
            "#endif\n"
            "extern const uint8_t %s_blob[%lld];\n\n",
            ac_c_comment_text(e->region, e->blob_name), (long long)e->total, p, p, file, section, p, p, p, file, p,
            (long long)e->total);
}
