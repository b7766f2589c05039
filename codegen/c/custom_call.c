/* custom_call.c - prints a function that calls a function of the user (operators of --custom): tables of its operands
 * and attributes, which are constants, and the call with the addresses. Also the types of the call, for the header. */
#include "codegen/c/dialect.h"
#include "codegen/c/emit.h"
#include "ir/loop/extern.h"

#include <string.h>

/* The types of the call, as runtime/arn_custom.h has them: that file is inside the tool. */
static void put_types(ac_sink *to)
{
    static const char FIRST[] = "#ifndef ARN_CUSTOM_TYPE", LAST[] = "#endif\n";
    const ac_text_file *f = &ac_custom_types_files[0];
    const char *at = (const char *)f->data, *end = at + f->n;
    while (strncmp(at, FIRST, sizeof FIRST - 1) != 0)
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    const char *line = at;
    while (strncmp(line, LAST, sizeof LAST - 1) != 0)
        line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
    ac_put_n(to, at, (size_t)(line - at) + sizeof LAST - 1);
}

/* The name of the table of n numbers v, which is printed; "NULL" for an empty one. */
static const char *put_ints(ac_cfn *f, const char *name, const int32_t *v, int32_t n)
{
    if (n <= 0 || !v)
        return "NULL";
    ac_sink list;
    ac_sink_open(&list, f->file->cx);
    for (int32_t i = 0; i < n; i++)
        ac_putf(&list, v[i] == INT32_MIN ? "%s(-2147483647 - 1)" : "%s%d", i ? ", " : "", v[i]);
    const char *own = ac_c_name_take(&f->names, name);
    ac_c_line(f, "static const int32_t %s[] = {%s};", own, ac_sink_text(&list));
    return own;
}

static const char *put_floats(ac_cfn *f, const char *name, const float *v, int32_t n)
{
    if (n <= 0 || !v)
        return "NULL";
    ac_sink list;
    ac_sink_open(&list, f->file->cx);
    for (int32_t i = 0; i < n; i++)
        ac_putf(&list, "%s%s", i ? ", " : "", ac_c_float(f->file->region, v[i]).text);
    const char *own = ac_c_name_take(&f->names, name);
    ac_c_line(f, "static const float %s[] = {%s};", own, ac_sink_text(&list));
    return own;
}

/* The table of tensors; its name. */
static const char *put_tensors(ac_cfn *f, const char *what, const ac_extern_tensor *t, int32_t n)
{
    ac_region *r = f->file->region;
    ac_sink rows;
    ac_sink_open(&rows, f->file->cx);
    for (int32_t i = 0; i < n; i++, t++) {
        const char *dim = put_ints(f, ac_strf(r, "%s%d_dim", what, i), t->dim, t->rank);
        const char *scale = put_floats(f, ac_strf(r, "%s%d_scale", what, i), t->scale, t->n_quant);
        const char *zero = put_ints(f, ac_strf(r, "%s%d_zero", what, i), t->zero, t->n_quant);
        ac_putf(&rows, "\n        {%d, %d, %d, %s, %d, %d, %s, %s},", (int)t->dtype, t->rank, t->count, dim, t->n_quant,
                t->axis, scale, zero);
    }
    const char *name = ac_c_name_take(&f->names, ac_strf(r, "%s_tensors", what));
    ac_c_line(f, "static const arn_custom_tensor %s[] = {%s\n    };", name, ac_sink_text(&rows));
    return name;
}

static const char *put_attrs(ac_cfn *f, const ac_extern *e)
{
    ac_region *r = f->file->region;
    if (!e->n_attr)
        return "NULL";
    ac_sink rows;
    ac_sink_open(&rows, f->file->cx);
    for (int32_t i = 0; i < e->n_attr; i++) {
        const ac_extern_attr *a = &e->attr[i];
        const char *ints = put_ints(f, ac_strf(r, "attr%d", i), a->i, a->n);
        const char *floats = put_floats(f, ac_strf(r, "attr%d", i), a->f, a->n);
        const char *text = a->text ? ac_strf(r, "\"%s\"", ac_c_string_text(r, a->text)) : "NULL";
        ac_putf(&rows, "\n        {%d, %s, %s, %s},", a->n, ints, floats, text);
    }
    const char *name = ac_c_name_take(&f->names, "attrs");
    ac_c_line(f, "static const arn_custom_attr %s[] = {%s\n    };", name, ac_sink_text(&rows));
    return name;
}

