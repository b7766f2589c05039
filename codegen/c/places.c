/* places.c - names that several files of a module need: memories, addresses in them, and titles of steps. */
#include "codegen/c/dialect.h"
#include "codegen/c/emit.h"

#include <string.h>

const char *ac_emit_upper(const ac_module *m)
{
    return ac_c_upper(m->cx->region, m->name);
}

const char *ac_emit_ram_upper(const ac_module *m, int32_t index)
{
    return ac_c_upper(m->cx->region, m->ram[index].name);
}

const char *ac_emit_pointer_to(const ac_emit *e, const char *address, ac_dtype d, bool readonly)
{
    const char *type = ac_dtype_c(d);
    if (!strcmp(type, "uint8_t"))
        return address;
    if (ac_c_strict(&e->file)) /* an address of an element needs no parentheses */
        return ac_strf(e->region, readonly ? "(const %s *)(const void *)%s" : "(%s *)(void *)%s", type, address);
    return ac_strf(e->region, readonly ? "(const void *)(%s)" : "(void *)(%s)", address);
}

const char *ac_emit_ram(const ac_emit *e, int32_t index)
{
    const char *name = e->m->ram[index].name;
    return strcmp(name, "arena") ? ac_strf(e->region, "mem_%s", name) : name;
}

/* The same in a program of many sizes: "(float *)(void *)(arena + size[3])" */
static const char *sized_place(const ac_emit *e, ac_bound_arg at, ac_dtype d)
{
    ac_region *r = e->region;
    const int32_t number = at.number - 1;
    if (at.space == AC_SPACE_SHAPE)
        return ac_strf(r, "&size[%d]", number);
    if (at.space == AC_SPACE_CONST && e->weights == AC_WEIGHTS_RODATA)
        return ac_strf(r, "(const %s *)%s_choice[size[%d]]", ac_dtype_c(d), e->m->name, number);
    if (at.space == AC_SPACE_CONST)
        return ac_emit_pointer_to(e, ac_strf(r, "&weights[%s_choice[size[%d]]]", e->m->name, number), d, true);
    const char *base = at.space == AC_SPACE_STATE ? "state" : ac_emit_ram(e, at.index);
    return ac_emit_pointer_to(e, ac_strf(r, "&%s[size[%d]]", base, number), d, false);
}

const char *ac_emit_place(const ac_emit *e, ac_bound_arg at, ac_dtype d)
{
    static const char *const BASE[] = {"arena", "state", "weights", "in", "out"};
    ac_region *r = e->region;
    const bool readonly = at.space == AC_SPACE_CONST || at.space == AC_SPACE_IN;
    ac_bytes offset = at.offset;
    if (at.number)
        return sized_place(e, at, d);
    if (at.space == AC_SPACE_CONST) {
        if (e->weights == AC_WEIGHTS_RODATA)
            return e->konst[offset];
        offset = e->offset[offset];
    }
    if (at.space == AC_SPACE_CHUNK)
        return "&part";
    const char *base = at.space == AC_SPACE_ARENA ? ac_emit_ram(e, at.index) : BASE[at.space];
    if (at.space == AC_SPACE_IN || at.space == AC_SPACE_OUT)
        base = ac_strf(r, "%s%d", base, at.index);
    const char *text = ac_strf(r, at.space == AC_SPACE_CONST ? "%lld" : "0x%04llx", (long long)offset);
    text = ac_c_strict(&e->file) ? ac_strf(r, "&%s[%s]", base, text) : ac_strf(r, "%s + %s", base, text);
    return ac_emit_pointer_to(e, text, d, readonly);
}

/* "0x0100", "state 0x0040", "in 0 0x0000" */
static const char *offset_text(const ac_emit *e, const ac_bound_arg *at)
{
    static const char *const BASE[] = {"", "state ", "", "in", "out"};
    const char *base = BASE[at->space];
    if (at->space == AC_SPACE_IN || at->space == AC_SPACE_OUT)
        base = ac_strf(e->region, "%s%d ", base, at->index);
    else if (at->space == AC_SPACE_ARENA && e->m->n_ram > 1)
        base = ac_strf(e->region, "%s ", e->m->ram[at->index].name);
    return ac_strf(e->region, "%s0x%04llx", base, (unsigned long long)at->offset);
}

/* "x i8 [1,49,10,1] at 0x0100, w -> y i8 [1,49,10,8] at 0x0400" */
const char *ac_emit_shapes(const ac_emit *e, const ac_call *c, bool offsets)
{
    ac_sink s;
    ac_sink_open(&s, e->m->cx);
    const ac_loop_fn *fn = c->low->fn;
    for (int pass = 0; pass < 2; pass++) {
        int32_t n = 0;
        for (int32_t i = 0; i < c->n_arg && i < c->low->arg.n; i++) {
            const ac_arg *a = &c->low->arg.item[i];
            bool result = fn->buf.item[i].role == AC_BUF_OUT || fn->buf.item[i].role == AC_BUF_INOUT;
            if (a->kind != AC_ARG_TENSOR || result != (pass == 1))
                continue;
            ac_put(&s, n++ ? ", " : pass ? " -> " : "");
            if (!e->names || !result || strcmp(a->tensor->name, c->name) != 0) /* the step is called after its result */
                ac_putf(&s, "%s ", ac_emit_short_name(e, a->tensor->name));
            ac_put(&s, ac_tensor_str(e->m->cx, a->tensor));
            if (offsets && c->arg[i].space != AC_SPACE_CONST)
                ac_putf(&s, " at %s", offset_text(e, &c->arg[i]));
        }
    }
    return ac_sink_text(&s);
}

const char *ac_emit_step_title(const ac_emit *e, int32_t i)
{
    const ac_call *c = &e->m->call[i];
    const char *macs =
        e->names && c->low->macs ? ac_strf(e->region, ", %s MACs", ac_commas(e->m->cx, c->low->macs)) : "";
    return ac_strf(e->region, "%d: %s '%s'%s%s%s", i, c->op, ac_emit_short_name(e, c->name), c->fused ? ", then " : "",
                   c->fused ? c->fused : "", macs);
}
