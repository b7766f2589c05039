/* custom.c - loads and calls functions of the user; see custom.h. */
#include "host/custom.h"

#include "base/plugin.h"
#include "base/sys/sys.h"
#include "ir/loop/extern.h"
#include "ir/ops/custom.h"

#include <string.h>

static const arn_custom_tensor *tensors(ac_region *r, const ac_extern_tensor *t, int32_t n)
{
    arn_custom_tensor *list = AC_NEW_N(r, arn_custom_tensor, n + 1);
    for (int32_t i = 0; i < n; i++, t++)
        list[i] = (arn_custom_tensor){.dtype = (int32_t)t->dtype,
                                      .rank = t->rank,
                                      .count = t->count,
                                      .dim = t->rank ? t->dim : NULL,
                                      .n_quant = t->n_quant,
                                      .axis = t->axis,
                                      .scale = t->scale,
                                      .zero = t->zero};
    return list;
}

/* The same that codegen/c/custom_call.c prints. */
static const arn_custom *node_of(ac_region *r, const ac_extern *e)
{
    arn_custom *node = AC_NEW(r, arn_custom);
    arn_custom_attr *attr = AC_NEW_N(r, arn_custom_attr, e->n_attr + 1);
    for (int32_t i = 0; i < e->n_attr; i++) {
        const ac_extern_attr *a = &e->attr[i];
        attr[i] = (arn_custom_attr){a->n, a->n ? a->i : NULL, a->n ? a->f : NULL, a->text};
    }
    *node = (arn_custom){.n_in = e->n_in,
                         .n_out = e->n_out,
                         .n_attr = e->n_attr,
                         .in = tensors(r, e->in, e->n_in),
                         .out = tensors(r, e->out, e->n_out),
                         .attr = e->n_attr ? attr : NULL,
                         .options = e->n_options ? e->options : NULL,
                         .n_options = e->n_options,
                         .scratch_bytes = e->scratch_bytes};
    return node;
}

static int open_one(const ac_module *m, const ac_extern *e, ac_custom_call *c)
{
    ac_ctx *cx = m->cx;
    const ac_place at = {.file = e->defined};
    if (!e->library) {
        ac_error(cx, at, E0305, "no library is given for function '%s' of custom operator '%s'", e->function, e->name);
        return ac_help(cx, "add a row 'library FILE.so' before 'operator %s'; cc -shared -fPIC makes such a file",
                       e->name);
    }
    c->library = ac_library_share(cx, e->library);
    if (!c->library)
        return ac_error(cx, at, E0305, "cannot load the library of custom operator '%s': %s", e->name,
                        ac_sys_library_why());
    void *run = ac_sys_symbol(c->library, e->function);
    memcpy(&c->run, &run, sizeof run);
    if (!run)
        return ac_error(cx, at, E0305, "library '%s' has no function '%s', which computes custom operator '%s'",
                        e->library, e->function, e->name);
    c->node = node_of(cx->region, e);
    return AC_OK;
}

int ac_customs_open(const ac_module *m, ac_custom_calls *c)
{
    *c = (ac_custom_calls){.module = m, .call = AC_NEW_N(m->cx->region, ac_custom_call, m->n_fn + 1)};
    for (int32_t i = 0; i < m->n_fn; i++)
        if (m->fn[i]->call)
            AC_TRY(open_one(m, m->fn[i]->call, &c->call[i]));
    return AC_OK;
}

bool ac_custom_is_call(const ac_custom_calls *c, int32_t fn)
{
    return c->call && c->call[fn].run;
}

static void *address(void *const *arg, int32_t buf)
{
    return buf < 0 ? NULL : arg[buf];
}

void ac_custom_run(const ac_custom_calls *c, int32_t fn, void *const *arg)
{
    const ac_extern *e = c->module->fn[fn]->call;
    const void *in[AC_CUSTOM_MOST] = {NULL};
    void *out[AC_CUSTOM_MOST] = {NULL};
    for (int32_t i = 0; i < e->n_in; i++)
        in[i] = address(arg, e->in[i].buf);
    for (int32_t i = 0; i < e->n_out; i++)
        out[i] = address(arg, e->out[i].buf);
    c->call[fn].run(in, out, address(arg, e->scratch), c->call[fn].node);
}

void ac_customs_close(ac_custom_calls *c)
{
    for (int32_t i = 0; c->call && i < c->module->n_fn; i++)
        if (c->call[i].library)
            ac_sys_library_close(c->call[i].library);
    *c = (ac_custom_calls){0};
}
