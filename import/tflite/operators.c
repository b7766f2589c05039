/* operators.c - turns operators of TFLite files into nodes, by the table operators.def; a `rule` handles cases that a
 * table cannot express. */
#include "import/build/counted.h"
#include "import/build/reasons.h"
#include "import/tflite/rules.h"

#include <float.h>
#include <string.h>

typedef enum field_type { F_i32, F_size, F_bool, F_f32, F_act, F_padding, F_mirror, F_ints, F_zero } field_type;

typedef struct field {
    const char *attr; /* NULL ends the list */
    int number;
    field_type type;
    int init;            /* the schema's default */
    ac_fb_scalar scalar; /* F_zero: its type in the file */
    const char *refuse;  /* F_zero: why another value is not supported */
} field;

typedef struct options {
    int number; /* in the union of the file */
    bool must;
    const field *field;
} options;

enum { MAY, MUST };
#define F(number, attr, type, init) {#attr, number, F_##type, init, AC_FB_I32, NULL},
#define Z(number, kind, why)        {"", number, F_zero, 0, Z_##kind, why},
#define Z_i8                        AC_FB_I8
#define Z_u8                        AC_FB_U8
#define OPTIONS(set, number, need, fields)                      \
    static const field fields_##set[] = {fields{.attr = NULL}}; \
    static const options options_##set = {number, need == MUST, fields_##set};
#include "import/tflite/operators.def"
#undef F
#undef Z

/* Builtin operators by their number; after them custom ones, whose options are a map of numbers. Rows of operators that
 * rules compose have no reason for refusal, and their own numbers of operands. */
