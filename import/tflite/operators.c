/* operators.c - operators of TFLite files -> nodes. What can be said in a table is said in operators.def; a `rule`
 * does the rest. */
#include "import/build/reasons.h"
#include "import/wire/flex.h"
#include "import/tflite/tflite.h"

#include <math.h>
#include <string.h>

enum { OP_OPTIONS_TYPE = 3, OP_OPTIONS, OP_CUSTOM_OPTIONS };

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

typedef int rule_fn(ac_tfl *r, ac_tfl_node *n);
static rule_fn rule_plain, rule_reshape, rule_cast, rule_out_type, rule_select, rule_custom, rule_state;

/* Builtin operators by their number; after them custom ones, whose options are a map of numbers. */
static const ac_operator ROWS[] = {
#define TFL(number, type, opt, rule, why) \
    [number] = {.name = #type, .run = AC_ADAPTER(rule_##rule), .options = &options_##opt, AC_WHY(why)},
#define CUSTOM_OP(type, rule) {.name = #type, .run = AC_ADAPTER(rule_##rule), .options = &options_none, AC_WHY(LATER)},
#include "import/tflite/operators.def"
};

enum { CUSTOM = 32 };
typedef enum builtin {
#define TFL(number, type, opt, rule, why) BUILTIN_##type = number,
#include "import/tflite/operators.def"
    N_BUILTIN
} builtin;

static const ac_operators CUSTOMS = {ROWS + N_BUILTIN, sizeof ROWS / sizeof *ROWS - N_BUILTIN, NULL};

/* ops.def says which TFLite operator each of ours is. */
static ac_op op_of(const ac_operator *row)
{
    return row->run == AC_ADAPTER(rule_select) ? AC_OP_SELECT : ac_op_find_tflite(row->name);
}

const ac_operators ac_tfl_operators = {ROWS, sizeof ROWS / sizeof *ROWS, op_of};

ac_tfl_code ac_tfl_code_of(ac_ctx *cx, int64_t number, const char *custom, int64_t version)
{
    ac_tfl_code c = {.version = version};
    if (number == CUSTOM) {
        c.name = ac_internf(cx, "CUSTOM:%s", custom ? custom : "?");
        c.row = custom ? ac_operator_find(&CUSTOMS, "", custom, 0) : NULL;
        c.op = c.row ? op_of(c.row) : AC_OP_NONE;
    } else if (number < 0 || number >= N_BUILTIN || !ROWS[number].name) {
        c.name = ac_internf(cx, "BUILTIN:%lld", (long long)number);
    } else {
        c.row = &ROWS[number];
        c.name = c.row->name;
        c.op = op_of(c.row);
    }
    return c;
}

void ac_tfl_refuse_op(ac_tfl *r, ac_place at, const ac_tfl_code *code)
{
    const char *name = code->name;
    if (code->version > 1)
        name = ac_internf(r->cx, "%s version %lld", name, (long long)code->version);
    if (code->row)
        ac_refuse(r->reading, at, E0107, name, code->row->reason, code->row->help);
    else if (!strncmp(code->name, "CUSTOM:", 7))
        ac_refuse(r->reading, at, E0107, name, "what a custom operator computes is not part of the file",
                  "convert without custom operators (TFLITE_BUILTINS only)");
    else
        ac_refuse(r->reading, at, E0107, name, "no TFLite schema that arenac knows defines this number",
                  "the model may need a newer arenac");
}

/* Options. */

static int bad_value(ac_tfl *r, const ac_tfl_node *n, const field *f, long long v)
{
    return ac_error(r->cx, n->at, E0103, "option %s is %lld", f->attr, v);
}

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

/* One field of the options table into the attribute at `to`. */
static int read_field(ac_tfl *r, ac_tfl_node *n, ac_fb_table t, const field *f, void *to)
{
    ac_fb *fb = &r->fb;
    int64_t v = 0;
    float x;
    if (f->type == F_i32 || f->type == F_size)
        v = ac_fb_int(fb, t, f->number, AC_FB_I32, f->init);
    else if (f->type == F_bool)
        v = ac_fb_int(fb, t, f->number, AC_FB_U8, f->init);
    else if (f->type == F_act || f->type == F_padding || f->type == F_mirror)
        v = ac_fb_int(fb, t, f->number, AC_FB_I8, f->init);
    else if (f->type == F_zero)
        v = ac_fb_int(fb, t, f->number, f->scalar, 0);
    switch (f->type) {
    case F_i32:
        *(ac_a_i32 *)to = (int32_t)v;
        return AC_OK;
    case F_size:
        *(ac_a_i32 *)to = (int32_t)v;
        return v >= 1 ? AC_OK : bad_value(r, n, f, v);
    case F_bool:
        *(ac_a_bool *)to = v != 0;
        return AC_OK;
    case F_mirror:
        *(ac_a_bool *)to = v == 1;
        return v == 0 || v == 1 ? AC_OK : bad_value(r, n, f, v);
    case F_padding:
        *(ac_a_padding *)to = v == 0 ? AC_PAD_SAME : AC_PAD_VALID;
        return v == 0 || v == 1 ? AC_OK : bad_value(r, n, f, v);
    case F_act: /* both lists start NONE, RELU, RELU_N1_TO_1, RELU6, TANH; then comes SIGN_BIT */
        if (v < 0 || v > AC_ACT_COUNT)
            return bad_value(r, n, f, v);
        if (v == AC_ACT_COUNT) {
            ac_refuse(r->reading, n->at, E0108, n->code->name, "its fused activation is SIGN_BIT", NULL);
            return AC_FAIL;
        }
        *(ac_a_act *)to = (ac_act)v;
        return AC_OK;
    case F_f32:
        *(ac_a_f32 *)to = x = ac_fb_f32(fb, t, f->number, (float)f->init);
        return isfinite(x) ? AC_OK : ac_error(r->cx, n->at, E0103, "option %s is %g", f->attr, (double)x);
    case F_ints:
        return read_list(r, n, t, f, to);
    case F_zero:
        if (v)
            ac_refuse(r->reading, n->at, E0108, n->code->name, f->refuse, NULL);
        return v ? AC_FAIL : AC_OK;
    }
    return AC_FAIL;
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
    const options *o = n->code->row->options;
    int64_t number = ac_fb_int(&r->fb, n->table, OP_OPTIONS_TYPE, AC_FB_U8, 0);
    ac_attrs_init(n->code->op, &n->attrs);
    if (!o->number) /* nothing in them matters, or there are none */
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

/* Rules. */

static int rule_plain(ac_tfl *r, ac_tfl_node *n)
{
    (void)r, (void)n;
    return AC_OK;
}

/* The shape is the second operand, or else an option; there the list [0] is an old way to say "scalar". */
static int rule_reshape(ac_tfl *r, ac_tfl_node *n)
{
    ac_ints *shape = &n->attrs.shape.shape;
    if (n->n_in == 2)
        *shape = (ac_ints){0};
    else if (!ac_fb_child(&r->fb, n->table, OP_OPTIONS, "ReshapeOptions").at)
        return ac_error(r->cx, n->at, E0102, "has neither a second operand nor an option that gives the new shape");
    else if (shape->n == 1 && shape->v[0] == 0)
        shape->n = 0;
    return AC_OK;
}

/* The file's own option may be missing or stale; the type of the result is what counts. */
static int rule_cast(ac_tfl *r, ac_tfl_node *n)
{
    (void)r;
    n->attrs.cast.to = n->out[0]->dtype;
    return AC_OK;
}

static int rule_out_type(ac_tfl *r, ac_tfl_node *n)
{
    ac_dtype to = n->out[0]->dtype;
    if (to != AC_I32 && to != AC_I64)
        return ac_error(r->cx, n->at, E0105, "result '%s' is %s, expected i32 or i64", n->out[0]->name,
                        ac_dtype_name(to));
    n->attrs.arg.out_type = to;
    return AC_OK;
}

/* SELECT, the older form: a condition of one dimension chooses whole rows. Ours broadcasts from the right, so it gets
 * dimensions of size 1 at the end:  cond [N], x [N,A,B]  ->  cond [N,1,1]. */
static int rule_select(ac_tfl *r, ac_tfl_node *n)
{
    ac_tensor *cond = n->in[0], *x = n->in[1];
    if (!strcmp(n->code->name, "SELECT_V2") || cond->rank != 1 || x->rank <= 1)
        return AC_OK;
    int64_t dim[AC_MAX_RANK] = {cond->dim[0]};
    int64_t *shape = AC_NEW_N(r->cx->region, int64_t, x->rank);
    for (int32_t i = 0; i < x->rank; i++) {
        dim[i] = i ? 1 : dim[0];
        shape[i] = i ? 1 : -1;
    }
    ac_tensor *rows = ac_tensor_new(n->g, ac_strf(r->cx->region, "%s_rows", cond->name), cond->dtype, x->rank, dim);
    ac_node *reshape = ac_node_new(n->g, AC_OP_RESHAPE, rows->name, &cond, 1, &rows, 1);
    reshape->at = n->at;
    reshape->attrs.shape.shape = (ac_ints){x->rank, shape};
    n->in[0] = rows;
    return AC_OK;
}

/* Every attribute is an option of the same name; one that is left out keeps its default. */
static int rule_custom(ac_tfl *r, ac_tfl_node *n)
{
    const struct ac_attr_list *set = &ac_attr_sets[ac_ops[n->code->op].attrs];
    ac_fb_vec v = ac_fb_vector(&r->fb, n->table, OP_CUSTOM_OPTIONS, 1);
    if (r->fb.failed)
        return AC_FAIL;
    const ac_span map = {r->fb.bytes.p + v.at, v.n};
    for (int32_t i = 0; i < set->n; i++) {
        const ac_attr_row *a = &set->row[i];
        double x = 0;
        ac_flex found = v.n ? ac_flex_number(map, a->name, &x) : AC_FLEX_ABSENT;
        if (found == AC_FLEX_ABSENT)
            continue;
        if (found == AC_FLEX_BROKEN || !(fabs(x) <= (a->type == AC_A_i32 ? 2147483647.0 : 3.4e38)))
            return ac_error(r->cx, n->at, E0012, "its options are damaged: %s is not a number in range", a->name);
        void *to = (char *)&n->attrs + a->offset;
        if (a->type == AC_A_i32)
            *(ac_a_i32 *)to = (int32_t)x;
        else if (a->type == AC_A_f32)
            *(ac_a_f32 *)to = (float)x;
        else
            *(ac_a_bool *)to = x != 0;
    }
    return AC_OK;
}

/* A custom operator with a memory of its own: its last operand, which no file has. */
static int rule_state(ac_tfl *r, ac_tfl_node *n)
{
    AC_TRY(rule_custom(r, n));
    ac_tensor **in = AC_NEW_N(r->cx->region, ac_tensor *, n->n_in + 1);
    for (int32_t i = 0; i < n->n_in; i++)
        in[i] = n->in[i];
    ac_tensor *state =
        ac_tensor_new(n->g, ac_strf(r->cx->region, "%s_state", n->out[0]->name), n->in[0]->dtype, 1, (int64_t[]){0});
    state->state = true;
    in[n->n_in++] = state;
    n->in = in;
    return AC_OK;
}

/* Operands. */

static int check_counts(ac_tfl *r, ac_tfl_node *n)
{
    enum { MANY = 64 }; /* a max_in that stands for "any number" */
    const ac_op_row *row = &ac_ops[n->code->op];
    const int32_t own = n->code->row->run == AC_ADAPTER(rule_state); /* operands that the rule adds */
    const int32_t least = row->min_in - own, most = row->max_in - own;
    while (n->n_in > least && !n->in[n->n_in - 1])
        n->n_in--; /* left out at the end: the same as not there */
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
    for (int32_t i = 0; i < least; i++)
        if (!n->in[i])
            return ac_error(r->cx, n->at, E0102, "operand %d is left out", i);
    if (row->n_out >= 0 ? n->n_out != row->n_out : n->n_out < 1)
        return ac_error(r->cx, n->at, E0102, "has %d results, expected %s", n->n_out,
                        row->n_out == 1 ? "1" : "at least 1");
    return AC_OK;
}

int ac_tfl_node_add(ac_tfl *r, ac_tfl_node *n, int32_t id)
{
    AC_TRY(check_counts(r, n));
    AC_TRY(read_options(r, n));
    AC_TRY(((rule_fn *)n->code->row->run)(r, n));
    int32_t next = n->g->next_node; /* nodes that a rule adds are numbered after the file's */
    n->g->next_node = id;
    ac_node *made = ac_node_new(n->g, n->code->op, n->out[0]->name, n->in, n->n_in, n->out, n->n_out);
    n->g->next_node = next;
    made->at = n->at;
    made->attrs = n->attrs;
    return AC_OK;
}