static const char *put_options(ac_cfn *f, const ac_extern *e)
{
    if (!e->n_options)
        return "NULL";
    const char *name = ac_c_name_take(&f->names, "options");
    ac_sink list;
    ac_sink_open(&list, f->file->cx);
    for (int32_t i = 0; i < e->n_options; i++)
        ac_putf(&list, "%s%du", i ? ", " : "", e->options[i]);
    ac_c_line(f, "static const uint8_t %s[] = {%s};", name, ac_sink_text(&list));
    return name;
}

/* The addresses of operands or results; the name of the array. */
static const char *put_addresses(ac_cfn *f, const char *name, const char *type, const ac_extern_tensor *t, int32_t n)
{
    const char *own = ac_c_name_take(&f->names, name);
    ac_sink list;
    ac_sink_open(&list, f->file->cx);
    for (int32_t i = 0; i < n; i++)
        ac_putf(&list, "%s%s", i ? ", " : "", t[i].buf < 0 ? "NULL" : f->buf[t[i].buf]);
    ac_c_line(f, "%sconst %s[] = {%s};", type, own, ac_sink_text(&list));
    return own;
}

int ac_c_print_custom(ac_cfile *F, const ac_loop_fn *fn, const ac_csig *sig, ac_sink *to)
{
    const ac_extern *e = fn->call;
    const ac_pieces none = {0};
    ac_cfn f = {.file = F, .fn = fn, .to = to, .sig = sig, .pieces = &none};
    f.buf = AC_NEW_N(F->region, const char *, fn->buf.n + 1);
    ac_c_names_open(&f.names, F->cx, F->prefix);
    ac_c_name_take(&f.names, e->function);
    for (int32_t i = 0; i < fn->buf.n; i++)
        f.buf[i] = ac_c_name_take(&f.names, fn->buf.item[i].name);
    ac_c_print_head(&f, ac_c_buffer_uses(fn, NULL, F->region));
    const char *in = put_tensors(&f, "in", e->in, e->n_in), *out = put_tensors(&f, "out", e->out, e->n_out);
    const char *attr = put_attrs(&f, e), *options = put_options(&f, e);
    const char *node = ac_c_name_take(&f.names, "node");
    ac_c_line(&f, "static const arn_custom %s = {%d, %d, %d, %s, %s, %s, %s, %d, %d};", node, e->n_in, e->n_out,
              e->n_attr, in, out, attr, options, e->n_options, e->scratch_bytes);
    in = put_addresses(&f, "in", "const void *", e->in, e->n_in);
    out = put_addresses(&f, "out", "void *", e->out, e->n_out);
    ac_c_line(&f, "%s(%s, %s, %s, &%s);", e->function, in, out, e->scratch < 0 ? "NULL" : f.buf[e->scratch], node);
    ac_put(to, "}\n\n");
    return AC_OK;
}

/* The function of fn i, unless a function before calls the same one; NULL: it calls none. */
static const ac_extern *first_call(const ac_module *m, int32_t i)
{
    const ac_extern *e = m->fn[i]->call;
    for (int32_t k = 0; k < i && e; k++)
        if (m->fn[k]->call && !strcmp(m->fn[k]->call->function, e->function))
            return NULL;
    return e;
}

int ac_emit_take_custom(const ac_module *m, ac_cnames *names)
{
    for (int32_t i = 0; i < m->n_fn; i++) {
        const ac_extern *e = first_call(m, i);
        const bool reserved = e && ac_c_reserved(e->function);
        if (!e || (!reserved && ac_c_name_claim(names, e->function)))
            continue;
        ac_error(m->cx, (ac_place){.file = e->defined}, E0502, "custom operator '%s' calls '%s', a name that %s",
                 e->name, e->function, reserved ? "C or its headers reserve" : "the generated code has itself");
        return reserved ? AC_FAIL : ac_help(m->cx, "--name gives the model another prefix than '%s'", m->name);
    }
    return AC_OK;
}

void ac_emit_custom(const ac_module *m, ac_sink *to)
{
    bool any = false;
    for (int32_t i = 0; i < m->n_fn; i++) {
        const ac_extern *e = first_call(m, i);
        if (!e)
            continue;
        if (!any) {
            ac_put(to, "\n/* Custom operators: you supply these functions. */\n");
            put_types(to);
        }
        any = true;
        ac_putf(to, "void %s(const void *const *in, void *const *out, void *scratch, const arn_custom *node);\n",
                e->function);
    }
}
