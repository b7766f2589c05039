/* text_read.c - parses the .ag text form into a graph (docs/text-format.md has the grammar).
 *
 * One pass, a statement a line; after an error parsing continues with the next statement, so all independent errors are
 * reported. No recursion: nesting cannot exhaust the stack. */
#include "ir/graph/text_read.h"

#include <string.h>

/* Name [: type [at root+offset]], left of the = */
typedef struct result {
    ac_tok at;
    const char *name;
    bool typed;
    ac_text_type type;
    const char *root; /* NULL: no view */
    ac_tok root_at;
    int64_t offset;
} result;

typedef struct reader {
    ac_lex x;
    ac_graph *g;
    ac_node *last;         /* what a `then` line continues */
    AC_VEC(ac_tok) output; /* names, looked up at the end */
    AC_VEC(result) view;
    const ac_weights_file *weights;  /* of the whole text */
    const ac_vocabulary_pair *words; /* of this graph; NULL: it has none */
    bool channels_first;             /* already reported for this graph */
} reader;

static bool at_word(const reader *p, const char *word)
{
    return p->x.tok.kind == AC_T_NAME && !strcmp(p->x.tok.text, word);
}

static int read_name(reader *p, const char *what, const char **name)
{
    const ac_tok *t = &p->x.tok;
    if (t->kind != AC_T_NAME && t->kind != AC_T_STRING)
        return ac_text_error(&p->x, t, E0020, "expected %s, found %s", what, ac_lex_show(&p->x, t));
    *name = ac_intern(p->x.cx, t->text);
    ac_lex_next(&p->x);
    return AC_OK;
}

static ac_tensor *find(reader *p, const ac_tok *at, const char *name)
{
    ac_tensor *t = ac_tensor_find(p->g, name);
    if (t)
        return t;
    ac_text_error(&p->x, at, E0021, "nothing above defines '%s'", name);
    const char **names = AC_NEW_N(p->x.cx->region, const char *, p->g->tensor.n + 1);
    for (int32_t i = 0; i < p->g->tensor.n; i++)
        names[i] = p->g->tensor.item[i]->name;
    const char *near = ac_closest(name, names, p->g->tensor.n);
    if (near)
        ac_help(p->x.cx, "did you mean '%s'?", near);
    return NULL;
}

/* A tensor of this type; NULL (with a diagnostic) if the name is taken. */
static ac_tensor *define(reader *p, const ac_tok *at, const char *name, const ac_text_type *ty)
{
    if (ac_tensor_find(p->g, name)) {
        ac_text_error(&p->x, at, E0022, "'%s' is defined above already", name);
        return NULL;
    }
    ac_tensor *t = ac_tensor_new(p->g, name, ty ? ty->dtype : AC_NONE, ty ? ty->rank : 0, ty ? ty->dim : NULL);
    if (ty) {
        memcpy(t->dim_name, ty->dim_name, sizeof t->dim_name);
        t->quant = ty->quant;
        if (ty->words && !p->words)
            (void)ac_text_error(&p->x, at, E0021, "'%s' holds texts, but the graph has no list of them: words [..]",
                                name);
        else if (ty->words)
            t->words = ty->words == AC_TEXT_ANY ? &p->words->any : &p->words->known;
    }
    return t;
}

/* input x: type    const w: type = value    state h: type [= value] */
static int read_tensor(reader *p)
{
    const char *kind = p->x.tok.text, *name = NULL;
    ac_text_type ty;
    ac_text_value v = {0};
    int valued = AC_OK;
    ac_lex_next(&p->x);
    ac_tok at = p->x.tok;
    AC_TRY(read_name(p, "a tensor's name", &name));
    AC_TRY(ac_text_expect(&p->x, ':', "and a type after the name"));
    AC_TRY(ac_text_read_type(&p->x, &ty));
    if (kind[0] == 'c' || (kind[0] == 's' && ac_text_is(&p->x, '='))) {
        valued = ac_text_expect(&p->x, '=', "and the values of the constant");
        if (valued == AC_OK)
            valued = ac_text_read_value(&p->x, &ty, p->weights, &v);
    }
    ac_tensor *t = define(p, &at, name, &ty); /* the name is defined even if its value is bad */
    if (!t)
        return AC_FAIL;
    t->data = v.data;
    t->splat = v.splat;
    t->input = kind[0] == 'i';
    t->state = kind[0] == 's';
    if (t->input)
        ac_push(p->x.cx->region, &p->g->input, t);
    return valued;
}

