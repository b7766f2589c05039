/* custom_layers.c - layers that a row of --custom computes (ir/ops/custom.h). Operands are the bottoms, and after them
 * the layer's blobs of the .caffemodel; attributes are the fields of the layer's own parameter messages. */
#include "import/caffe/layers.h"

#include "base/ascii.h"

#include <string.h>

/* A message of parameters that the layer's function may have: NAME_param. */
static bool is_own(const ac_pt_node *m)
{
    static const char *const OTHERS[] = {"transform_param", "loss_param", "quantize_param"};
    bool own = m->kind == AC_PT_MESSAGE && ac_has_ending(m->name, "_param");
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        own &= strcmp(m->name, OTHERS[i]) != 0;
    return own;
}

/* Words in the place of values that rows have: true and false are numbers, the words of enumerations are text. */
static void name_words(ac_caf *r, const ac_custom *c, ac_pt_node *m)
{
    for (int32_t i = 0; i < c->attr.n; i++)
        for (ac_pt_node *x = ac_pt_find(m, c->attr.item[i].name); x; x = ac_pt_again(x)) {
            const char *word = x->kind == AC_PT_WORD
                                   ? ac_strf(r->cx->region, "\"%.*s\"", (int)x->text.n, (const char *)x->text.p)
                                   : "";
            const bool yes = !strcmp(word, "\"true\""), flag = yes || !strcmp(word, "\"false\"");
            if (flag && c->attr.item[i].type == AC_CUSTOM_I32) {
                x->kind = AC_PT_NUMBER;
                x->text = (ac_span){(const uint8_t *)(yes ? "1" : "0"), 1};
            } else if (*word && c->attr.item[i].type == AC_CUSTOM_TEXT) {
                x->kind = AC_PT_STRING;
                x->text = (ac_span){(const uint8_t *)word, strlen(word)};
            }
        }
}

/* The attributes of row c, from that message. */
static int read_fields(ac_caf_layer *l, const ac_custom *c, ac_attrs *attrs)
{
    const ac_pt_node *own = NULL;
    for (ac_pt_node *m = l->node->first; m; m = m->next) {
        if (!is_own(m))
            continue;
        if (own && own->name != m->name)
            return ac_cannot(&l->b, "it has two messages of parameters, '%s' and '%s'", own->name, m->name);
        own = m;
        name_words(l->r, c, m);
        ac_push(l->r->cx->region, &l->message, m);
    }
    if (c->attr.n && l->r->binary)
        return ac_cannot(&l->b, "a binary net has no names for fields of custom layers: use the .prototxt");
    return ac_custom_attrs_read(ac_caf_fields(l, own), c, attrs);
}

static int make(ac_caf_layer *l)
{
    const ac_custom *c = l->row->options;
    const int32_t least = ac_custom_least(c), most = ac_custom_most(c);
    ac_tensor **in = AC_NEW_N(l->r->cx->region, ac_tensor *, most + 1);
    int32_t n = 0;
    ac_attrs attrs;
    for (; n < l->n_in; n++)
        in[n] = l->in[n];
    for (ac_tensor *t; n <= most; n++) {
        AC_TRY(ac_caf_weight_next(l, ac_strf(l->r->cx->region, "blob%d", n - l->n_in), &t));
        if (!t)
            break;
        if (n == most)
            return ac_error(l->r->cx, l->at, E0102, "has more bottoms and blobs than the %d operands of '%s'", most,
                            c->name);
        in[n] = t;
    }
    if (n < least && !l->r->weights)
        return ac_error(l->r->cx, l->at, E0019,
                        "has %d bottoms, and '%s' has %d operands: the others are blobs of the "
                        ".caffemodel, which is missing",
                        n, c->name, least);
    if (n < least)
        return ac_error(l->r->cx, l->at, E0102, "has %d bottoms and blobs, and '%s' needs %d operands", n, c->name,
                        least);
    AC_TRY(read_fields(l, c, &attrs));
    ac_node *made = ac_make_node(&l->b, AC_OP_CUSTOM, in, n, &attrs, c->out.n);
    AC_TRY(ac_make_resolve(&l->b, made));
    for (int32_t i = 0; i < l->n_out; i++)
        AC_TRY(ac_caf_result(l, i, made->out[i]));
    return AC_OK;
}

const ac_operator *ac_caf_custom(ac_caf_layer *l)
{
    const ac_custom *c = ac_custom_of(l->r->cx, AC_CUSTOM_CAFFE, "", l->type);
    if (!c)
        return NULL;
    ac_operator *row = ac_operator_custom(l->r->cx, c, l->type, AC_ADAPTER(make));
    row->min_in = 0; /* the others are blobs */
    row->min_out = 1;
    return row;
}
