/* text_write.c - writes a graph as .ag text (docs/text-format.md). Reading it back gives an equal graph: unusual names
 * are quoted, floats have nine digits, constants are hexadecimal (or short lists), splats stay splats. Lazy constants
 * are computed. */
#include "base/decimal.h"
#include "base/sink.h"
#include "ir/graph/graph.h"
#include "ir/graph/text_lex.h"
#include "ir/graph/weights_file.h"

#include <math.h>
#include <string.h>

static void put_string(ac_sink *to, const char *s)
{
    ac_putc(to, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            ac_putf(to, "\\%c", c);
        else if (c == '\n')
            ac_put(to, "\\n");
        else if (c < 32 || c == 127)
            ac_putf(to, "\\x%02x", c);
        else
            ac_putc(to, (char)c);
    }
    ac_putc(to, '"');
}

static void put_name(ac_sink *to, const char *s)
{
    static const char *const WORDS[] = {"_", "input", "const", "state", "output", "then", "view"};
    bool plain = ac_lex_is_name(s);
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS && plain; i++)
        plain = strcmp(s, WORDS[i]) != 0;
    if (plain)
        ac_put(to, s);
    else
        put_string(to, s);
}

static void put_num(ac_sink *to, double v, int digits)
{
    if (isnan(v))
        ac_put(to, "nan");
    else if (isinf(v))
        ac_put(to, v < 0 ? "-inf" : "inf");
    else
        ac_putf(to, "%.*g", digits, v);
}

/* The shortest text that round-trips to the same float. */
static void put_f32(ac_sink *to, float v)
{
    put_num(to, (double)v, isfinite(v) ? ac_shortest((double)v, true, 6) : 9);
}

static void put_quant(ac_sink *to, const ac_quant *q)
{
    if (q->n == 1) {
        ac_put(to, " q(");
        put_f32(to, q->scale[0]);
        ac_putf(to, ", %d)", q->zero[0]);
        return;
    }
    ac_putf(to, " q(axis %d:", q->axis);
    for (int32_t i = 0; i < q->n; i++) {
        ac_put(to, i ? ", " : " ");
        put_f32(to, q->scale[i]);
        ac_putf(to, " %d", q->zero[i]);
    }
    ac_putc(to, ')');
}

/* name: type q(...) at root+offset */
static void put_tensor(ac_sink *to, const ac_tensor *t)
{
    put_name(to, t->name);
    if (!t->dtype)
        return;
    ac_putf(to, ": %s[", ac_dtype_name(t->dtype));
    for (int32_t i = 0; i < t->rank; i++) {
        ac_put(to, i ? "," : "");
        if (t->dim_name[i])
            put_name(to, t->dim_name[i]);
        if (t->dim[i] >= 0)
            ac_putf(to, "%s%lld", t->dim_name[i] ? "=" : "", (long long)t->dim[i]);
        else if (!t->dim_name[i])
            ac_putc(to, '?');
    }
    ac_putc(to, ']');
    if (t->quant)
        put_quant(to, t->quant);
    if (t->words)
        ac_put(to, t->words->other ? " text" : " word");
    if (t->root) {
        ac_put(to, " at ");
        put_name(to, t->root->name);
        ac_putf(to, "+%lld", (long long)t->view_offset);
    }
}

static void put_hex(ac_sink *to, const uint8_t *p, int64_t n)
{
    static const char HEX[] = "0123456789abcdef";
    ac_put(to, "hex \"");
    for (int64_t i = 0; i < n; i++) {
        ac_putc(to, HEX[p[i] >> 4]);
        ac_putc(to, HEX[p[i] & 15]);
    }
    ac_putc(to, '"');
}

static void put_element(ac_sink *to, ac_dtype d, const void *data, int64_t i)
{
    if (d == AC_F64)
        put_num(to, ac_dtype_get_num(d, data, i), 17);
    else if (ac_dtype_is_float(d))
        put_f32(to, (float)ac_dtype_get_num(d, data, i));
    else if (d == AC_U64)
        ac_putf(to, "%llu", (unsigned long long)ac_dtype_get_int(d, data, i));
    else
        ac_putf(to, "%lld", (long long)ac_dtype_get_int(d, data, i));
}

/* NaN has many bit patterns, but the text has one word for all. */
static bool has_nan(ac_dtype d, const void *data, int64_t n)
{
    for (int64_t i = 0; i < n && ac_dtype_is_float(d); i++)
        if (isnan(ac_dtype_get_num(d, data, i)))
            return true;
    return false;
}

