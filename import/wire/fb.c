/* fb.c - reads FlatBuffers in place, and checks every offset. */
#include "import/wire/fb.h"

#include <string.h>

/* A sound file is read in fewer steps than it has bytes; small ones may share a little. */
enum { WORK_PER_BYTE = 4, WORK_BASE = 65536 };

void ac_fb_open(ac_fb *fb, ac_ctx *cx, const char *file, ac_span bytes)
{
    *fb = (ac_fb){.cx = cx, .file = file, .bytes = bytes};
    fb->work = (uint64_t)bytes.n > INT64_MAX / 8 ? INT64_MAX : (int64_t)bytes.n * WORK_PER_BYTE + WORK_BASE;
}

ac_place ac_fb_place(const ac_fb *fb, uint64_t at)
{
    return (ac_place){.file = fb->file, .byte = at < INT64_MAX ? (int64_t)at + 1 : 0};
}

static bool past_end(ac_fb *fb, uint64_t from, const char *kind, const char *what, uint64_t to)
{
    if (!fb->failed) {
        fb->failed = true;
        ac_error(fb->cx, ac_fb_place(fb, from), E0011, "%s %s at 0x%llx reaches past the end (%s bytes)", kind, what,
                 (unsigned long long)to, ac_strf(fb->cx->region, "%llu", (unsigned long long)fb->bytes.n));
        ac_help(fb->cx, "the file is damaged or cut off; copy or export it again");
    }
    return false;
}

static bool malformed(ac_fb *fb, uint64_t at, const char *what, const char *rule)
{
    if (!fb->failed) {
        fb->failed = true;
        ac_error(fb->cx, ac_fb_place(fb, at), E0012, "%s %s", what, rule);
    }
    return false;
}

bool ac_fb_spend(ac_fb *fb, int64_t steps)
{
    if (fb->failed)
        return false;
    fb->work -= steps;
    if (fb->work >= 0)
        return true;
    fb->failed = true;
    ac_error(fb->cx, ac_fb_place(fb, 0), E0014,
             "the objects of this file refer to each other so often that reading them takes more steps than %llu bytes "
             "justify",
             (unsigned long long)fb->bytes.n);
    return false;
}

/* Table at `at`, referred to from byte `from`. A table starts with the distance back to its vtable; the vtable holds
 * its own size, the table's size, and an offset into the table for each field (0: omitted). */
static ac_fb_table table_at(ac_fb *fb, uint64_t from, uint64_t at, const char *what)
{
    ac_fb_table t = {.at = at, .what = what}, absent = {.what = what};
    int32_t back;
    if (!ac_fb_spend(fb, 1))
        return absent;
    if (!ac_span_i32(fb->bytes, at, &back)) {
        past_end(fb, from, "table", what, at);
        return absent;
    }
    int64_t vtable = (int64_t)at - back; /* at < size of the file, so no overflow */
    if (vtable < 0) {
        malformed(fb, at, what, "has its vtable before the start of the file");
        return absent;
    }
    if (!ac_span_u16(fb->bytes, (uint64_t)vtable, &t.n_vtable) || !ac_span_u16(fb->bytes, (uint64_t)vtable + 2, &t.n) ||
        !ac_span_has(fb->bytes, (uint64_t)vtable, t.n_vtable)) {
        past_end(fb, at, "vtable of table", what, (uint64_t)vtable);
        return absent;
    }
    t.vtable = (uint64_t)vtable;
    if (t.n_vtable < 4 || t.n_vtable % 2 || t.n < 4) {
        malformed(fb, t.vtable, what, "has a vtable of impossible size");
        return absent;
    }
    if (!ac_span_has(fb->bytes, at, t.n)) {
        past_end(fb, from, "table", what, at);
        return absent;
    }
    return t;
}

/* The target of the unsigned offset at `from`; 0 on failure. */
static uint64_t follow(ac_fb *fb, uint64_t from, const char *what)
{
    uint32_t offset;
    if (fb->failed)
        return 0;
    if (!ac_span_u32(fb->bytes, from, &offset)) {
        past_end(fb, from, "offset to", what, from);
        return 0;
    }
    if (!offset) {
        malformed(fb, from, what, "is referred to by an offset of 0");
        return 0;
    }
    return from + offset;
}

/* The position of a field of `width` bytes; 0: omitted, or the file is broken. */
static uint64_t field_at(ac_fb *fb, ac_fb_table t, int field, uint32_t width)
{
    uint16_t offset;
    uint32_t slot = 4 + 2 * (uint32_t)field;
    if (fb->failed || !t.at || slot + 2 > t.n_vtable || !ac_span_u16(fb->bytes, t.vtable + slot, &offset) || !offset)
        return 0;
    if (offset < 4 || (uint32_t)offset + width > t.n) {
        malformed(fb, t.vtable + slot, t.what, ac_strf(fb->cx->region, "has field %d outside of its bytes", field));
        return 0;
    }
    return t.at + offset;
}

