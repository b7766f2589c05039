/* caffe.c - the container of Caffe nets: text or binary, blobs by name, layers in order, outputs; the listing that
 * `show` prints. */
#include "import/build/counted.h"
#include "import/caffe/caffe.h"
#include "import/build/wanted_outputs.h"
#include "import/build/name_map.h"
#include "base/sink.h"
#include "import/wire/peek.h"

#include "base/ascii.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TOPS = 1024 };

/* Blobs by name, and in the order of their creation. */
struct ac_caf_names {
    ac_name_map at; /* in `all` */
    AC_VEC(ac_caf_blob *) all;
};

ac_caf_blob *ac_caf_blob_find(ac_caf *r, const char *name)
{
    const int32_t k = ac_name_get(&r->names->at, name);
    return k < 0 ? NULL : r->names->all.item[k];
}

/* Made when new. */
static ac_caf_blob *blob_get(ac_caf *r, const char *name)
{
    struct ac_caf_names *x = r->names;
    int32_t *k = ac_name_put(r->cx->region, &x->at, name);
    if (*k < 0) {
        ac_caf_blob *b = AC_NEW(r->cx->region, ac_caf_blob);
        b->name = name;
        *k = x->all.n;
        ac_push(r->cx->region, &x->all, b);
    }
    return x->all.item[*k];
}

/* Layers. */

static int read_names(ac_caf_layer *l, const char *field, int32_t *n, const char ***out)
{
    ac_caf *r = l->r;
    *n = ac_pt_count(l->node, field);
    if (*n > MAX_TOPS)
        return ac_cannot(&l->b, "it has %d blobs named '%s'; supported are up to %d", *n, field, MAX_TOPS);
    *out = AC_NEW_N(r->cx->region, const char *, *n + 1);
    int32_t k = 0;
    for (ac_pt_node *x = ac_pt_find(l->node, field); x; x = ac_pt_again(x), k++) {
        AC_TRY(ac_pt_str(&r->pt, x, "", &(*out)[k]));
        if (!*(*out)[k])
            return ac_error(r->cx, ac_pt_place(&r->pt, x), E0012, "'%s' is the empty name", field);
    }
    return AC_OK;
}

/* bottoms -> tensors; *broken: one of them failed before. */
static int read_bottoms(ac_caf_layer *l, bool *broken)
{
    const char **name;
    int rc = AC_OK;
    AC_TRY(read_names(l, "bottom", &l->n_in, &name));
    l->in = AC_NEW_N(l->r->cx->region, ac_tensor *, l->n_in + 1);
    l->bottom = AC_NEW_N(l->r->cx->region, ac_caf_blob *, l->n_in + 1);
    l->was_used = AC_NEW_N(l->r->cx->region, bool, l->n_in + 1);
    for (int32_t i = 0; i < l->n_in; i++) {
        ac_caf_blob *b = ac_caf_blob_find(l->r, name[i]);
        if (!b) {
            rc = ac_error(l->r->cx, l->at, E0021, "reads blob '%s', which no earlier layer produces", name[i]);
            continue;
        }
        l->was_used[i] = b->used;
        b->used = true;
        l->in[i] = b->t;
        l->bottom[i] = b;
        *broken |= !b->t;
    }
    return rc;
}

static const char *const LAYER_FIELDS[] = {
    "name",    "type",  "bottom",         "top",      "loss_weight",  "param",           "blobs",     "include",
    "exclude", "phase", "propagate_down", "blobs_lr", "weight_decay", "blob_share_mode", "top_shape", "quantize_param",
};

static int check_layer_fields(ac_caf_layer *l)
{
    int rc = AC_OK;
    for (const ac_pt_node *x = l->node->first; x; x = x->next) {
        bool known = ac_has_ending(x->name, "_param") || x->name[0] == '[';
        for (size_t i = 0; i < sizeof LAYER_FIELDS / sizeof *LAYER_FIELDS; i++)
            known |= !strcmp(x->name, LAYER_FIELDS[i]);
        if (known)
            continue;
        rc = ac_caf_no_field(l->r, x, "a layer", LAYER_FIELDS, sizeof LAYER_FIELDS / sizeof *LAYER_FIELDS);
    }
    return rc;
}

/* Results get the names of the blobs; the value a name had before gets that of the next layer. */
static void bind_tops(ac_caf_layer *l, bool made)
{
    ac_caf *r = l->r;
    for (int32_t i = 0; i < l->n_out; i++) {
        ac_caf_blob *b = blob_get(r, l->top[i]);
        b->t = made ? l->out[i] : NULL;
        b->used = false;
        b->label = made && l->labels && i > 0;
    }
}