enum { SHORT = 16 }; /* elements that are written as a list */

/* splat V   [1, 2, 3] when short   else weights @offset, or hex "..." without a weights file */
static void put_value(ac_sink *to, ac_ctx *cx, ac_tensor *t, ac_sink *weights)
{
    bool splat = t->splat && t->data;
    const void *data = splat || t->state ? t->data
                       : weights && t->raw && !t->data && ac_tensor_count(t) > SHORT
                           ? t->raw /* avoids an aligned copy that would only be copied again */
                           : ac_tensor_force(cx, t);
    if (!data) {
        ac_put(to, "lazy"); /* its loops failed, which is reported; the reader refuses this word */
        return;
    }
    int64_t n = splat ? 1 : ac_tensor_count(t);
    ac_put(to, splat ? "splat " : "");
    if (n > SHORT && weights) {
        ac_putf(to, "weights @%lld", (long long)ac_weights_add(weights, data, ac_dtype_size(t->dtype, n)));
        return;
    }
    if (n > SHORT || has_nan(t->dtype, data, n)) {
        put_hex(to, data, ac_dtype_size(t->dtype, n));
        return;
    }
    ac_put(to, splat ? "" : "[");
    for (int64_t i = 0; i < n; i++) {
        ac_put(to, i ? ", " : "");
        put_element(to, t->dtype, data, i);
    }
    ac_put(to, splat ? "" : "]");
}

static void put_attr(ac_sink *to, const ac_attr_row *row, const void *at)
{
    ac_putf(to, " %s=", row->name);
    switch (row->type) {
    case AC_A_i32:
        ac_putf(to, "%d", *(const ac_a_i32 *)at);
        break;
    case AC_A_f32:
        put_f32(to, *(const ac_a_f32 *)at);
        break;
    case AC_A_bool:
        ac_put(to, *(const ac_a_bool *)at ? "true" : "false");
        break;
    case AC_A_ints: {
        const ac_ints *v = at;
        ac_putc(to, '[');
        for (int32_t i = 0; i < v->n; i++)
            ac_putf(to, "%s%lld", i ? "," : "", (long long)v->v[i]);
        ac_putc(to, ']');
        break;
    }
    case AC_A_act:
        ac_put(to, ac_act_name[*(const ac_a_act *)at]);
        break;
    case AC_A_padding:
        ac_put(to, ac_padding_name[*(const ac_a_padding *)at]);
        break;
    case AC_A_word:
        ac_put(to, ac_word_name[*(const ac_a_word *)at]);
        break;
    case AC_A_dtype:
        ac_put(to, ac_dtype_name(*(const ac_a_dtype *)at));
        break;
    case AC_A_text:
        put_string(to, *(const ac_a_text *)at);
        break;
    }
}

static bool is_default(const ac_attr_row *row, const void *at, const void *init)
{
    switch (row->type) {
    case AC_A_i32:
        return *(const ac_a_i32 *)at == *(const ac_a_i32 *)init;
    case AC_A_f32:
        return !memcmp(at, init, sizeof(ac_a_f32));
    case AC_A_bool:
        return *(const ac_a_bool *)at == *(const ac_a_bool *)init;
    case AC_A_ints:
        return ((const ac_ints *)at)->n == 0;
    case AC_A_act:
        return *(const ac_a_act *)at == *(const ac_a_act *)init;
    case AC_A_padding:
        return *(const ac_a_padding *)at == *(const ac_a_padding *)init;
    case AC_A_word:
        return *(const ac_a_word *)at == *(const ac_a_word *)init;
    case AC_A_dtype:
        return *(const ac_a_dtype *)at == *(const ac_a_dtype *)init;
    case AC_A_text:
        return !*(const ac_a_text *)at;
    }
    return false;
}

