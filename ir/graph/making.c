/* making.c - computes the bytes of constant tensors, permanently or temporarily. */
#include "base/file.h"
#include "base/large_pages.h"
#include "ir/graph/graph.h"

#include <string.h>

enum { REST = 16 << 20 }; /* bytes: the pages of the file that they were computed from may be released */

void ac_making_begin(ac_ctx *cx, ac_making *w)
{
    *w = (ac_making){.cx = cx, .room = ac_region_open(&cx->heap)};
}

void ac_making_forget(ac_making *w)
{
    while (w->forget.n) {
        const ac_making_undo *u = &w->forget.item[--w->forget.n];
        u->tensor->data = u->data;
        u->tensor->splat = u->splat;
    }
}

void ac_making_end(ac_making *w)
{
    ac_making_forget(w);
    ac_region_close(w->room);
    w->room = NULL;
}

void ac_making_again(ac_making *w, ac_bytes most)
{
    if (w->bytes <= most)
        return;
    ac_making_end(w);
    ac_making_begin(w->cx, w);
}

void *ac_making_room(ac_making *w, ac_bytes n)
{
    w->bytes += n;
    return ac_alloc_whole(w->room, (uint64_t)n + 1);
}

void *ac_making_tensor(ac_ctx *cx, ac_making *w, ac_tensor *t, ac_bytes n)
{
    if (!w || n < AC_MAKING_LARGE)
        return ac_alloc(cx->region, (uint64_t)n + 1);
    ac_push(cx->region, &w->forget, ((ac_making_undo){t, t->data, t->splat}));
    return t == w->wanted ? ac_alloc_whole(w->into, (uint64_t)n + 1) : ac_making_room(w, n);
}

bool ac_making_holds(const ac_making *w, const ac_tensor *t)
{
    for (int32_t i = w->forget.n - 1; i >= 0; i--)
        if (w->forget.item[i].tensor == t)
            return true;
    return false;
}

/* A splat constant as dense data. */
static void *dense_of_splat(ac_ctx *cx, ac_making *w, ac_tensor *t)
{
    const int64_t bytes = ac_tensor_bytes(t);
    const size_t size = (size_t)ac_dtype_size(t->dtype, 1);
    char *p = ac_making_tensor(cx, w, t, bytes + (int64_t)size);
    memcpy(p, t->data, size);
    for (int64_t i = (int64_t)size; i < bytes; i += (int64_t)size)
        memcpy(p + i, p, size);
    return p;
}

const void *ac_tensor_force_for(ac_ctx *cx, ac_making *w, ac_tensor *t)
{
    if (!ac_tensor_is_const(t))
        return NULL;
    const int64_t bytes = ac_tensor_bytes(t);
    if (!t->data && bytes == 0) /* its loops may not even have it as a buffer */
        t->data = ac_alloc(cx->region, 1);
    const bool made = !t->data;
    if (made && t->raw)
        t->data = memcpy(ac_making_tensor(cx, w, t, bytes), t->raw, (size_t)bytes);
    if (!t->data && t->lazy->make(cx, w, t->lazy, t) != AC_OK)
        return NULL;
    if (made && bytes >= REST)
        ac_files_rest(cx);
    if (!t->data && ac_tensor_count(t) == 0) /* loops that have nothing to write need not name it */
        t->data = ac_alloc(cx->region, 1);
    if (t->splat && t->data) {
        t->data = dense_of_splat(cx, w, t);
        t->splat = false;
    }
    return t->data;
}

const void *ac_tensor_force(ac_ctx *cx, ac_tensor *t)
{
    return ac_tensor_force_for(cx, NULL, t);
}
