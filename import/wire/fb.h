/* fb.h - reading FlatBuffers in place from a file that may be hostile.
 *
 *     ac_fb fb;
 *     ac_fb_open(&fb, cx, "m.tflite", span);
 *     ac_fb_table model = ac_fb_root(&fb, "Model");
 *     int64_t version = ac_fb_int(&fb, model, 0, AC_FB_U32, 0);      field 0, or its default
 *     ac_fb_vec subgraphs = ac_fb_vector(&fb, model, 2, 4);
 *     for (uint32_t i = 0; i < subgraphs.n && !fb.failed; i++)
 *         ac_fb_table g = ac_fb_elem_table(&fb, subgraphs, i, "SubGraph");
 *     if (fb.failed)
 *         return AC_FAIL;                                            the diagnostic has been recorded
 *
 * An omitted field reads as its default: tables as the absent table (at == 0), whose own fields all read as defaults,
 * vectors as empty. The first broken rule records one diagnostic (E0010..E0014 with its byte) and sets `failed`; from
 * then on everything reads as absent, so callers may test `failed` anywhere, at least once per loop. Alignment is not
 * assumed. Objects may be shared or cyclic in a hostile file: every table, element and string costs work, and E0014
 * stops reading if the file's size does not justify it.
 *
 * Cost: O(1) per access, O(length) for strings. Memory: none but interned strings. */
#ifndef AC_IMPORT_WIRE_FB_H
#define AC_IMPORT_WIRE_FB_H
#include "base/bytes.h"
#include "base/ctx.h"

typedef struct ac_fb {
    ac_ctx *cx;
    const char *file;
    ac_span bytes;
    int64_t work; /* steps left */
    bool failed;
} ac_fb;

typedef struct ac_fb_table {
    uint64_t at, vtable;  /* places in the file; at == 0: absent */
    uint16_t n_vtable, n; /* bytes of the vtable and of the table */
    const char *what;     /* for messages: "Tensor" */
} ac_fb_table;

typedef struct ac_fb_vec {
    uint64_t at;    /* place of the first element */
    uint32_t n;     /* elements */
    uint32_t width; /* bytes per element */
    bool present;   /* an empty vector is present, an omitted one is not */
} ac_fb_vec;

/* A scalar: its width in bytes, negative when signed. */
typedef enum ac_fb_scalar {
    AC_FB_U8 = 1,
    AC_FB_U16 = 2,
    AC_FB_U32 = 4,
    AC_FB_U64 = 8,
    AC_FB_I8 = -1,
    AC_FB_I16 = -2,
    AC_FB_I32 = -4,
    AC_FB_I64 = -8
} ac_fb_scalar;

void ac_fb_open(ac_fb *fb, ac_ctx *cx, const char *file, ac_span bytes);
ac_fb_table ac_fb_root(ac_fb *fb, const char *what);
bool ac_fb_spend(ac_fb *fb, int64_t steps); /* false: E0014, or failed before */
ac_place ac_fb_place(const ac_fb *fb, uint64_t at);

bool ac_fb_has(ac_fb *fb, ac_fb_table t, int field);
int64_t ac_fb_int(ac_fb *fb, ac_fb_table t, int field, ac_fb_scalar type, int64_t init); /* U64 above 2^63-1: 2^63-1 */
float ac_fb_f32(ac_fb *fb, ac_fb_table t, int field, float init);
ac_fb_table ac_fb_child(ac_fb *fb, ac_fb_table t, int field, const char *what);
ac_fb_vec ac_fb_vector(ac_fb *fb, ac_fb_table t, int field, uint32_t width);
const char *ac_fb_string(ac_fb *fb, ac_fb_table t, int field); /* interned, control bytes as '_'; NULL: absent */

/* i < v.n */
int64_t ac_fb_elem_int(ac_fb *fb, ac_fb_vec v, uint32_t i, ac_fb_scalar type);
float ac_fb_elem_f32(ac_fb *fb, ac_fb_vec v, uint32_t i);
ac_fb_table ac_fb_elem_table(ac_fb *fb, ac_fb_vec v, uint32_t i, const char *what); /* v has width 4 */

#endif
