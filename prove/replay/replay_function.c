/* replay_function.c - reads the loops of one function of a certificate of code: operands are values before them, in
 * scope and of the right type; see replay_read.h. */
#include "prove/replay/replay_read.h"

#include <stdio.h>
#include <string.h>

static int32_t buffer_at(const function *f, const char *name, size_t n)
{
    for (int32_t i = 0; i < f->n_buf; i++)
        if (strlen(f->buf[i].name) == n && !strncmp(f->buf[i].name, name, n))
            return i;
    wrong("there is no such buffer");
    return 0;
}

/* Scopes around the line at work: a value is known in its own and in those inside. */
static int32_t scope[256], n_scopes, last_scope;

static bool in_scope(int32_t s)
{
    for (int32_t i = 0; i < n_scopes; i++)
        if (scope[i] == s)
            return true;
    return false;
}

/* "%12", of an instruction before this one. */
static int32_t operand_of(const function *f, const char *w)
{
    const int64_t x = *w == '%' ? int_of(w + 1) : -1;
    if (x < 1 || x >= f->n || !f->code[x].lanes || !in_scope(f->code[x].scope))
        wrong("an operand is not a value before this one");
    return (int32_t)x;
}

static int32_t operand(const function *f)
{
    return operand_of(f, word());
}

/* "x[%12]" */
static int32_t indexed(const function *f, int32_t *buf)
{
    const char *w = word();
    const char *open = strchr(w, '[');
    char index[24];
    if (!open || strlen(open) > sizeof index || open[strlen(open) - 1] != ']')
        wrong("an element is expected");
    *buf = buffer_at(f, w, (size_t)(open - w));
    snprintf(index, sizeof index, "%.*s", (int)strlen(open) - 2, open + 1);
    return operand_of(f, index);
}

static void read_type(instruction *i)
{
    char w[32];
    snprintf(w, sizeof w, "%s", word());
    char *x = strchr(w, 'x');
    i->lanes = 1;
    if (x) {
        *x = '\0';
        const int64_t lanes = int_of(x + 1);
        if (lanes < 1 || lanes > MAX_LANES)
            wrong("too many lanes");
        i->lanes = (int32_t)lanes;
    }
    i->type = (type)choice(w, type_name, N_TYPES);
}

static void read_pool(instruction *i, bool real_numbers)
{
    i->pool = room(NULL, (size_t)i->lanes, sizeof *i->pool);
    i->reals = room(NULL, (size_t)i->lanes, sizeof *i->reals);
    if (strcmp(word(), "[") != 0)
        wrong("'[' is expected");
    for (int32_t l = 0; l < i->lanes; l++)
        if (real_numbers)
            i->reals[l] = real_number();
        else
            i->pool[l] = integer();
    if (strcmp(word(), "]") != 0)
        wrong("']' is expected");
}

static int32_t lanes_of(const function *f, int32_t x)
{
    return f->code[x].lanes;
}

/* Operands of an instruction that has no more than those. */
static void read_plain(const function *f, instruction *i)
{
    static const char ARITY[N_OPS] = {
        [OP_add] = 2, [OP_sub] = 2, [OP_mul] = 2, [OP_div] = 2,  [OP_mod] = 2,  [OP_min] = 2,   [OP_max] = 2,
        [OP_and] = 2, [OP_or] = 2,  [OP_xor] = 2, [OP_shl] = 2,  [OP_shr] = 2,  [OP_eq] = 2,    [OP_ne] = 2,
        [OP_lt] = 2,  [OP_le] = 2,  [OP_fma] = 3, [OP_dot4] = 3, [OP_dot2] = 3, [OP_select] = 3};
    const int n = ARITY[i->op] ? ARITY[i->op] : 1;
    i->a = operand(f);
    i->b = n > 1 ? operand(f) : 0;
    i->c = n > 2 ? operand(f) : 0;
    const int32_t times = i->op == OP_dot4 ? 4 : i->op == OP_dot2 ? 2 : 1;
    const bool across = i->op == OP_sumlanes || i->op == OP_maxlanes || i->op == OP_splat || i->op == OP_bitcast;
    const int32_t cond = i->op == OP_select ? lanes_of(f, i->a) : i->lanes;
    if (!across && ((i->op == OP_select ? cond != 1 && cond != i->lanes : lanes_of(f, i->a) != times * i->lanes) ||
                    (n > 1 && lanes_of(f, i->b) != times * i->lanes) || (n > 2 && lanes_of(f, i->c) != i->lanes)))
        wrong("operands have another number of lanes");
    if (i->op == OP_splat && lanes_of(f, i->a) != 1)
        wrong("an operand has several lanes");
    if (i->op == OP_bitcast && type_bytes(i->type) * i->lanes != type_bytes(f->code[i->a].type) * lanes_of(f, i->a))
        wrong("bits of operand and result differ in number");
    const bool same = n > 1 && i->op != OP_dot4 && i->op != OP_dot2;
    if (same && f->code[i->b].type != f->code[i->op == OP_select ? i->c : i->a].type)
        wrong("operands have different types");
}