ac_fb_table ac_fb_root(ac_fb *fb, const char *what)
{
    if (fb->bytes.n < 8) {
        fb->failed = true;
        ac_error(fb->cx, (ac_place){.file = fb->file}, E0010, "the file ends after %llu bytes, inside its header",
                 (unsigned long long)fb->bytes.n);
        return (ac_fb_table){.what = what};
    }
    uint64_t at = follow(fb, 0, what);
    return at ? table_at(fb, 0, at, what) : (ac_fb_table){.what = what};
}

bool ac_fb_has(ac_fb *fb, ac_fb_table t, int field)
{
    return field_at(fb, t, field, 1) != 0;
}

static uint32_t width_of(ac_fb_scalar type)
{
    return (uint32_t)(type < 0 ? -(int)type : (int)type);
}

static int64_t scalar_at(ac_fb *fb, uint64_t at, ac_fb_scalar type)
{
    uint32_t width = width_of(type);
    uint64_t v = 0;
    ac_span s;
    if (!ac_span_sub(fb->bytes, at, width, &s)) {
        past_end(fb, at, "value", "", at);
        return 0;
    }
    for (uint32_t i = width; i-- > 0;)
        v = v << 8 | s.p[i];
    if (type > 0)
        return v > INT64_MAX ? INT64_MAX : (int64_t)v;
    uint64_t sign = UINT64_C(1) << (8 * width - 1);
    return v & sign ? -(int64_t)(sign - (v & (sign - 1)) - 1) - 1 : (int64_t)v;
}

int64_t ac_fb_int(ac_fb *fb, ac_fb_table t, int field, ac_fb_scalar type, int64_t init)
{
    uint64_t at = field_at(fb, t, field, width_of(type));
    return at ? scalar_at(fb, at, type) : init;
}

float ac_fb_f32(ac_fb *fb, ac_fb_table t, int field, float init)
{
    uint64_t at = field_at(fb, t, field, 4);
    if (at)
        ac_span_f32(fb->bytes, at, &init);
    return init;
}

ac_fb_table ac_fb_child(ac_fb *fb, ac_fb_table t, int field, const char *what)
{
    uint64_t from = field_at(fb, t, field, 4), at = from ? follow(fb, from, what) : 0;
    return at ? table_at(fb, from, at, what) : (ac_fb_table){.what = what};
}

ac_fb_vec ac_fb_vector(ac_fb *fb, ac_fb_table t, int field, uint32_t width)
{
    ac_fb_vec none = {.width = width};
    uint64_t from = field_at(fb, t, field, 4);
    if (!from || !ac_fb_spend(fb, 1))
        return none;
    uint64_t at = follow(fb, from, "vector");
    if (!at)
        return none;
    ac_fb_vec v = {.at = at + 4, .width = width, .present = true};
    if (!ac_span_u32(fb->bytes, at, &v.n) || !ac_span_has(fb->bytes, v.at, (uint64_t)v.n * width)) {
        past_end(fb, from, "a vector of table", t.what, at);
        return none;
    }
    return v;
}

const char *ac_fb_string(ac_fb *fb, ac_fb_table t, int field)
{
    ac_fb_vec v = ac_fb_vector(fb, t, field, 1);
    if (!v.present || !ac_fb_spend(fb, v.n))
        return NULL;
    const char *s = (const char *)fb->bytes.p + v.at;
    for (uint32_t i = 0; i < v.n; i++) {
        if ((unsigned char)s[i] >= 0x20 && s[i] != 0x7f)
            continue;
        char *clean = ac_copy(fb->cx->region, s, v.n);
        for (uint32_t k = i; k < v.n; k++)
            if ((unsigned char)clean[k] < 0x20 || clean[k] == 0x7f)
                clean[k] = '_';
        return ac_intern_n(fb->cx, clean, v.n);
    }
    return ac_intern_n(fb->cx, s, v.n);
}

int64_t ac_fb_elem_int(ac_fb *fb, ac_fb_vec v, uint32_t i, ac_fb_scalar type)
{
    return i < v.n && width_of(type) <= v.width && ac_fb_spend(fb, 1)
               ? scalar_at(fb, v.at + (uint64_t)i * v.width, type)
               : 0;
}

float ac_fb_elem_f32(ac_fb *fb, ac_fb_vec v, uint32_t i)
{
    float x = 0;
    if (i < v.n && v.width == 4 && ac_fb_spend(fb, 1))
        ac_span_f32(fb->bytes, v.at + (uint64_t)i * 4, &x);
    return x;
}

ac_fb_table ac_fb_elem_table(ac_fb *fb, ac_fb_vec v, uint32_t i, const char *what)
{
    ac_fb_table absent = {.what = what};
    if (i >= v.n || v.width != 4)
        return absent;
    uint64_t from = v.at + (uint64_t)i * 4, at = follow(fb, from, what);
    return at ? table_at(fb, from, at, what) : absent;
}