static void list_layer(ac_caf_layer *l)
{
    ac_sink *s = l->r->listing;
    ac_ctx *cx = l->r->cx;
    ac_putf(s, "%4d  %-24s %-18s ", l->index, l->name, l->type);
    const ac_pt_node *x = ac_pt_find(l->node, "bottom");
    for (; x; x = ac_pt_again(x))
        ac_putf(s, "%.*s ", (int)x->text.n - 2, (const char *)x->text.p + 1);
    ac_put(s, "-> ");
    for (int32_t i = 0; i < l->n_out; i++)
        ac_putf(s, "%s%s %s", i ? ", " : "", l->top[i], l->out[i] ? ac_shape_str(cx, l->out[i]) : "?");
    for (int32_t i = 0; i < l->param.n; i++)
        ac_putf(s, "%s%s %s", i ? ", " : "   | ", strrchr(l->param.item[i]->name, '/') + 1,
                ac_shape_str(cx, l->param.item[i]));
    ac_putc(s, '\n');
}

static int read_layer(ac_caf *r, ac_pt_node *node, int32_t index)
{
    ac_caf_layer *l = AC_NEW(r->cx->region, ac_caf_layer);
    bool broken = false;
    *l = (ac_caf_layer){.r = r, .node = node, .name = "", .type = ""};
    l->at = ac_pt_place(&r->pt, node);
    l->at.source = NULL;
    l->index = index;
    if (!l->at.line)
        l->at.op_index = index + 1;
    if (!ac_caf_type(r, node, &l->type) || ac_pt_str(&r->pt, ac_pt_last(node, "name"), "", &l->name) != AC_OK)
        return AC_FAIL;
    l->at.op = l->type;
    l->at.node = *l->name ? l->name : NULL;
    l->b = ac_reading_maker(r->reading, r->g, l->name, l->at);
    if (!*l->name)
        l->b.base = l->type;
    int rc = check_layer_fields(l);
    if (read_names(l, "top", &l->n_out, &l->top) != AC_OK || read_bottoms(l, &broken) != AC_OK)
        rc = AC_FAIL;
    l->out = AC_NEW_N(r->cx->region, ac_tensor *, l->n_out + 1);
    l->has_source = r->weights && ac_caf_weights_find(r, l->name, &l->blobs);
    if (rc == AC_OK)
        rc = broken ? ac_caf_layer_known(l) : ac_caf_layer_add(l);
    bind_tops(l, rc == AC_OK && !broken);
    if (rc == AC_OK && !broken)
        list_layer(l);
    return rc;
}

/* Names the blobs: the newest of the values of a name gets it, since that is the value of the blob after a run. A
 * tensor that has the name by accident is renamed. */
static void settle_names(ac_caf *r)
{
    ac_graph *g = r->g;
    for (int32_t i = 0; i < r->names->all.n; i++) {
        const ac_caf_blob *b = r->names->all.item[i];
        ac_tensor *holder = b->t && !b->t->input ? ac_tensor_find(g, b->name) : NULL;
        if (!holder || holder == b->t || holder->input)
            continue;
        const char *fresh = ac_internf(r->cx, "%s_inner", b->name);
        for (int32_t k = 1; ac_tensor_find(g, fresh) || ac_caf_blob_find(r, fresh); k++)
            fresh = ac_internf(r->cx, "%s_inner%d", b->name, k);
        holder->name = fresh;
    }
    for (int32_t i = 0; i < r->names->all.n; i++) {
        const ac_caf_blob *b = r->names->all.item[i];
        const ac_tensor *holder = b->t ? ac_tensor_find(g, b->name) : NULL;
        if (b->t && !b->t->input && !(holder && holder->input) && !b->t->named) {
            b->t->name = b->name;
            b->t->named = true;
        }
    }
    ac_graph_renumber(g);
}

static int by_blob_name(const void *pa, const void *pb)
{
    const ac_caf_blob *const *a = pa, *const *b = pb;
    return strcmp((*a)->name, (*b)->name);
}

static int asked_outputs(ac_caf *r, ac_name_list asked)
{
    ac_name_list known = {0};
    int rc = AC_OK;
    for (int32_t k = 0; k < r->names->all.n; k++)
        ac_push(r->cx->region, &known, r->names->all.item[k]->name);
    for (int32_t i = 0; i < asked.n; i++) {
        const char *name = ac_outputs_named(r->reading, "net has no blob", asked.item[i], known);
        const ac_caf_blob *b = name ? ac_caf_blob_find(r, name) : NULL;
        if (b && b->t)
            ac_outputs_add(r->g, b->t, name);
        else
            rc = name ? ac_error(r->cx, (ac_place){.file = r->pt.file}, E0501, "--outputs: no layer produces blob '%s'",
                                 name)
                      : AC_FAIL;
    }
    return rc;
}