static int read_outputs(reader *p)
{
    do {
        ac_lex_next(&p->x); /* over `output` or the comma */
        ac_tok at = p->x.tok;
        AC_TRY(read_name(p, "the name of a tensor", &at.text));
        ac_push(p->x.cx->region, &p->output, at);
    } while (ac_text_is(&p->x, ','));
    return AC_OK;
}

static int read_result(reader *p, result *r)
{
    *r = (result){.at = p->x.tok};
    AC_TRY(read_name(p, "a statement: input, const, state, output, or a result's name", &r->name));
    if (!ac_text_is(&p->x, ':'))
        return AC_OK;
    ac_lex_next(&p->x);
    AC_TRY(ac_text_read_type(&p->x, &r->type));
    r->typed = true;
    if (!at_word(p, "at"))
        return AC_OK;
    ac_lex_next(&p->x);
    r->root_at = p->x.tok;
    AC_TRY(read_name(p, "the tensor this one lives in", &r->root));
    if (ac_text_is(&p->x, '+'))
        ac_lex_next(&p->x);
    return ac_text_int(&p->x, 0, INT64_MAX / 2, "the byte offset of a view", &r->offset);
}

static int read_ints(reader *p, ac_ints *out)
{
    AC_VEC(int64_t) v = {0};
    AC_TRY(ac_text_expect(&p->x, '[', "and a list of numbers"));
    while (!ac_text_is(&p->x, ']')) {
        int64_t k;
        AC_TRY(ac_text_int(&p->x, INT64_MIN, INT64_MAX, "a number of the list", &k));
        ac_push(p->x.cx->region, &v, k);
        if (!ac_text_is(&p->x, ','))
            break;
        ac_lex_next(&p->x);
    }
    *out = (ac_ints){v.n, v.item};
    return ac_text_expect(&p->x, ']', "after the list");
}

static int read_choice(reader *p, const char *what, const char *const *names, int32_t n, int32_t *choice)
{
    ac_tok at = p->x.tok;
    for (int32_t i = 0; i < n && at.kind == AC_T_NAME; i++)
        if (!strcmp(names[i], at.text)) {
            *choice = i;
            ac_lex_next(&p->x);
            return AC_OK;
        }
    ac_text_error(&p->x, &at, E0103, "%s is not a valid %s", ac_lex_show(&p->x, &at), what);
    const char *near = at.kind == AC_T_NAME ? ac_closest(at.text, names, n) : NULL;
    return near ? ac_help(p->x.cx, "did you mean '%s'?", near) : AC_FAIL;
}

static int read_string(reader *p, const char *what, const char **text)
{
    const ac_tok at = p->x.tok;
    if (at.kind != AC_T_STRING)
        return ac_text_error(&p->x, &at, E0020, "expected %s in quotes, found %s", what, ac_lex_show(&p->x, &at));
    *text = ac_intern(p->x.cx, at.text);
    ac_lex_next(&p->x);
    return AC_OK;
}

static int read_attr_value(reader *p, const ac_attr_row *row, void *at)
{
    static const char *const BOOL[] = {"false", "true"};
    const char *dtypes[AC_DTYPE_COUNT];
    int64_t i = 0;
    int32_t k = 0;
    double f = 0;
    switch (row->type) {
    case AC_A_i32:
        AC_TRY(ac_text_int(&p->x, INT32_MIN, INT32_MAX, row->name, &i));
        *(ac_a_i32 *)at = (int32_t)i;
        return AC_OK;
    case AC_A_f32:
        AC_TRY(ac_text_num(&p->x, row->name, &f));
        *(ac_a_f32 *)at = (float)f;
        return AC_OK;
    case AC_A_bool:
        AC_TRY(read_choice(p, "truth value (true or false)", BOOL, 2, &k));
        *(ac_a_bool *)at = k != 0;
        return AC_OK;
    case AC_A_ints:
        return read_ints(p, at);
    case AC_A_act:
        AC_TRY(read_choice(p, "activation", ac_act_name, AC_ACT_COUNT, &k));
        *(ac_a_act *)at = (ac_act)k;
        return AC_OK;
    case AC_A_padding:
        AC_TRY(read_choice(p, "kind of padding", ac_padding_name, AC_PAD_COUNT, &k));
        *(ac_a_padding *)at = (ac_padding)k;
        return AC_OK;
    case AC_A_word:
        AC_TRY(read_choice(p, "mode", ac_word_name, AC_WORD_COUNT, &k));
        *(ac_a_word *)at = (ac_word)k;
        return AC_OK;
    case AC_A_dtype:
        for (int32_t d = 0; d < AC_DTYPE_COUNT; d++)
            dtypes[d] = ac_dtype_name((ac_dtype)d);
        AC_TRY(read_choice(p, "element type", dtypes + 1, AC_DTYPE_COUNT - 1, &k));
        *(ac_a_dtype *)at = (ac_dtype)(k + 1);
        return AC_OK;
    case AC_A_text:
        return read_string(p, row->name, at);
    }
    return AC_FAIL;
}