static void expect_word(const char *w)
{
    if (strcmp(word(), w) != 0)
        wrong("a word is missing");
}

static void expect_types(const function *f, const int32_t *buf, const enum type *of, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (f->buf[buf[i]].type != of[i])
            wrong("a buffer has another type");
}

static int32_t named_buffer(const function *f)
{
    const char *w = word();
    return buffer_at(f, w, strlen(w));
}

/* 8 to[%1] 21 3 x[%2] 64 %3 */
static void read_spread(const function *f, instruction *i, tile *t)
{
    t->channels = integer_in(1, 32);
    i->b = indexed(f, &t->acc);
    t->pitch = integer_in(0, 4095);
    t->shift = integer_in(0, 127);
    i->a = indexed(f, &t->x);
    t->stride = integer_in(0, 4095);
    expect_types(f, (int32_t[]){t->x, t->acc}, (enum type[]){I8, I8}, 2);
}

/* 3 x 2 acc x[%1] w[%2]; where rows have a pitch: x[%1] PITCH w[%2] SHIFT DEPTH */
static void read_sums(const function *f, instruction *i, tile *t)
{
    const bool pitched = t->form == TILE_EACH || t->form == TILE_OUTER || t->form == TILE_LANES;
    const bool pairs = t->form == TILE_PAIRS || t->form == TILE_ROW, plain = t->form == TILE_UNSIGNED;
    const bool matrix = t->form == TILE_MATRIX;
    t->rows = integer_in(1, matrix ? 32 : plain || t->form == TILE_ROW ? 1 : 31);
    expect_word("x");
    t->channels = integer_in(1, 32);
    t->acc = named_buffer(f);
    i->a = indexed(f, &t->x);
    t->pitch = pitched || matrix ? integer_in(0, 4095) : 0;
    i->b = indexed(f, &t->w);
    t->shift = pitched ? integer_in(0, 127) : 0;
    t->depth = pitched || plain ? integer_in(1, 127) : 0;
    if (pairs && t->channels % 2)
        wrong("channels are in pairs");
    if (matrix && t->channels % 16)
        wrong("channels are in blocks of 16");
    const enum type bytes = plain ? U8 : I8;
    expect_types(f, (int32_t[]){t->x, t->w, t->acc}, (enum type[]){t->form == TILE_PAIRS ? I16 : bytes, bytes, I32}, 3);
}

static void read_tile(const function *f, instruction *i)
{
    static const char *const FORM_NAME[N_TILES] = {
#define FORM(name, text) #text,
        FORMS(FORM)
#undef FORM
    };
    tile *t = i->tile = room(NULL, 1, sizeof *t);
    *t = (tile){.form = (tile_form)choice(word(), FORM_NAME, N_TILES), .rows = 1};
    if (t->form == TILE_SPREAD)
        read_spread(f, i, t);
    else
        read_sums(f, i, t);
    i->c = operand(f);
}

/* 4 y[%1] acc 0 table[%2] %3 -128 -128 .. 127 pre 0 away */
static void read_requant(const function *f, instruction *i)
{
    requant *q = i->requant = room(NULL, 1, sizeof *q);
    *q = (requant){.lanes = integer_in(1, 32)};
    i->a = indexed(f, &q->y);
    q->acc = named_buffer(f);
    q->row = integer_in(0, 15);
    i->b = indexed(f, &q->table);
    i->c = operand(f);
    integer_in(-128, 127); /* the zero point: the result is clamped after it */
    q->lo = integer_in(-128, 127);
    expect_word("..");
    q->hi = integer_in(q->lo, 127);
    expect_word("pre");
    integer_in(0, 31);
    q->away = took("away");
    expect_types(f, (int32_t[]){q->y, q->acc, q->table}, (enum type[]){I8, I32, I32}, 3);
}

static void expect_variable(const function *f, int32_t at, int32_t lanes, enum type of)
{
    const instruction *v = &f->code[at];
    if (v->op != OP_var || v->lanes != lanes || v->type != of)
        wrong("that is no variable of this type");
}