static void put_node(ac_sink *to, const ac_node *n, const char *word)
{
    const struct ac_attr_list *set = &ac_attr_sets[ac_ops[n->op].attrs];
    ac_attrs init;
    ac_attrs_init(n->op, &init);
    ac_putf(to, "  %s", word);
    for (int32_t i = 0; i < n->n_out; i++) {
        ac_put(to, i ? ", " : "");
        put_tensor(to, n->out[i]);
    }
    ac_putf(to, " = %s(", ac_ops[n->op].text);
    for (int32_t i = 0; i < n->n_in; i++) {
        ac_put(to, i ? ", " : "");
        if (n->in[i])
            put_name(to, n->in[i]->name);
        else
            ac_putc(to, '_');
    }
    ac_putc(to, ')');
    for (int32_t i = 0; i < set->n; i++) {
        const void *at = (const char *)&n->attrs + set->row[i].offset;
        if (!is_default(&set->row[i], at, (const char *)&init + set->row[i].offset))
            put_attr(to, &set->row[i], at);
    }
    if (n->name != n->out[0]->name) {
        ac_putc(to, ' ');
        put_string(to, n->name);
    }
    ac_putc(to, '\n');
    for (int32_t i = 0; i < n->n_fused; i++)
        put_node(to, n->fused[i], "then ");
}

/* words ["blue", "red"], if tensors hold texts: all of them refer to one list. */
static void put_words(ac_sink *to, const ac_graph *g)
{
    const ac_vocabulary *w = ac_graph_words(g);
    if (!w)
        return;
    ac_put(to, " words [");
    for (int32_t i = 0; i < w->n; i++) {
        ac_put(to, i ? ", " : "");
        put_string(to, w->text[i]);
    }
    ac_putc(to, ']');
}

static void put_graph(ac_sink *to, ac_graph *g, bool channels_first, ac_sink *weights)
{
    const int32_t *used = weights ? ac_graph_uses(g, g->cx->region) : NULL; /* no file space for unused constants */
    ac_put(to, "graph ");
    put_name(to, g->name);
    ac_put(to, channels_first ? " channels_first" : "");
    put_words(to, g);
    ac_put(to, " {\n");
    for (int32_t i = 0; i < g->input.n; i++) {
        ac_put(to, "  input ");
        put_tensor(to, g->input.item[i]);
        ac_putc(to, '\n');
    }
    for (int32_t i = 0; i < g->tensor.n; i++) {
        ac_tensor *t = g->tensor.item[i];
        if (!t->state && (!ac_tensor_is_const(t) || (used && !used[t->id])))
            continue;
        ac_put(to, t->state ? "  state " : "  const ");
        put_tensor(to, t);
        if (ac_tensor_is_const(t) || t->data) {
            ac_put(to, " = ");
            put_value(to, g->cx, t, weights);
        }
        ac_putc(to, '\n');
    }
    for (int32_t i = 0; i < g->node.n; i++)
        put_node(to, g->node.item[i], g->node.item[i]->view ? "view " : "");
    for (int32_t i = 0; i < g->output.n; i++) {
        ac_put(to, i ? ", " : "  output ");
        put_name(to, g->output.item[i]->name);
    }
    ac_put(to, g->output.n ? "\n}\n" : "}\n");
}

static void put_graphs(ac_sink *to, ac_graph *g, bool channels_first, ac_sink *weights)
{
    put_graph(to, g, channels_first, weights);
    for (int32_t i = 0; i < g->sub.n; i++) {
        ac_putc(to, '\n');
        put_graph(to, g->sub.item[i], false, weights);
    }
}

void ac_graph_write_text(ac_sink *to, ac_graph *g, bool channels_first)
{
    put_graphs(to, g, channels_first, NULL);
}

/* An upper bound of the bytes of constants: includes short ones and splats. */
static int64_t constant_bytes(const ac_graph *g)
{
    int64_t n = 0;
    for (int32_t i = 0; i < g->tensor.n; i++) {
        const ac_tensor *t = g->tensor.item[i];
        if ((t->state ? t->data != NULL : ac_tensor_is_const(t)) && !t->splat)
            n += ac_tensor_bytes(t) + AC_WEIGHTS_ALIGN;
    }
    for (int32_t i = 0; i < g->sub.n; i++)
        n += constant_bytes(g->sub.item[i]);
    return n;
}

void ac_graph_write_pair(ac_sink *to, ac_graph *g, bool channels_first, const char *name, ac_sink *weights)
{
    char sha256[65];
    ac_sink body;
    ac_sink_open(&body, g->cx);
    ac_weights_start(weights, constant_bytes(g));
    put_graphs(&body, g, channels_first, weights);
    ac_weights_seal(weights, sha256);
    ac_put(to, "weights ");
    put_string(to, name);
    ac_putf(to, " %zu \"%s\"\n\n", weights->n, sha256);
    ac_put_n(to, body.text, body.n);
}
