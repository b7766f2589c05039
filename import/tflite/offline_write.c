/* offline_write.c - writes a TFLite file with a plan in it. A FlatBuffer's offsets point forward only, so the new root
 * table, its list of buffers and its list of metadata come first; the old file follows unchanged (its own root becomes
 * unused; with a new order, the entries of its list of operators are permuted). */
#include "import/tflite/offline.h"

#include "base/vec.h"
#include "import/wire/fb.h"

#include <string.h>

enum { META_NAME, META_BUFFER };
enum { BUFFER_DATA, BUFFER_OFFSET };
enum { SUB_OPERATORS = 3, OP_LARGE_OFFSET = 9, WHOLE = 64 /* no object in a TFLite file needs more alignment */ };

/* The new bytes, built from the first to the last */
typedef struct front {
    ac_ctx *cx;
    AC_VEC(uint8_t) byte;
} front;

static void put16(front *w, uint32_t x)
{
    ac_push(w->cx->region, &w->byte, (uint8_t)(x & 0xff));
    ac_push(w->cx->region, &w->byte, (uint8_t)(x >> 8 & 0xff));
}

static void put32(front *w, uint32_t x)
{
    put16(w, x & 0xffff);
    put16(w, x >> 16);
}

static void pad(front *w, int32_t align, int32_t after) /* until `after` more bytes end at a multiple of align */
{
    while ((w->byte.n + after) % align)
        ac_push(w->cx->region, &w->byte, 0);
}

static uint32_t get32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void set32(uint8_t *p, uint64_t x)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(x >> 8 * i & 0xff);
}

/* Offsets to be filled in once the length of the front is known. */
typedef struct hole {
    int32_t at;
    uint64_t to;
    bool old;
} hole; /* old: `to` is a place in the old file */
typedef AC_VEC(hole) holes;

static void put_hole(front *w, holes *list, uint64_t to, bool old)
{
    hole h = {w->byte.n, to, old};
    ac_push(w->cx->region, list, h);
    put32(w, 0);
}

static int refuse(ac_ctx *cx, const ac_file *f, const char *why)
{
    return ac_error(cx, (ac_place){.file = f->path}, E0502, "this file cannot carry a plan: %s", why);
}

/* Places in the old file */
typedef struct old_model {
    ac_fb fb;
    ac_fb_table model;
    uint64_t field[AC_MODEL_FIELDS]; /* the target of the field; 0: omitted */
    ac_fb_vec buffers, meta;
    uint64_t *buffer, *kept_meta;
    int32_t n_kept;
} old_model;

static int read_old(ac_ctx *cx, const ac_file *f, old_model *o, bool reorder)
{
    ac_fb *fb = &o->fb;
    ac_fb_open(fb, cx, f->path, (ac_span){f->data, f->n});
    o->model = ac_fb_root(fb, "Model");
    for (int k = AC_MODEL_CODES; k < AC_MODEL_FIELDS; k++) {
        ac_fb_vec v = ac_fb_vector(fb, o->model, k, k == AC_MODEL_TEXT ? 1 : 4);
        o->field[k] = v.present ? v.at - 4 : 0;
    }
    for (int k = AC_MODEL_FIELDS; k < AC_MODEL_FIELDS + 8; k++)
        if (!fb->failed && ac_fb_has(fb, o->model, k))
            return refuse(cx, f, "its root has fields of a newer schema");
    o->buffers = ac_fb_vector(fb, o->model, AC_MODEL_BUFFERS, 4);
    o->meta = ac_fb_vector(fb, o->model, AC_MODEL_META, 4);
    o->buffer = AC_NEW_N(cx->region, uint64_t, (size_t)o->buffers.n + 1);
    o->kept_meta = AC_NEW_N(cx->region, uint64_t, (size_t)o->meta.n + 1);
    for (uint32_t i = 0; i < o->buffers.n && !fb->failed; i++) {
        ac_fb_table t = ac_fb_elem_table(fb, o->buffers, i, "Buffer");
        o->buffer[i] = t.at;
        if (!fb->failed && ac_fb_int(fb, t, BUFFER_OFFSET, AC_FB_U64, 0) > 1)
            return refuse(cx, f, "data follows the FlatBuffer");
    }
    for (uint32_t i = 0; i < o->meta.n && !fb->failed; i++) {
        ac_fb_table t = ac_fb_elem_table(fb, o->meta, i, "Metadata");
        const char *name = ac_fb_string(fb, t, META_NAME);
        if (reorder && name && !strcmp(name, "model_control_dependencies"))
            return refuse(cx, f, "its control dependencies number the operators; --schedule keep leaves them in order");
        if (!name || strcmp(name, AC_OFFLINE_NAME))
            o->kept_meta[o->n_kept++] = t.at;
    }
    return fb->failed ? AC_FAIL : AC_OK;
}