static int read_attrs(reader *p, ac_op op, ac_attrs *a)
{
    const struct ac_attr_list *set = &ac_attr_sets[ac_ops[op].attrs];
    uint64_t seen = 0;
    while (p->x.tok.kind == AC_T_NAME) {
        ac_tok at = p->x.tok;
        int32_t i = 0;
        while (i < set->n && strcmp(set->row[i].name, at.text) != 0)
            i++;
        if (i == set->n) {
            const char *names[64];
            for (int32_t k = 0; k < set->n && k < 64; k++)
                names[k] = set->row[k].name;
            ac_text_error(&p->x, &at, E0103, "%s has no attribute '%s'", ac_ops[op].text, at.text);
            const char *near = ac_closest(at.text, names, set->n);
            return near ? ac_help(p->x.cx, "did you mean '%s'?", near) : AC_FAIL;
        }
        if (seen >> i & 1)
            return ac_text_error(&p->x, &at, E0022, "attribute '%s' is given twice", at.text);
        seen |= (uint64_t)1 << i;
        ac_lex_next(&p->x);
        AC_TRY(ac_text_expect(&p->x, '=', "after the attribute"));
        AC_TRY(read_attr_value(p, &set->row[i], (char *)a + set->row[i].offset));
    }
    return AC_OK;
}

static int read_op(reader *p, ac_op *op)
{
    ac_tok at = p->x.tok;
    if (at.kind != AC_T_NAME)
        return ac_text_error(&p->x, &at, E0020, "expected an operator, found %s", ac_lex_show(&p->x, &at));
    *op = ac_op_find(at.text);
    if (*op) {
        ac_lex_next(&p->x);
        return AC_OK;
    }
    const char *names[AC_OP_COUNT];
    for (int i = 0; i < AC_OP_COUNT; i++)
        names[i] = ac_ops[i].text;
    ac_text_error(&p->x, &at, E0021, "unknown operator '%s'", at.text);
    const char *near = ac_closest(at.text, names + 1, AC_OP_COUNT - 1);
    return near ? ac_help(p->x.cx, "did you mean '%s'?", near) : ac_help(p->x.cx, "`arenac ops` lists all operators");
}

typedef struct {
    ac_tensor **item;
    int32_t n, cap;
} tensor_list;

static int read_args(reader *p, tensor_list *in)
{
    int known = AC_OK;
    AC_TRY(ac_text_expect(&p->x, '(', "and the operands"));
    while (!ac_text_is(&p->x, ')')) {
        ac_tok at = p->x.tok;
        ac_tensor *t = NULL;
        const char *name = NULL;
        if (at_word(p, "_")) {
            ac_lex_next(&p->x);
        } else {
            AC_TRY(read_name(p, "an operand (or _ for one left out)", &name));
            if (!(t = find(p, &at, name)))
                known = AC_FAIL;
        }
        ac_push(p->x.cx->region, in, t);
        if (!ac_text_is(&p->x, ','))
            break;
        ac_lex_next(&p->x);
    }
    AC_TRY(ac_text_expect(&p->x, ')', "after the operands"));
    return known;
}

/* The right-hand side of = : op(operands) attributes "name". The results are defined even when this fails, so that one
 * mistake does not cause errors at all their readers. */
static int read_apply(reader *p, ac_op *op, tensor_list *in, ac_attrs *attrs, const char **name)
{
    AC_TRY(ac_text_expect(&p->x, '=', "and an operator"));
    AC_TRY(read_op(p, op));
    ac_attrs_init(*op, attrs);
    AC_TRY(read_args(p, in));
    AC_TRY(read_attrs(p, *op, attrs));
    if (p->x.tok.kind == AC_T_STRING) {
        *name = ac_intern(p->x.cx, p->x.tok.text);
        ac_lex_next(&p->x);
    }
    return AC_OK;
}

