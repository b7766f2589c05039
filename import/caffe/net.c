/* net.c - turns a Caffe net of any version into a list of layers: rewrites messages of V0, turns inputs outside of
 * layers into Input layers, and omits layers that are not in the TEST phase. */
#include "import/caffe/caffe.h"

#include <string.h>

/* Names of V0 and V1 types. */

static const char *const V1_TYPE[] = {
    "NONE",
    "Accuracy",
    "BNLL",
    "Concat",
    "Convolution",
    "Data",
    "Dropout",
    "EuclideanLoss",
    "Flatten",
    "HDF5Data",
    "HDF5Output",
    "Im2col",
    "ImageData",
    "InfogainLoss",
    "InnerProduct",
    "LRN",
    "MultinomialLogisticLoss",
    "Pooling",
    "ReLU",
    "Sigmoid",
    "Softmax",
    "SoftmaxWithLoss",
    "Split",
    "TanH",
    "WindowData",
    "Eltwise",
    "Power",
    "SigmoidCrossEntropyLoss",
    "HingeLoss",
    "MemoryData",
    "ArgMax",
    "Threshold",
    "DummyData",
    "Slice",
    "MVN",
    "AbsVal",
    "Silence",
    "ContrastiveLoss",
    "Exp",
    "Deconvolution",
};

static const struct {
    const char *v1, *v2;
} V1_NAME[] = {
    {"NONE", "NONE"},
    {"ABSVAL", "AbsVal"},
    {"ACCURACY", "Accuracy"},
    {"ARGMAX", "ArgMax"},
    {"BNLL", "BNLL"},
    {"CONCAT", "Concat"},
    {"CONTRASTIVE_LOSS", "ContrastiveLoss"},
    {"CONVOLUTION", "Convolution"},
    {"DATA", "Data"},
    {"DECONVOLUTION", "Deconvolution"},
    {"DROPOUT", "Dropout"},
    {"DUMMY_DATA", "DummyData"},
    {"ELTWISE", "Eltwise"},
    {"EUCLIDEAN_LOSS", "EuclideanLoss"},
    {"EXP", "Exp"},
    {"FLATTEN", "Flatten"},
    {"HDF5_DATA", "HDF5Data"},
    {"HDF5_OUTPUT", "HDF5Output"},
    {"HINGE_LOSS", "HingeLoss"},
    {"IM2COL", "Im2col"},
    {"IMAGE_DATA", "ImageData"},
    {"INFOGAIN_LOSS", "InfogainLoss"},
    {"INNER_PRODUCT", "InnerProduct"},
    {"LRN", "LRN"},
    {"MEMORY_DATA", "MemoryData"},
    {"MULTINOMIAL_LOGISTIC_LOSS", "MultinomialLogisticLoss"},
    {"MVN", "MVN"},
    {"POOLING", "Pooling"},
    {"POWER", "Power"},
    {"RELU", "ReLU"},
    {"SIGMOID", "Sigmoid"},
    {"SIGMOID_CROSS_ENTROPY_LOSS", "SigmoidCrossEntropyLoss"},
    {"SILENCE", "Silence"},
    {"SLICE", "Slice"},
    {"SOFTMAX", "Softmax"},
    {"SOFTMAX_LOSS", "SoftmaxWithLoss"},
    {"SPLIT", "Split"},
    {"TANH", "TanH"},
    {"THRESHOLD", "Threshold"},
    {"WINDOW_DATA", "WindowData"},
};