/* The net's outputs are the blobs without readers, sorted by name as in Caffe. */
static int outputs(ac_caf *r)
{
    AC_VEC(ac_caf_blob *) ends = {0};
    ac_name_list asked;
    AC_TRY(ac_outputs_asked(r->reading, &asked));
    if (asked.n)
        return asked_outputs(r, asked);
    for (int32_t i = 0; i < r->names->all.n; i++) {
        ac_caf_blob *b = r->names->all.item[i];
        if (!b->used && b->t && !b->label)
            ac_push(r->cx->region, &ends, b);
    }
    if (ends.n)
        qsort(ends.item, (size_t)ends.n, sizeof *ends.item, by_blob_name);
    for (int32_t i = 0; i < ends.n; i++)
        ac_outputs_add(r->g, ends.item[i]->t, ends.item[i]->name);
    for (int32_t i = 0; i < r->extra.n; i++)
        if (r->extra.item[i]->t && !r->extra.item[i]->t->output)
            ac_outputs_add(r->g, r->extra.item[i]->t, r->extra.item[i]->name);
    return r->g->output.n
               ? AC_OK
               : ac_error(r->cx, (ac_place){.file = r->pt.file}, E0101, "the net has no output: every blob is read");
}

/* Labels of data layers that only losses read are not inputs. */
static void drop_labels(ac_caf *r)
{
    int32_t n = 0;
    for (int32_t i = 0; i < r->g->input.n; i++) {
        ac_tensor *t = r->g->input.item[i];
        const ac_caf_blob *b = ac_caf_blob_find(r, t->name);
        if (b && b->label && !b->used && b->t == t)
            t->input = false;
        else
            r->g->input.item[n++] = t;
    }
    r->g->input.n = n;
}

static int read(ac_reading *reading)
{
    ac_caf *r = reading->own = AC_NEW(reading->cx->region, ac_caf);
    *r = (ac_caf){.reading = reading, .cx = reading->cx};
    const ac_span all = {reading->file.data, reading->file.n};
    const char *name;
    r->names = AC_NEW(r->cx->region, struct ac_caf_names);
    if (reading->opt.second)
        AC_TRY(ac_caf_weights_open(r, reading->opt.second));
    if (ac_peek_text(all)) {
        AC_TRY(ac_pt_parse(&r->pt, r->cx, reading->file.path, all));
    } else {
        if (!r->weights)
            AC_TRY(ac_caf_weights_open(r, &reading->file));
        r->binary = true;
        AC_TRY(ac_caf_binary(r, all));
    }
    AC_TRY(ac_pt_str(&r->pt, ac_pt_last(r->pt.root, "name"), "net", &name));
    r->g = ac_reading_graph(reading, name, "Caffe");
    reading->out.channels_first = true;
    AC_TRY(ac_caf_net(r));
    r->listing = AC_NEW(r->cx->region, ac_sink);
    ac_sink_open(r->listing, r->cx);
    ac_putf(r->listing, "name: \"%s\"\n", name);
    reading->out.file_ops = r->layer.n;
    return AC_OK;
}

/* Layers also declare inputs. Data layers do not contain the number of channels of their images: then everything
 * derived from them is broken, and only the types of layers are checked. */
static int nodes(ac_reading *reading)
{
    ac_caf *r = reading->own;
    int rc = AC_OK;
    for (int32_t i = 0; i < r->layer.n; i++)
        if (read_layer(r, r->layer.item[i], i) != AC_OK)
            rc = AC_FAIL;
    if (rc != AC_OK || reading->refused.n || ac_reading_unsized(reading))
        return rc;
    settle_names(r);
    drop_labels(r);
    AC_TRY(outputs(r));
    reading->out.listing = ac_sink_text(r->listing);
    return AC_OK;
}

/* NetParameter: name 1, layers 2 (older) or 100, inputs 3, 4 and 8, force_backward 5, state 6, debug_info 7. */
static bool looks(ac_span s)
{
    if (ac_peek_text(s))
        return ac_peek_contains(s, "layer {") || ac_peek_contains(s, "layers {") || ac_peek_contains(s, "layer{") ||
               ac_peek_contains(s, "layers{");
    ac_outline o = ac_peek_outline(s);
    const uint64_t strings = AC_FIELD(1) | AC_FIELD(2) | AC_FIELD(3) | AC_FIELD(6) | AC_FIELD(8);
    return !o.broken && !(o.numbers & strings) && !(o.messages & (AC_FIELD(5) | AC_FIELD(7))) &&
           (o.layer || ((o.messages & AC_FIELD(2)) && o.first.n && ac_peek_text(o.first)));
}

const ac_format ac_caffe_format = {.title = "Caffe",
                                   .weights = "a .caffemodel file",
                                   .looks = looks,
                                   .read = read,
                                   .nodes = nodes,
                                   .finds_outputs = true,
                                   .operators = &ac_caf_operators};