/* Root, lists, metadata entry and the plan itself. */
static void build_front(front *w, const old_model *o, const ac_offline *m, const ac_bytes *offset)
{
    static const char NAME[] = AC_OFFLINE_NAME;
    holes list = {0};
    enum { VTABLE = 4 + 2 * AC_MODEL_FIELDS, ROOT = 8 + VTABLE };
    put32(w, ROOT);
    put32(w, get32((const uint8_t *)"TFL3"));
    put16(w, VTABLE);
    put16(w, 4 + 4 * AC_MODEL_FIELDS);
    for (uint32_t k = 0; k < AC_MODEL_FIELDS; k++)
        put16(w, k == AC_MODEL_VERSION || k == AC_MODEL_BUFFERS || k == AC_MODEL_META || o->field[k] ? 4 + 4 * k : 0);
    put32(w, VTABLE); /* distance back to the vtable */
    put32(w, 3);
    int32_t slot[AC_MODEL_FIELDS] = {0};
    for (int32_t k = AC_MODEL_CODES; k < AC_MODEL_FIELDS; k++) {
        slot[k] = list.n;
        put_hole(w, &list, o->field[k], true);
    }
    list.item[slot[AC_MODEL_BUFFERS]] = (hole){list.item[slot[AC_MODEL_BUFFERS]].at, (uint64_t)w->byte.n, false};
    put32(w, o->buffers.n + 1);
    for (uint32_t i = 0; i < o->buffers.n; i++)
        put_hole(w, &list, o->buffer[i], true);
    const int32_t new_buffer = list.n;
    put_hole(w, &list, 0, false);
    list.item[slot[AC_MODEL_META]] = (hole){list.item[slot[AC_MODEL_META]].at, (uint64_t)w->byte.n, false};
    put32(w, (uint32_t)o->n_kept + 1);
    for (int32_t i = 0; i < o->n_kept; i++)
        put_hole(w, &list, o->kept_meta[i], true);
    put_hole(w, &list, (uint64_t)w->byte.n + 12, false); /* the table below, after this offset and its vtable */
    put16(w, 8), put16(w, 12), put16(w, 4), put16(w, 8);
    put32(w, 8);
    const int32_t name = list.n;
    put_hole(w, &list, 0, false);
    put32(w, o->buffers.n);
    list.item[name].to = (uint64_t)w->byte.n;
    put32(w, (uint32_t)sizeof NAME - 1);
    for (size_t i = 0; i < sizeof NAME; i++)
        ac_push(w->cx->region, &w->byte, (uint8_t)NAME[i]);
    pad(w, 4, 2); /* the next vtable has 6 bytes and its table starts at a multiple of 4 */
    put16(w, 6), put16(w, 8), put16(w, 4);
    list.item[new_buffer].to = (uint64_t)w->byte.n;
    put32(w, 6);
    const int32_t data = list.n;
    put_hole(w, &list, 0, false);
    pad(w, 16, 4); /* TFLM reads the numbers in place */
    list.item[data].to = (uint64_t)w->byte.n;
    put32(w, 4 * (3 + (uint32_t)m->n_all));
    put32(w, 1);
    put32(w, 0);
    put32(w, (uint32_t)m->n_all);
    for (int32_t i = 0; i < m->n_all; i++)
        put32(w, i < m->n_tensors && m->tensor[i].planned ? (uint32_t)offset[i] : UINT32_MAX);
    pad(w, WHOLE, 0);
    for (int32_t i = 0; i < list.n; i++) {
        const hole *h = &list.item[i];
        const uint64_t to = h->to + (h->old ? (uint64_t)w->byte.n : 0);
        set32(&w->byte.item[h->at], h->old && !h->to ? 0 : to - (uint64_t)h->at);
    }
}