/* Types of V0 and the current message of their parameters. */
static const struct {
    const char *v0, *v2, *param;
} V0_NAME[] = {
    {"accuracy", "Accuracy", NULL},
    {"bnll", "BNLL", NULL},
    {"concat", "Concat", "concat_param"},
    {"conv", "Convolution", "convolution_param"},
    {"data", "Data", "data_param"},
    {"dropout", "Dropout", "dropout_param"},
    {"euclidean_loss", "EuclideanLoss", NULL},
    {"flatten", "Flatten", NULL},
    {"hdf5_data", "HDF5Data", "hdf5_data_param"},
    {"hdf5_output", "HDF5Output", NULL},
    {"im2col", "Im2col", "convolution_param"},
    {"images", "ImageData", "image_data_param"},
    {"infogain_loss", "InfogainLoss", NULL},
    {"innerproduct", "InnerProduct", "inner_product_param"},
    {"lrn", "LRN", "lrn_param"},
    {"multinomial_logistic_loss", "MultinomialLogisticLoss", NULL},
    {"pool", "Pooling", "pooling_param"},
    {"relu", "ReLU", NULL},
    {"sigmoid", "Sigmoid", NULL},
    {"softmax", "Softmax", NULL},
    {"softmax_loss", "SoftmaxWithLoss", NULL},
    {"split", "Split", NULL},
    {"tanh", "TanH", NULL},
    {"window_data", "WindowData", "window_data_param"},
};

/* Fields of V0 and their current names. */
static const struct {
    const char *v0, *v2;
} V0_FIELD[] = {
    {"num_output", "num_output"},
    {"biasterm", "bias_term"},
    {"pad", "pad"},
    {"kernelsize", "kernel_size"},
    {"group", "group"},
    {"stride", "stride"},
    {"pool", "pool"},
    {"local_size", "local_size"},
    {"alpha", "alpha"},
    {"beta", "beta"},
    {"k", "k"},
    {"dropout_ratio", "dropout_ratio"},
    {"concat_dim", "concat_dim"},
    {"source", "source"},
    {"batchsize", "batch_size"},
    {"new_height", "new_height"},
    {"new_width", "new_width"},
    {"rand_skip", "rand_skip"},
};