static void read_instruction(function *f, instruction *i)
{
    i->op = (opcode)choice(word(), op_name, N_OPS);
    switch ((int)i->op) {
    case OP_else:
    case OP_end:
        return;
    case OP_store:
        i->a = indexed(f, &i->aux);
        i->b = operand(f);
        if (f->code[i->b].type != f->buf[i->aux].type)
            wrong("another type is stored");
        return;
    case OP_set:
        i->a = operand(f);
        if (!took("to"))
            wrong("'to' is expected");
        i->aux = operand(f);
        expect_variable(f, i->aux, lanes_of(f, i->a), f->code[i->a].type);
        return;
    case OP_if:
    case OP_break_if:
    case OP_fail_if:
        i->a = operand(f);
        if (f->code[i->a].type != BOOL || lanes_of(f, i->a) != 1)
            wrong("a condition is expected");
        return;
    case OP_tile:
        read_tile(f, i);
        return;
    case OP_requant:
        read_requant(f, i);
        return;
    case OP_prefetch:
    case OP_mma:
        return;
    default:
        break;
    }
    read_type(i);
    switch ((int)i->op) {
    case OP_const:
        if (is_real(i->type))
            i->f = real_number();
        else
            i->k = integer();
        break;
    case OP_constv:
        read_pool(i, is_real(i->type));
        break;
    case OP_load:
        i->a = indexed(f, &i->aux);
        if (i->type != f->buf[i->aux].type)
            wrong("another type is loaded");
        break;
    case OP_get:
        i->aux = operand(f);
        expect_variable(f, i->aux, i->lanes, i->type);
        break;
    case OP_for:
        i->a = operand(f);
        if (!took(".."))
            wrong("'..' is expected");
        i->b = operand(f);
        if (!took("step"))
            wrong("'step' is expected");
        i->k = integer();
        if (!i->k || i->k < -INT32_MAX || i->k > INT32_MAX || i->type != I32 || i->lanes != 1)
            wrong("that is no loop");
        break;
    case OP_lane:
        i->a = operand(f);
        if (!took("at"))
            wrong("'at' is expected");
        i->aux = integer_in(0, lanes_of(f, i->a) - 1);
        break;
    case OP_shuffle: {
        i->a = operand(f);
        i->b = next_is('%') ? operand(f) : 0;
        read_pool(i, false);
        for (int32_t l = 0; l < i->lanes; l++)
            if (i->pool[l] < 0 || i->pool[l] >= lanes_of(f, i->a) + (i->b ? lanes_of(f, i->b) : 0))
                wrong("a lane is out of range");
        break;
    }
    default:
        read_plain(f, i);
    }
    i->value = room(NULL, (size_t)i->lanes, sizeof *i->value);
    memset(i->value, 0, (size_t)i->lanes * sizeof *i->value);
}

static void read_flags(instruction *i)
{
    for (const char *w = word(); *w; w = word())
        if (!strcmp(w, "as") || (!strcmp(w, "status") && i->op == OP_fail_if))
            word();
        else if (!strcmp(w, "wrap"))
            i->wrap = true;
        else if (!strcmp(w, "narrow") && i->op == OP_load)
            i->narrow = true;
        else if (((!strcmp(w, "parallel") || !strcmp(w, "grid") || !strcmp(w, "block")) && i->op == OP_for) ||
                 !strcmp(w, "unroll") || !strcmp(w, "apart") || !strcmp(w, "aligned") || !strcmp(w, "shape"))
            continue;
        else if (i->op != OP_prefetch && i->op != OP_mma)
            wrong("unexpected text");
}

static void read_buffer(function *f)
{
    f->buf = room(f->buf, (size_t)f->n_buf + 1, sizeof *f->buf);
    buffer *b = &f->buf[f->n_buf];
    *b = (buffer){.name = kept(word())};
    b->role = (role)choice(word(), role_name, N_ROLES);
    b->type = (type)choice(word(), type_name, N_TYPES);
    b->count = bytes_number();
    if (!took("align"))
        wrong("'align' is expected");
    b->align = integer_in(1, 1 << 20);
    f->n_buf++;
    if (b->role != LOCAL)
        f->n_params = f->n_buf;
}

/* Lines up to the next "call", "fn" or other word at their beginning. */
void read_function(program *c)
{
    c->fn = room(c->fn, (size_t)c->n_fns + 1, sizeof *c->fn);
    function *f = &c->fn[c->n_fns++];
    int32_t open[256], n_open = 0;
    scope[0] = last_scope = 1;
    n_scopes = 1;
    *f = (function){.name = kept(word()), .n = 1, .code = room(NULL, 1, sizeof *f->code)};
    memset(f->code, 0, sizeof *f->code);
    while (is_indented()) {
        need_line();
        if (took("buf")) {
            read_buffer(f);
            continue;
        }
        f->code = room(f->code, (size_t)f->n + 1, sizeof *f->code);
        instruction *i = &f->code[f->n];
        *i = (instruction){.scope = scope[n_scopes - 1]};
        int64_t name = -1;
        if (next_is('%')) {
            name = int_of(word() + 1);
            if (!took("="))
                wrong("'=' is expected");
        }
        read_instruction(f, i);
        read_flags(i);
        if (name >= 0 && name != f->n)
            wrong("instructions are not numbered consecutively");
        if (i->op == OP_end || i->op == OP_else) {
            if (!n_open || (i->op == OP_else && f->code[open[n_open - 1]].op != OP_if))
                wrong("no block is open");
            instruction *begin = &f->code[open[n_open - 1]];
            if (i->op == OP_end)
                begin->end = f->n, n_open--, n_scopes--;
            else if (begin->other)
                wrong("a second else");
            else
                begin->other = f->n, scope[n_scopes - 1] = ++last_scope;
        }
        if (i->op == OP_for || i->op == OP_if) {
            if (n_open == 250)
                wrong("blocks are too deep");
            open[n_open++] = f->n;
            i->scope = scope[n_scopes++] = ++last_scope; /* a loop's number is known in it */
        }
        f->n++;
    }
    if (n_open)
        wrong("a block does not end");
}
