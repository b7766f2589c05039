/* sizes.c - prints a program of many sizes (codegen/sizes.h): the numbers of each, a function of calls for each class,
 * run, and the addresses of inputs and outputs.
 *
 *     static int net_class0(const net_mem *m, const int32_t *size)
 *     {
 *         net_dense((const float *)(const void *)(arena + size[2]), net_weights, .., &size[3]);
 *         ..
 *     int net_run(const net_mem *m, int32_t n)
 *     {
 *         int32_t size[12];
 *         switch (net_class[n - NET_MIN]) { case 0: net_numbers(size, .., n - NET_MIN); return net_class0(m, size); */
#include "codegen/c/emit.h"
#include "codegen/sizes.h"

/* Constants that differ between sizes. */
static void print_choices(ac_emit *e)
{
    const ac_sizes *s = e->m->sizes;
    const bool rodata = e->weights == AC_WEIGHTS_RODATA;
    ac_sink list;
    if (!s->n_konst)
        return;
    ac_sink_open(&list, e->m->cx);
    for (int32_t i = 0; i < s->n_konst; i++) {
        const int32_t k = s->konst[i];
        ac_put(&list, i ? ", " : "");
        ac_put(&list, rodata ? e->konst[k] : ac_strf(e->region, "%lld", (long long)e->offset[k]));
    }
    ac_putf(e->to, "/* Constants that differ between sizes. */\nstatic const %s %s_choice[%d] = {",
            rodata ? "void *const" : "uint32_t", e->m->name, s->n_konst);
    ac_c_put_wrapped(e->to, ac_sink_text(&list), 4);
    ac_put(e->to, "};\n\n");
}

static int32_t own_numbers(const ac_size_class *c)
{
    int32_t n = 0;
    for (int32_t i = 0; i < c->n_numbers; i++)
        n += c->number[i].own != NULL;
    return n;
}

/* NAME_line0: slope and first of each number; NAME_own0: those that are not a line, by size of the class; NAME_at0:
 * their indices. */
static void print_numbers(ac_emit *e, int32_t number, const ac_size_class *c)
{
    const char *p = e->m->name;
    ac_sink line, at, own;
    const int32_t n_own = own_numbers(c);
    ac_sink_open(&line, e->m->cx);
    ac_sink_open(&at, e->m->cx);
    ac_sink_open(&own, e->m->cx);
    for (int32_t i = 0; i < c->n_numbers; i++) {
        ac_putf(&line, "%s{%d, %d}", i ? ", " : "", c->number[i].slope, c->number[i].first);
        if (c->number[i].own)
            ac_putf(&at, "%s%d", at.n ? ", " : "", i);
    }
    for (int32_t k = 0; k < c->n_sizes; k++) {
        int32_t n = 0;
        ac_put(&own, k ? ", {" : "{");
        for (int32_t i = 0; i < c->n_numbers; i++)
            if (c->number[i].own)
                ac_putf(&own, "%s%d", n++ ? ", " : "", c->number[i].own[k]);
        ac_put(&own, "}");
    }
    if (c->n_numbers) {
        ac_putf(e->to, "static const int32_t %s_line%d[%d][2] = {", p, number, c->n_numbers);
        ac_c_put_wrapped(e->to, ac_sink_text(&line), 4);
        ac_put(e->to, "};\n");
    }
    if (!n_own)
        return;
    ac_putf(e->to, "static const int32_t %s_at%d[%d] = {", p, number, n_own);
    ac_c_put_wrapped(e->to, ac_sink_text(&at), 4);
    ac_putf(e->to, "};\nstatic const int32_t %s_own%d[%d][%d] = {", p, number, c->n_sizes, n_own);
    ac_c_put_wrapped(e->to, ac_sink_text(&own), 4);
    ac_put(e->to, "};\n");
}

/* The code that fills size[], for all classes. */
static void print_fill(ac_emit *e)
{
    ac_putf(e->to,
            "/* The numbers of a size: slope * (n - MIN) + first, and those that are no line. */\n"
            "static void %s_numbers(int32_t *size, int32_t k, const int32_t (*line)[2], int32_t count,\n"
            "    const int32_t *own, const int32_t *at, int32_t count_own)\n{\n    int32_t i;\n"
            "    for (i = 0; i < count; i++)\n        size[i] = line[i][0] * k + line[i][1];\n"
            "    for (i = 0; i < count_own; i++)\n        size[at[i]] = own[i];\n}\n\n",
            e->m->name);
}

static void print_class(ac_emit *e, int32_t number, const ac_size_class *c)
{
    const char *p = e->m->name;
    const ac_sizes *s = e->m->sizes;
    ac_putf(e->to, "/* Class %d: %d %s, from %lld to %lld */\n", number, c->n_sizes, c->n_sizes == 1 ? "size" : "sizes",
            (long long)(s->lo + c->size[0]), (long long)(s->lo + c->size[c->n_sizes - 1]));
    print_numbers(e, number, c);
    ac_putf(e->to, "static int %s_class%d(const %s_mem *m, const int32_t *size)\n{\n", p, number, p);
    if (!c->n_numbers)
        ac_put(e->to, "    (void)size;\n");
    ac_emit_calls(e, c->begin, c->end);
}