/* Fields of V0 that do not change results of inference. */
static bool v0_ignored(const char *name)
{
    static const char *const NAMES[] = {"name",  "type",     "blobs_lr", "weight_decay", "weight_filler", "bias_filler",
                                        "scale", "meanfile", "cropsize", "mirror",       "shuffle_images"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (!strcmp(NAMES[i], name))
            return true;
    return !strncmp(name, "det_", 4);
}

const char *ac_caf_type(ac_caf *r, const ac_pt_node *layer, const char **type)
{
    const ac_pt_node *x = ac_pt_last(layer, "type");
    const char *word = NULL;
    int64_t number;
    *type = NULL;
    if (x && x->kind == AC_PT_STRING)
        return ac_pt_str(&r->pt, x, "", type) == AC_OK ? *type : NULL;
    if (!x)
        (void)ac_error(r->cx, ac_pt_place(&r->pt, layer), E0012, "a layer has no type");
    if (!x || ac_pt_word(&r->pt, x, "NONE", &word) != AC_OK)
        return NULL;
    for (size_t i = 0; i < sizeof V1_NAME / sizeof *V1_NAME; i++)
        if (!strcmp(V1_NAME[i].v1, word))
            return *type = V1_NAME[i].v2;
    if (x && x->kind == AC_PT_NUMBER &&
        ac_pt_int(&r->pt, x, 0, 0, (int64_t)(sizeof V1_TYPE / sizeof *V1_TYPE) - 1, &number) == AC_OK)
        return *type = V1_TYPE[number];
    (void)ac_error(r->cx, ac_pt_place(&r->pt, x ? x : layer), E0012, "'%s' is not a type of a layer", word);
    return NULL;
}

/* Building of messages. */

static ac_pt_node *add_word(ac_pt *pt, ac_pt_node *up, const char *name, ac_pt_kind kind, const char *text)
{
    return ac_pt_add(pt, up, name, kind, (ac_span){(const uint8_t *)text, strlen(text)});
}

static ac_pt_node *add_message(ac_pt *pt, ac_pt_node *up, const char *name)
{
    return ac_pt_add(pt, up, name, AC_PT_MESSAGE, (ac_span){up->text.p, 0});
}

static ac_pt_node *new_layer(ac_caf *r, const ac_pt_node *like, const char *type)
{
    ac_pt_node *l = AC_NEW(r->cx->region, ac_pt_node);
    l->name = ac_intern(r->cx, "layer");
    l->kind = AC_PT_MESSAGE;
    l->line = like->line;
    l->col = like->col;
    l->text = like->text;
    add_word(&r->pt, l, "type", AC_PT_STRING, ac_strf(r->cx->region, "\"%s\"", type));
    return l;
}

/* V0: layers { layer { name type fields } bottom top }. Padding layers become attributes of the convolution that
 * reads them. */

static int v0_fields(ac_caf *r, const ac_pt_node *from, ac_pt_node *to, const char *type)
{
    for (const ac_pt_node *x = from->first; x; x = x->next) {
        const char *now = NULL;
        for (size_t i = 0; i < sizeof V0_FIELD / sizeof *V0_FIELD; i++)
            if (!strcmp(V0_FIELD[i].v0, x->name))
                now = V0_FIELD[i].v2;
        if (now && to && x->kind != AC_PT_MESSAGE)
            ac_pt_add(&r->pt, to, now, x->kind, x->text);
        else if (!v0_ignored(x->name))
            return ac_error(r->cx, ac_pt_place(&r->pt, x), E0012, "a layer of type '%s' has no field '%s'", type,
                            x->name);
    }
    return AC_OK;
}

static int v0_layer(ac_caf *r, const ac_pt_node *connection, const ac_pt_node *inner, ac_pt_node **padding)
{
    const char *type;
    AC_TRY(ac_pt_str(&r->pt, ac_pt_last(inner, "type"), "", &type));
    const ac_pt_node *pad = ac_pt_last(inner, "pad");
    if (!strcmp(type, "padding")) {
        ac_pt_node *top = ac_pt_last(connection, "top");
        if (!top || !pad || !ac_pt_last(connection, "bottom"))
            return ac_error(r->cx, ac_pt_place(&r->pt, inner), E0012, "a padding layer needs pad, bottom and top");
        ac_pt_node *keep = add_message(&r->pt, *padding, "padding");
        ac_pt_add(&r->pt, keep, "top", top->kind, top->text);
        ac_pt_add(&r->pt, keep, "bottom", ac_pt_last(connection, "bottom")->kind,
                  ac_pt_last(connection, "bottom")->text);
        ac_pt_add(&r->pt, keep, "pad", pad->kind, pad->text);
        return AC_OK;
    }
    for (size_t i = 0; i < sizeof V0_NAME / sizeof *V0_NAME; i++) {
        if (strcmp(V0_NAME[i].v0, type) != 0)
            continue;
        ac_pt_node *l = new_layer(r, connection, V0_NAME[i].v2);
        const ac_pt_node *name = ac_pt_last(inner, "name");
        if (name)
            ac_pt_add(&r->pt, l, "name", name->kind, name->text);
        ac_pt_node *param = V0_NAME[i].param ? add_message(&r->pt, l, V0_NAME[i].param) : NULL;
        AC_TRY(v0_fields(r, inner, param, type));
        for (const ac_pt_node *x = connection->first; x; x = x->next) {
            const char *bottom;
            if (strcmp(x->name, "bottom") != 0 && strcmp(x->name, "top") != 0)
                continue;
            const ac_pt_node *put = x;
            AC_TRY(ac_pt_str(&r->pt, x, "", &bottom));
            for (ac_pt_node *p = *x->name == 'b' ? (*padding)->first : NULL; p; p = p->next) {
                const char *top;
                AC_TRY(ac_pt_str(&r->pt, ac_pt_find(p, "top"), "", &top));
                if (top != bottom)
                    continue;
                if (strcmp(V0_NAME[i].v0, "conv") != 0 && strcmp(V0_NAME[i].v0, "pool") != 0)
                    return ac_error(r->cx, ac_pt_place(&r->pt, x), E0012,
                                    "a padding layer is read by a layer of type '%s'", type);
                put = ac_pt_find(p, "bottom");
                ac_pt_add(&r->pt, param, "pad", AC_PT_NUMBER, ac_pt_find(p, "pad")->text);
            }
            ac_pt_add(&r->pt, l, x->name, put->kind, put->text);
        }
        ac_push(r->cx->region, &r->layer, l);
        return AC_OK;
    }
    return ac_error(r->cx, ac_pt_place(&r->pt, inner), E0012, "'%s' is not a type of a V0 layer", type);
}

/* input, with input_shape or four input_dim each: Input layers in front. */
static int read_inputs(ac_caf *r)
{
    ac_pt_node *root = r->pt.root;
    const int32_t n = ac_pt_count(root, "input"), shapes = ac_pt_count(root, "input_shape");
    const int32_t dims = ac_pt_count(root, "input_dim");
    if (!n && !shapes && !dims)
        return AC_OK;
    const ac_pt_node *first = ac_pt_find(root, n ? "input" : shapes ? "input_shape" : "input_dim");
    if (!n || (shapes ? shapes != n || dims : dims != 4 * n)) {
        ac_error(r->cx, ac_pt_place(&r->pt, first), E0012, "%d inputs come with %d input_shape and %d input_dim", n,
                 shapes, dims);
        return ac_help(r->cx, "give one input_shape { dim: .. } for each input, or four input_dim");
    }
    const ac_pt_node *shape = ac_pt_find(root, "input_shape"), *dim = ac_pt_find(root, "input_dim");
    for (const ac_pt_node *x = ac_pt_find(root, "input"); x; x = ac_pt_again(x)) {
        ac_pt_node *l = new_layer(r, x, "Input");
        ac_pt_add(&r->pt, l, "name", x->kind, x->text);
        ac_pt_add(&r->pt, l, "top", x->kind, x->text);
        ac_pt_node *to = add_message(&r->pt, add_message(&r->pt, l, "input_param"), "shape");
        if (shapes) {
            if (shape->kind != AC_PT_MESSAGE)
                return ac_error(r->cx, ac_pt_place(&r->pt, shape), E0012, "input_shape is not a message");
            for (const ac_pt_node *d = shape->first; d; d = d->next)
                ac_pt_add(&r->pt, to, d->name, d->kind, d->text);
            shape = ac_pt_again(shape);
        }
        for (int32_t k = 0; !shapes && k < 4; k++, dim = ac_pt_again(dim))
            ac_pt_add(&r->pt, to, "dim", dim->kind, dim->text);
        ac_push(r->cx->region, &r->layer, l);
    }
    return AC_OK;
}

/* Phases. */

typedef struct state {
    bool train;
    int64_t level;
    const ac_pt_node *message; /* with its stages; NULL: none */
} state;

static int read_phase(ac_caf *r, const ac_pt_node *x, bool *train, bool *given)
{
    const char *word;
    *given = x != NULL;
    *train = false;
    AC_TRY(ac_pt_word(&r->pt, x, "TEST", &word));
    *train = !strcmp(word, "TRAIN") || !strcmp(word, "0");
    if (*train || !strcmp(word, "TEST") || !strcmp(word, "1"))
        return AC_OK;
    return ac_error(r->cx, ac_pt_place(&r->pt, x), E0012, "phase is %s, expected TRAIN or TEST", word);
}

static int has_stage(ac_caf *r, const state *s, const ac_pt_node *x, bool *has)
{
    const char *want, *name;
    *has = false;
    AC_TRY(ac_pt_str(&r->pt, x, "", &want));
    for (const ac_pt_node *p = s->message ? ac_pt_find(s->message, "stage") : NULL; p; p = ac_pt_again(p)) {
        AC_TRY(ac_pt_str(&r->pt, p, "", &name));
        *has |= name == want;
    }
    return AC_OK;
}

/* Does a NetStateRule hold? */
static int rule_holds(ac_caf *r, const state *s, const ac_pt_node *rule, bool *holds)
{
    bool train, given, has;
    int64_t low, high;
    *holds = true;
    if (rule->kind != AC_PT_MESSAGE)
        return ac_error(r->cx, ac_pt_place(&r->pt, rule), E0012, "'%s' is not a message", rule->name);
    AC_TRY(read_phase(r, ac_pt_last(rule, "phase"), &train, &given));
    *holds &= !given || train == s->train;
    AC_TRY(ac_pt_int(&r->pt, ac_pt_last(rule, "min_level"), INT32_MIN, INT32_MIN, INT32_MAX, &low));
    AC_TRY(ac_pt_int(&r->pt, ac_pt_last(rule, "max_level"), INT32_MAX, INT32_MIN, INT32_MAX, &high));
    *holds &= low <= s->level && s->level <= high;
    for (const ac_pt_node *x = ac_pt_find(rule, "stage"); x; x = ac_pt_again(x)) {
        AC_TRY(has_stage(r, s, x, &has));
        *holds &= has;
    }
    for (const ac_pt_node *x = ac_pt_find(rule, "not_stage"); x; x = ac_pt_again(x)) {
        AC_TRY(has_stage(r, s, x, &has));
        *holds &= !has;
    }
    return AC_OK;
}

static int belongs(ac_caf *r, const state *s, const ac_pt_node *layer, bool *in)
{
    const ac_pt_node *include = ac_pt_find(layer, "include"), *exclude = ac_pt_find(layer, "exclude");
    bool holds;
    if (include && exclude)
        return ac_error(r->cx, ac_pt_place(&r->pt, exclude), E0012,
                        "a layer has include and exclude rules: one kind is allowed");
    *in = !include;
    for (; include; include = ac_pt_again(include)) {
        AC_TRY(rule_holds(r, s, include, &holds));
        *in |= holds;
    }
    for (; exclude; exclude = ac_pt_again(exclude)) {
        AC_TRY(rule_holds(r, s, exclude, &holds));
        *in &= !holds;
    }
    return AC_OK;
}

int ac_caf_net(ac_caf *r)
{
    static const char *const KNOWN[] = {"name",  "input",      "input_dim", "input_shape", "force_backward",
                                        "state", "debug_info", "layer",     "layers"};
    ac_pt_node *root = r->pt.root, *padding = AC_NEW(r->cx->region, ac_pt_node);
    state s = {.message = ac_pt_last(root, "state")};
    bool given, in = true;
    int rc = AC_OK;
    padding->text = root->text;
    r->layer.n = 0;
    AC_TRY(read_phase(r, ac_pt_last(s.message, "phase"), &s.train, &given));
    AC_TRY(ac_pt_int(&r->pt, ac_pt_last(s.message, "level"), 0, INT32_MIN, INT32_MAX, &s.level));
    AC_TRY(read_inputs(r));
    const ac_pt_node *v1 = ac_pt_find(root, "layers"), *v2 = ac_pt_find(root, "layer");
    if (v1 && v2)
        return ac_error(r->cx, ac_pt_place(&r->pt, v2), E0012, "the net has both 'layers' (old) and 'layer' (new)");
    for (ac_pt_node *x = root->first; x; x = x->next) {
        bool known = false;
        for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
            known |= !strcmp(KNOWN[i], x->name);
        if (!known)
            rc = ac_caf_no_field(r, x, "a net", KNOWN, sizeof KNOWN / sizeof *KNOWN);
        if (strcmp(x->name, "layer") != 0 && strcmp(x->name, "layers") != 0)
            continue;
        if (x->kind != AC_PT_MESSAGE) {
            rc = ac_error(r->cx, ac_pt_place(&r->pt, x), E0012, "'%s' is not a message", x->name);
            continue;
        }
        ac_pt_node *inner = v1 ? ac_pt_last(x, "layer") : NULL;
        if (inner && inner->kind == AC_PT_MESSAGE) {
            if (v0_layer(r, x, inner, &padding) != AC_OK)
                rc = AC_FAIL;
            continue;
        }
        if (belongs(r, &s, x, &in) != AC_OK)
            rc = AC_FAIL;
        else if (in)
            ac_push(r->cx->region, &r->layer, x);
    }
    if (rc == AC_OK && !r->layer.n)
        return ac_error(r->cx, (ac_place){.file = r->pt.file}, E0012, "the net has no layer for phase %s",
                        s.train ? "TRAIN" : "TEST");
    return rc;
}