static int define_results(reader *p, const result *r, int32_t n, tensor_list *out)
{
    int ok = AC_OK;
    for (int32_t i = 0; i < n; i++) {
        ac_tensor *t = define(p, &r[i].at, r[i].name, r[i].typed ? &r[i].type : NULL);
        if (!t)
            ok = AC_FAIL;
        else
            ac_push(p->x.cx->region, out, t);
        if (t && r[i].root)
            ac_push(p->x.cx->region, &p->view, r[i]);
    }
    return ok;
}

/* [then | view] results = op(operands) attributes "name" */
static int read_node(reader *p)
{
    bool then = at_word(p, "then"), view = at_word(p, "view");
    AC_VEC(result) res = {0};
    tensor_list in = {0}, out = {0};
    ac_op op = AC_OP_NONE;
    ac_attrs attrs;
    ac_tok first = p->x.tok;
    const char *name = NULL;
    if (then && !p->last)
        return ac_text_error(&p->x, &first, E0020, "'then' continues the operator above, which is missing");
    if (then || view)
        ac_lex_next(&p->x);
    for (;;) {
        result r = {0};
        AC_TRY(read_result(p, &r));
        ac_push(p->x.cx->region, &res, r);
        if (!ac_text_is(&p->x, ','))
            break;
        ac_lex_next(&p->x);
    }
    int applied = read_apply(p, &op, &in, &attrs, &name);
    AC_TRY(define_results(p, res.item, res.n, &out));
    AC_TRY(applied);
    ac_node *n = ac_node_new(p->g, op, name ? name : res.item[0].name, in.item, in.n, out.item, out.n);
    n->attrs = attrs;
    n->view = view;
    n->at = ac_lex_place(&p->x, &first);
    n->at.node = n->name;
    n->at.op = ac_ops[op].text;
    if (then) {
        p->g->node.n--;
        ac_node_fuse(p->g, p->last, n);
    } else {
        p->last = n;
    }
    return AC_OK;
}

static int read_statement(reader *p)
{
    if (at_word(p, "input") || at_word(p, "const") || at_word(p, "state"))
        AC_TRY(read_tensor(p));
    else if (at_word(p, "output"))
        AC_TRY(read_outputs(p));
    else
        AC_TRY(read_node(p));
    if (p->x.tok.kind != AC_T_NEWLINE && !ac_text_is(&p->x, '}'))
        return ac_text_error(&p->x, &p->x.tok, E0020, "expected the end of the line, found %s",
                             ac_lex_show(&p->x, &p->x.tok));
    return AC_OK;
}

/* After an error: continues at the next line (or the closing brace). A bracket that is never closed would swallow the
 * rest of the file, so here a line break ends the statement even inside brackets. */
static void recover(reader *p)
{
    ac_lex here = p->x;
    while (p->x.tok.kind != AC_T_END && p->x.tok.kind != AC_T_NEWLINE && !ac_text_is(&p->x, '}'))
        ac_lex_next(&p->x);
    if (!p->x.depth)
        return;
    p->x = here;
    p->x.depth = 0;
    while (p->x.tok.kind != AC_T_END && p->x.tok.kind != AC_T_NEWLINE)
        ac_lex_next(&p->x);
    p->x.depth = 0;
}

static bool too_many(const reader *p)
{
    return p->x.cx->diags.dropped > 0;
}

static void settle_outputs(reader *p)
{
    for (int32_t i = 0; i < p->output.n; i++) {
        ac_tensor *t = find(p, &p->output.item[i], p->output.item[i].text);
        if (!t)
            continue;
        t->output = true;
        ac_push(p->x.cx->region, &p->g->output, t);
    }
    for (int32_t i = 0; i < p->view.n; i++) {
        const result *r = &p->view.item[i];
        ac_tensor *root = find(p, &r->root_at, r->root);
        ac_tensor *t = ac_tensor_find(p->g, r->name);
        t->root = root;
        t->view_offset = r->offset;
    }
}

/* weights "file" bytes "sha256", in front of the graphs */
static int read_weights(reader *p)
{
    ac_weights_file *w = NULL;
    int64_t bytes;
    const ac_tok at = p->x.tok;
    if (p->weights)
        return ac_text_error(&p->x, &at, E0022, "the weights file is named twice");
    ac_lex_next(&p->x);
    const ac_tok name = p->x.tok;
    if (name.kind != AC_T_STRING || !name.len)
        return ac_text_error(&p->x, &name, E0020, "expected a file name in quotes, found %s",
                             ac_lex_show(&p->x, &name));
    ac_lex_next(&p->x);
    AC_TRY(ac_text_int(&p->x, AC_WEIGHTS_HEADER, INT64_MAX / 2, "the size of the weights file", &bytes));
    const ac_tok sum = p->x.tok;
    if (sum.kind != AC_T_STRING || sum.len != 64 || strspn(sum.text, "0123456789abcdef") != 64)
        return ac_text_error(&p->x, &sum, E0020, "expected a SHA-256 in quotes, 64 digits, found %s",
                             ac_lex_show(&p->x, &sum));
    ac_lex_next(&p->x);
    ac_file f = {0};
    AC_TRY(ac_text_file(&p->x, &name, &f));
    AC_TRY(ac_weights_open(p->x.cx, ac_lex_place(&p->x, &name), &f, bytes, sum.text, &w));
    p->weights = w;
    return AC_OK;
}