static const ac_operator ROWS[] = {
#define TFL(number, type, opt, rule, why) \
    [number] = {.name = #type, .run = AC_ADAPTER(ac_tfl_rule_##rule), .options = &options_##opt, AC_WHY(why)},
#define COMPOSED(number, type, opt, of, rule, least, most, outs) \
    [number] = {.name = #type,                                   \
                .run = AC_ADAPTER(ac_tfl_rule_##rule),           \
                .options = &options_##opt,                       \
                .op = AC_OP_##of,                                \
                .min_in = least,                                 \
                .max_in = most,                                  \
                .min_out = outs,                                 \
                .max_out = outs},
#define CUSTOM_OP(type, rule) \
    {.name = #type, .run = AC_ADAPTER(ac_tfl_rule_##rule), .options = &options_none, AC_WHY(LATER)},
#define CUSTOM_WHY(type, why) {.name = #type, .run = AC_ADAPTER(ac_tfl_rule_plain), AC_WHY(why)},
#define CUSTOM_COMPOSED(type, of, rule, least, most, outs) \
    {.name = #type,                                        \
     .run = AC_ADAPTER(ac_tfl_rule_##rule),                \
     .options = &options_none,                             \
     .op = AC_OP_##of,                                     \
     .min_in = least,                                      \
     .max_in = most,                                       \
     .min_out = outs,                                      \
     .max_out = outs},
#include "import/tflite/operators.def"
};

enum { CUSTOM = 32 };
typedef enum builtin {
#define TFL(number, type, ...)      BUILTIN_##type = number,
#define COMPOSED(number, type, ...) BUILTIN_##type = number,
#include "import/tflite/operators.def"
    N_BUILTIN
} builtin;

static const ac_operators CUSTOMS = {ROWS + N_BUILTIN, sizeof ROWS / sizeof *ROWS - N_BUILTIN, NULL};

/* The TFLite operator of each of ours, from ops.def. */
static ac_op op_of(const ac_operator *row)
{
    return row->run == AC_ADAPTER(ac_tfl_rule_select) ? AC_OP_SELECT : ac_op_find_tflite(row->name);
}

const ac_operators ac_tfl_operators = {ROWS, sizeof ROWS / sizeof *ROWS, op_of};

static bool composed(const ac_operator *row)
{
    return !row->reason;
}

ac_tfl_code ac_tfl_code_of(ac_ctx *cx, int64_t number, const char *custom, int64_t version)
{
    ac_tfl_code c = {.version = version};
    if (number == CUSTOM) {
        c.name = ac_internf(cx, "CUSTOM:%s", custom ? custom : "?");
        c.user = custom ? ac_custom_of(cx, AC_CUSTOM_TFLITE, "", custom) : NULL;
        c.row = c.user ? ac_tfl_user_row(cx, c.user) : custom ? ac_operator_find(&CUSTOMS, "", custom, 0) : NULL;
    } else if (number < 0 || number >= N_BUILTIN || !ROWS[number].name) {
        c.name = ac_internf(cx, "BUILTIN:%lld", (long long)number);
    } else {
        c.row = &ROWS[number];
        c.name = c.row->name;
    }
    if (c.row)
        c.op = composed(c.row) ? c.row->op : op_of(c.row);
    c.known = c.row && (composed(c.row) || c.op != AC_OP_NONE);
    return c;
}

bool ac_tfl_takes(const ac_tfl_code *code, const ac_tfl_tensor *x)
{
    static const struct {
        builtin number;
        enum { PAIRS, HANDLE, NEW_HANDLE } what;
    } LIST[] = {{BUILTIN_RFFT2D, PAIRS},         {BUILTIN_REAL, PAIRS},
                {BUILTIN_IMAG, PAIRS},           {BUILTIN_COMPLEX_ABS, PAIRS},
                {BUILTIN_RESHAPE, PAIRS},        {BUILTIN_SQUEEZE, PAIRS},
                {BUILTIN_EXPAND_DIMS, PAIRS},    {BUILTIN_VAR_HANDLE, NEW_HANDLE},
                {BUILTIN_READ_VARIABLE, HANDLE}, {BUILTIN_ASSIGN_VARIABLE, HANDLE}};
    for (size_t i = 0; i < sizeof LIST / sizeof *LIST; i++)
        if (code->row == &ROWS[LIST[i].number])
            return LIST[i].what == PAIRS ? x->complex : x->resource && (x->t || LIST[i].what == NEW_HANDLE);
    return false;
}

bool ac_tfl_is_composed(const ac_tfl_code *code)
{
    return composed(code->row);
}

void ac_tfl_refuse_op(ac_tfl *r, ac_place at, const ac_tfl_code *code)
{
    const char *name = code->name;
    if (code->version > 1)
        name = ac_internf(r->cx, "%s version %lld", name, (long long)code->version);
    if (code->row)
        ac_refuse(r->reading, at, E0107, name, code->row->reason, code->row->help);
    else if (!strncmp(code->name, "CUSTOM:", 7))
        ac_refuse(r->reading, at, E0107, name, "the file does not define what a custom operator computes",
                  "convert without custom operators (TFLITE_BUILTINS only), or compute it with a C function of yours "
                  "(--custom)");
    else
        ac_refuse(r->reading, at, E0107, name, "this number is unknown in the supported TFLite schema",
                  "the model may need a newer arenac");
}

/* Options. */

static int read_list(ac_tfl *r, const ac_tfl_node *n, ac_fb_table t, const field *f, ac_ints *out)
{
    ac_fb_vec v = ac_fb_vector(&r->fb, t, f->number, 4);
    if (v.n > AC_MAX_RANK) {
        ac_refuse(r->reading, n->at, E0205, n->code->name,
                  ac_strf(r->cx->region, "option %s lists %u dimensions; arenac handles up to 8", f->attr, v.n), NULL);
        return AC_FAIL;
    }
    int64_t *list = AC_NEW_N(r->cx->region, int64_t, v.n);
    for (uint32_t i = 0; i < v.n; i++)
        list[i] = ac_fb_elem_int(&r->fb, v, i, AC_FB_I32);
    *out = (ac_ints){(int32_t)v.n, list};
    return r->fb.failed ? AC_FAIL : AC_OK;
}

static const struct {
    ac_attr_spec row;
    ac_fb_scalar scalar; /* in the file */
} KIND[] = {[F_i32] = {{.type = AC_ATTR_INT}, AC_FB_I32},
            [F_size] = {{.type = AC_ATTR_INT, FROM(1)}, AC_FB_I32},
            [F_bool] = {{.type = AC_ATTR_BOOL}, AC_FB_U8},
            [F_f32] = {{.type = AC_ATTR_FLOAT, FROM((double)-FLT_MAX), TO((double)FLT_MAX)}, AC_FB_I32},
            [F_act] = {{.type = AC_ATTR_INT, FROM(0), TO(AC_ACT_COUNT)}, AC_FB_I8},
            [F_padding] = {{.type = AC_ATTR_INT, FROM(0), TO(1)}, AC_FB_I8},
            [F_mirror] = {{.type = AC_ATTR_INT, FROM(0), TO(1)}, AC_FB_I8},
            [F_ints] = {{.type = AC_ATTR_INTS}, AC_FB_I32},
            [F_zero] = {{.type = AC_ATTR_INT}, AC_FB_I32}};

/* The node of the reader. */
typedef struct option {
    ac_fb *fb;
    ac_fb_table table;
    const field *field;
} option;

static bool find(const ac_attrs_reader *a, const char *name, const ac_attr_spec *row, ac_attr_value *v)
{
    const option *o = a->node;
    const field *f = o->field;
    (void)name;
    if (row->type == AC_ATTR_FLOAT)
        v->f = (double)ac_fb_f32(o->fb, o->table, f->number, (float)f->init);
    else
        v->i = ac_fb_int(o->fb, o->table, f->number, f->type == F_zero ? f->scalar : KIND[f->type].scalar, f->init);
    return true;
}

/* One field of the options table into the attribute at `to`. */
static int read_field(ac_tfl *r, ac_tfl_node *n, ac_fb_table t, const field *f, void *to)
{
    ac_maker b = ac_reading_maker(r->reading, n->g, n->at.node, n->at);
    ac_attr_spec row = KIND[f->type].row;
    row.name = f->attr;
    row.init = f->init;
    const ac_attr_source source = {.what = "option", .row = &row, .find = find};
    option o = {&r->fb, t, f};
    ac_attrs_reader a = {.source = &source, .b = &b, .node = &o};
    const int64_t v = row.type == AC_ATTR_INT ? ac_attr_int(&a, 0) : 0;
    switch (f->type) {
    case F_i32:
    case F_size:
        *(ac_a_i32 *)to = (int32_t)v;
        break;
    case F_bool:
        *(ac_a_bool *)to = ac_attr_bool(&a, 0);
        break;
    case F_mirror:
        *(ac_a_bool *)to = v == 1;
        break;
    case F_padding:
        *(ac_a_padding *)to = v == 0 ? AC_PAD_SAME : AC_PAD_VALID;
        break;
    case F_act: /* both lists start NONE, RELU, RELU_N1_TO_1, RELU6, TANH; then comes SIGN_BIT */
        if (v == AC_ACT_COUNT)
            return ac_cannot(&b, "its fused activation is SIGN_BIT");
        *(ac_a_act *)to = (ac_act)v;
        break;
    case F_f32:
        *(ac_a_f32 *)to = (float)ac_attr_float(&a, 0);
        break;
    case F_ints:
        return read_list(r, n, t, f, to);
    case F_zero:
        return v ? ac_cannot(&b, "%s", f->refuse) : AC_OK;
    }
    return b.bad ? AC_FAIL : AC_OK;
}

static void *attr_at(ac_tfl_node *n, const char *name)
{
    const struct ac_attr_list *set = &ac_attr_sets[ac_ops[n->code->op].attrs];
    for (int32_t i = 0; i < set->n; i++)
        if (!strcmp(set->row[i].name, name))
            return (char *)&n->attrs + set->row[i].offset;
    return NULL;
}

static int read_options(ac_tfl *r, ac_tfl_node *n)
{
    if (n->code->user)
        return AC_OK;
    const options *o = n->code->row->options;
    int64_t number = ac_fb_int(&r->fb, n->table, OP_OPTIONS_TYPE, AC_FB_U8, 0);
    ac_attrs_init(n->code->op, &n->attrs);
    if (!o->number) /* no field of them matters, or they are empty */
        return r->fb.failed ? AC_FAIL : AC_OK;
    if (number && number != o->number)
        return ac_error(r->cx, n->at, E0012, "carries options of kind %lld, expected kind %d", (long long)number,
                        o->number);
    ac_fb_table t = ac_fb_child(&r->fb, n->table, OP_OPTIONS, n->code->name);
    if (r->fb.failed)
        return AC_FAIL;
    if (!number || !t.at)
        return o->must ? ac_error(r->cx, n->at, E0012, "has no options, but needs them") : AC_OK;
    int rc = AC_OK;
    for (const field *f = o->field; f->attr && !r->fb.failed; f++) {
        void *to = f->type == F_zero ? NULL : attr_at(n, f->attr);
        if (!to && f->type != F_zero)
            return ac_error(r->cx, n->at, E0901, "the operator table has no attribute '%s' here", f->attr);
        if (read_field(r, n, t, f, to) != AC_OK)
            rc = AC_FAIL;
    }
    return r->fb.failed ? AC_FAIL : rc;
}

/* Operands. */

/* Axes and sizes may be attributes in text; in these files they are operands, except for the shape of RESHAPE. */
static int32_t least_operands(ac_op op)
{
    const ac_op_row *row = &ac_ops[op];
    const ac_node whole = {.op = op, .n_in = row->max_in};
    int32_t least = row->min_in;
    for (int32_t i = least; i < row->max_in && op != AC_OP_RESHAPE; i++)
        if (ac_node_is_static(&whole, i))
            least = i + 1;
    return least;
}

static int check_counts(ac_tfl *r, ac_tfl_node *n)
{
    enum { MANY = 64 }; /* a max_in that stands for "any number" */
    const ac_operator *in_file = n->code->row;
    const ac_op_row *row = &ac_ops[n->code->op];
    const int32_t own = in_file->run == AC_ADAPTER(ac_tfl_rule_state); /* operands that the rule adds */
    const int32_t least = composed(in_file) ? in_file->min_in : least_operands(n->code->op) - own;
    const int32_t most = composed(in_file) ? in_file->max_in : row->max_in - own;
    const int32_t n_out = composed(in_file) ? in_file->max_out : row->n_out;
    while (n->n_in > least && !n->in[n->n_in - 1])
        n->n_in--; /* omitted at the end: the same as absent */
    if (n->n_in > most && most >= MANY) {
        ac_refuse(r->reading, n->at, E0108, n->code->name,
                  ac_strf(r->cx->region, "it has %d operands; arenac handles up to %d", n->n_in, most),
                  "join them in two steps");
        return AC_FAIL;
    }
    if (n->n_in < least || n->n_in > most) {
        ac_error(r->cx, n->at, E0102, "has %d operands, expected %s%d", n->n_in,
                 least == most     ? ""
                 : n->n_in < least ? "at least "
                                   : "at most ",
                 n->n_in < least ? least : most);
        return AC_FAIL;
    }
    for (int32_t i = 0; i < (most >= MANY ? n->n_in : least); i++)
        if (!n->in[i])
            return ac_error(r->cx, n->at, E0102, "operand %d is missing", i);
    if (n_out >= 0 ? n->n_out != n_out : n->n_out < 1)
        return ac_error(r->cx, n->at, E0102, "has %d results, expected %s", n->n_out,
                        n_out < 0 ? "at least 1" : ac_strf(r->cx->region, "%d", n_out));
    return AC_OK;
}

int ac_tfl_node_add(ac_tfl *r, ac_tfl_node *n, int32_t id)
{
    AC_TRY(check_counts(r, n));
    AC_TRY(read_options(r, n));
    n->id = id;
    n->op = n->code->op;
    n->first = n->g->tensor.n;
    if (n->sized)
        return ac_tfl_sized_add(r, n);
    if (ac_tfl_size_is_late(n)) {
        const ac_maker b = ac_reading_maker(r->reading, n->g, n->at.node, n->at);
        if (ac_tfl_runs_once(r, n->subgraph))
            return ac_cannot(&b, "only data decides how large the first value of a variable is");
        r->reading->late = true; /* the file is read again once sizes are known */
        return AC_FAIL;
    }
    AC_TRY(((ac_tfl_rule *)n->code->row->run)(r, n));
    if (!ac_tfl_is_composed(n->code))
        ac_tfl_node_make(n, n->op, n->in, n->n_in, &n->attrs);
    return AC_OK;
}