static void print_table(ac_emit *e, const char *type, const char *name, const int64_t *value)
{
    ac_sink list;
    ac_sink_open(&list, e->m->cx);
    for (int32_t k = 0; k < e->m->sizes->n; k++)
        ac_putf(&list, "%s%lld", k ? ", " : "", (long long)value[k]);
    ac_putf(e->to, "static const %s %s[%d] = {", type, name, e->m->sizes->n);
    ac_c_put_wrapped(e->to, ac_sink_text(&list), 4);
    ac_put(e->to, "};\n");
}

/* The number of size n, as an expression; prints a table if it is not a line. */
static const char *by_size(ac_emit *e, const char *name, const int64_t *value)
{
    const ac_sizes *s = e->m->sizes;
    const char *U = e->file.upper;
    int32_t *size = AC_NEW_N(e->region, int32_t, s->n);
    ac_sized_number line;
    for (int32_t k = 0; k < s->n; k++)
        size[k] = k;
    if (!ac_sizes_line(value, size, s->n, &line)) {
        print_table(e, "uint32_t", name, value);
        return ac_strf(e->region, "%s[n - %s_MIN]", name, U);
    }
    return line.slope ? ac_strf(e->region, "(uint32_t)(%d * (n - %s_MIN) + %d)", line.slope, U, line.first)
                      : ac_strf(e->region, "%du", line.first);
}

static const ac_io *io_of(const ac_module *m, bool input, int32_t i)
{
    return input ? &m->input[i] : &m->output[i];
}

/* NAME_in0 and so on: the address for a size, and its bytes. */
static void print_io(ac_emit *e, bool input, int32_t i)
{
    const ac_module *m = e->m;
    const ac_sizes *s = m->sizes;
    const char *p = m->name, *U = e->file.upper;
    const char *name = ac_strf(e->region, "%s_%s%d", p, input ? "in" : "out", i);
    int64_t *at = AC_NEW_N(e->region, int64_t, s->n), *bytes = AC_NEW_N(e->region, int64_t, s->n);
    for (int32_t k = 0; k < s->n; k++) {
        at[k] = io_of(s->of[k], input, i)->offset;
        bytes[k] = io_of(s->of[k], input, i)->bytes;
    }
    const char *where = by_size(e, ac_strf(e->region, "%s_at", name), at),
               *size = by_size(e, ac_strf(e->region, "%s_bytes", name), bytes);
    ac_putf(e->to,
            "%svoid *%s(const %s_mem *m, int32_t n, uint32_t *bytes)\n{\n"
            "    if (n < %s_MIN || n > %s_MAX)\n        return NULL;\n    if (bytes)\n        *bytes = %s;\n"
            "    return (uint8_t *)m->%s + %s;\n}\n\n",
            input ? "" : "const ", name, p, U, U, size, io_of(m, input, i)->space == AC_SPACE_STATE ? "state" : "arena",
            where);
}

static void print_run(ac_emit *e)
{
    const ac_sizes *s = e->m->sizes;
    const char *p = e->m->name, *U = e->file.upper;
    int64_t *class_of = AC_NEW_N(e->region, int64_t, s->n), *row = AC_NEW_N(e->region, int64_t, s->n);
    int32_t most = 0, rows = 0;
    for (int32_t k = 0; k < s->n_classes; k++) {
        const ac_size_class *c = &s->class[k];
        most = c->n_numbers > most ? c->n_numbers : most;
        rows += own_numbers(c) > 0;
        for (int32_t i = 0; i < c->n_sizes; i++) {
            class_of[c->size[i]] = k;
            row[c->size[i]] = i;
        }
    }
    print_table(e, "uint16_t", ac_strf(e->region, "%s_class", p), class_of);
    if (rows)
        print_table(e, "uint16_t", ac_strf(e->region, "%s_row", p), row);
    ac_putf(e->to,
            "\nint %s_run(const %s_mem *m, int32_t n)\n{\n%s"
            "    const int32_t k = n - %s_MIN;\n    if (n < %s_MIN || n > %s_MAX)\n        return %s_EDIM;\n"
            "    switch (%s_class[k]) {\n",
            p, p, most ? ac_strf(e->region, "    int32_t size[%d];\n", most) : "", U, U, U, U, p);
    for (int32_t i = 0; i < s->n_classes; i++) {
        const ac_size_class *c = &s->class[i];
        const int32_t own = own_numbers(c);
        ac_putf(e->to, i + 1 < s->n_classes ? "    case %d:\n" : "    default:\n", i);
        if (own)
            ac_putf(e->to, "        %s_numbers(size, k, %s_line%d, %d, %s_own%d[%s_row[k]], %s_at%d, %d);\n", p, p, i,
                    c->n_numbers, p, i, p, p, i, own);
        else if (c->n_numbers)
            ac_putf(e->to, "        %s_numbers(size, k, %s_line%d, %d, NULL, NULL, 0);\n", p, p, i, c->n_numbers);
        ac_putf(e->to, "        return %s_class%d(m, %s);\n", p, i, c->n_numbers ? "size" : "NULL");
    }
    ac_put(e->to, "    }\n}\n\n");
}

void ac_emit_sizes(ac_emit *e)
{
    const ac_sizes *s = e->m->sizes;
    print_choices(e);
    bool any = false;
    for (int32_t k = 0; k < s->n_classes; k++)
        any |= s->class[k].n_numbers > 0;
    if (any)
        print_fill(e);
    for (int32_t k = 0; k < s->n_classes; k++)
        print_class(e, k, &s->class[k]);
    print_run(e);
    for (int32_t i = 0; i < e->m->n_inputs; i++)
        print_io(e, true, i);
    for (int32_t i = 0; i < e->m->n_outputs; i++)
        print_io(e, false, i);
}