/* words ["blue", "red"], in order of their bytes: a code is a place in the list. */
static int read_words(reader *p)
{
    AC_VEC(const char *) list = {0};
    ac_vocabulary_pair *w = AC_NEW(p->x.cx->region, ac_vocabulary_pair);
    ac_lex_next(&p->x);
    AC_TRY(ac_text_expect(&p->x, '[', "and the texts that the model knows"));
    while (!ac_text_is(&p->x, ']')) {
        const ac_tok at = p->x.tok;
        const char *text = NULL;
        AC_TRY(read_string(p, "a text", &text));
        if (list.n && strcmp(list.item[list.n - 1], text) >= 0)
            return ac_text_error(&p->x, &at, E0020, "texts must be sorted by their bytes, each once");
        ac_push(p->x.cx->region, &list, text);
        if (!ac_text_is(&p->x, ','))
            break;
        ac_lex_next(&p->x);
    }
    ac_vocabulary_sort(w, list.item, list.n);
    p->words = w;
    return ac_text_expect(&p->x, ']', "after the texts");
}

/* graph NAME [channels_first] [words [..]] { statements } */
static int read_graph(reader *p)
{
    const char *name = NULL;
    if (!at_word(p, "graph"))
        return ac_text_error(&p->x, &p->x.tok, E0020, "expected 'graph NAME {', found %s",
                             ac_lex_show(&p->x, &p->x.tok));
    ac_lex_next(&p->x);
    AC_TRY(read_name(p, "the graph's name", &name));
    p->channels_first = at_word(p, "channels_first");
    if (p->channels_first)
        ac_lex_next(&p->x);
    if (at_word(p, "words"))
        AC_TRY(read_words(p));
    AC_TRY(ac_text_expect(&p->x, '{', "after the graph's name"));
    p->g = ac_graph_new(p->x.cx, name);
    p->g->file = p->x.file;
    while (!ac_text_is(&p->x, '}') && !too_many(p)) {
        if (p->x.tok.kind == AC_T_END)
            return ac_text_error(&p->x, &p->x.tok, E0020, "expected '}' at the end of graph '%s'", name);
        if (p->x.tok.kind == AC_T_NEWLINE)
            ac_lex_next(&p->x);
        else if (read_statement(p) != AC_OK)
            recover(p);
    }
    ac_lex_next(&p->x);
    settle_outputs(p);
    return AC_OK;
}

int ac_graph_read_text(ac_ctx *cx, const char *file, const char *text, size_t n, ac_text_head *head, ac_graph **out)
{
    int32_t before = cx->diags.errors;
    char *own = ac_alloc(cx->region, n + 1); /* places in diagnostics point into it */
    memcpy(own, text, n);
    reader p = {0};
    *out = NULL;
    ac_lex_open(&p.x, cx, file ? ac_intern(cx, file) : NULL, own);
    if (strlen(own) != n)
        return ac_error(cx, (ac_place){.file = p.x.file, .byte = (int64_t)strlen(own) + 1}, E0020,
                        "a NUL byte is not text");
    for (;;) {
        while (p.x.tok.kind == AC_T_NEWLINE)
            ac_lex_next(&p.x);
        if ((p.x.tok.kind == AC_T_END && *out) || too_many(&p))
            break;
        p = (reader){.x = p.x, .weights = p.weights};
        if (!*out && at_word(&p, "weights")) {
            AC_TRY(read_weights(&p));
            continue;
        }
        if (read_graph(&p) != AC_OK) {
            *out = NULL;
            return AC_FAIL;
        }
        if (!*out && head)
            *head = (ac_text_head){p.channels_first, p.weights};
        if (!*out)
            *out = p.g;
        else
            ac_push(cx->region, &(*out)->sub, p.g);
    }
    if (cx->diags.errors != before || ac_graph_verify(*out) != AC_OK) {
        *out = NULL;
        return AC_FAIL;
    }
    return AC_OK;
}