/* Entries of the main subgraph's list of operators in their new order. */
static int reorder(ac_ctx *cx, const ac_file *f, old_model *o, const int32_t *order, uint8_t *copy)
{
    ac_fb_vec subs = ac_fb_vector(&o->fb, o->model, AC_MODEL_SUBGRAPHS, 4);
    ac_fb_table sub = ac_fb_elem_table(&o->fb, subs, 0, "SubGraph");
    ac_fb_vec ops = ac_fb_vector(&o->fb, sub, SUB_OPERATORS, 4);
    for (uint32_t i = 0; i < ops.n && !o->fb.failed; i++) {
        const uint64_t from = ops.at + 4 * (uint64_t)order[i], to = from + get32(f->data + from),
                       at = ops.at + 4 * (uint64_t)i;
        if (ac_fb_has(&o->fb, ac_fb_elem_table(&o->fb, ops, i, "Operator"), OP_LARGE_OFFSET))
            return refuse(cx, f, "options follow the FlatBuffer");
        if (to <= at)
            return refuse(cx, f, "an operator is stored before the list of operators");
        set32(copy + at, to - at);
    }
    return o->fb.failed ? AC_FAIL : AC_OK;
}

/* The written file must read back as intended, and differ nowhere else. */
static int read_back(ac_ctx *cx, const ac_file *f, const ac_offline *m, const ac_bytes *offset, const int32_t *order,
                     const ac_sink *made, size_t front_bytes)
{
    ac_file again = {.path = f->path, .data = (const uint8_t *)made->text, .n = made->n};
    ac_offline b;
    AC_TRY(ac_offline_read(cx, &again, &b));
    bool same = b.n_tensors == m->n_tensors && b.n_ops == m->n_ops && b.n_all == m->n_all && b.n_stored == m->n_all;
    for (int32_t i = 0; i < m->n_tensors && same; i++)
        same = b.tensor[i].name == m->tensor[i].name && b.tensor[i].bytes == m->tensor[i].bytes &&
               b.tensor[i].stored == (m->tensor[i].planned ? offset[i] : -1);
    for (int32_t i = 0; i < m->n_ops && same; i++) {
        const ac_offline_op *x = &m->op[order ? order[i] : i], *y = &b.op[i];
        same = x->name == y->name && x->n_in == y->n_in && x->n_out == y->n_out &&
               !memcmp(x->in, y->in, sizeof *x->in * (size_t)x->n_in) &&
               !memcmp(x->out, y->out, sizeof *x->out * (size_t)x->n_out);
    }
    same = same && (order || !memcmp(made->text + front_bytes, f->data, f->n));
    return same ? AC_OK
                : ac_error(cx, (ac_place){.file = f->path}, E0901, "the file with its plan does not round-trip");
}

int ac_offline_write(ac_ctx *cx, const ac_file *f, const ac_offline *m, const ac_bytes *offset, const int32_t *order,
                     ac_sink *to)
{
    old_model *o = AC_NEW(cx->region, old_model);
    AC_TRY(read_old(cx, f, o, order != NULL));
    if (!o->buffers.n)
        return refuse(cx, f, "it has no list of buffers");
    if (f->n > INT32_MAX - ((size_t)o->buffers.n + o->meta.n + (size_t)m->n_all) * 4 - 4096)
        return refuse(cx, f, "it would be larger than the 2 GiB a FlatBuffer may have");
    front w = {.cx = cx};
    build_front(&w, o, m, offset);
    ac_put_n(to, w.byte.item, (size_t)w.byte.n);
    uint8_t *copy = ac_copy(cx->region, f->data, f->n);
    if (order)
        AC_TRY(reorder(cx, f, o, order, copy));
    ac_put_n(to, copy, f->n);
    return read_back(cx, f, m, offset, order, to, (size_t)w.byte.n);
}
