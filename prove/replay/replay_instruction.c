/* replay_instruction.c - reads one instruction of a certificate of code: its operands are values before it, in scope;
 * see replay_read.h. */
#include "prove/replay/replay_read.h"

#include <stdio.h>
#include <string.h>

static const scopes *around; /* of the line at work */

static int32_t buffer_at(const function *f, const char *name, size_t n)
{
    for (int32_t i = 0; i < f->n_buf; i++)
        if (strlen(f->buf[i].name) == n && !strncmp(f->buf[i].name, name, n))
            return i;
    wrong("the function has no buffer of this name");
    return 0;
}

static bool in_scope(int32_t s)
{
    for (int32_t i = 0; i <= around->n; i++)
        if (around->scope[i] == s)
            return true;
    return false;
}

/* "%12", of an instruction before this one: a variable, or a value. */
static int32_t named(const function *f, const char *w, bool variable)
{
    const whole x = *w == '%' ? int_of(w + 1) : -1;
    if (x < 1 || x >= f->n || !f->code[x].lanes || !in_scope(f->code[x].scope))
        wrong("an operand is not a value before this one");
    if ((f->code[x].op == OP_var) != variable)
        wrong(variable ? "that is not a variable of this type" : "an operand is a variable, not a value");
    return (int32_t)x;
}

static int32_t operand_of(const function *f, const char *w)
{
    return named(f, w, false);
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
        const whole lanes = int_of(x + 1);
        if (lanes < 1 || lanes > MAX_LANES)
            wrong("too many lanes");
        i->lanes = (int32_t)lanes;
    }
    i->type = (type)choice(w, type_name, N_TYPES);
}

/* Lanes of a constant, or places of a shuffle below `end`. */
static void read_pool(instruction *i, int64_t end)
{
    i->pool = room(NULL, (size_t)i->lanes, sizeof *i->pool);
    i->reals = room(NULL, (size_t)i->lanes, sizeof *i->reals);
    if (strcmp(word(), "[") != 0)
        wrong("'[' is expected");
    for (int32_t l = 0; l < i->lanes; l++)
        if (end)
            i->pool[l] = integer_in(0, end - 1);
        else if (is_real(i->type))
            i->reals[l] = real_of(i->type);
        else
            i->pool[l] = (int64_t)integer_of(i->type);
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
    const bool three = i->op == OP_dot4 || i->op == OP_dot2 || i->op == OP_select;
    const bool two = i->op == OP_eq || i->op == OP_ne || i->op == OP_lt || i->op == OP_le;
    const int32_t plain = plain_arity(i->op), n = plain ? plain : three ? 3 : two ? 2 : 1;
    i->a = operand(f);
    i->b = n > 1 ? operand(f) : 0;
    i->c = n > 2 ? operand(f) : 0;
}

static void expect_word(const char *w)
{
    if (strcmp(word(), w) != 0)
        wrong("a word is missing");
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
}

/* 3 x 2 acc x[%1] w[%2]; if rows have a pitch: x[%1] PITCH w[%2] SHIFT DEPTH */
static void read_sums(const function *f, instruction *i, tile *t)
{
    const bool pitched = t->form == TILE_EACH || t->form == TILE_OUTER || t->form == TILE_LANES;
    const bool matrix = t->form == TILE_MATRIX;
    t->rows = integer_in(1, matrix ? 32 : 31);
    expect_word("x");
    t->channels = integer_in(1, 32);
    t->acc = named_buffer(f);
    i->a = indexed(f, &t->x);
    t->pitch = pitched || matrix ? integer_in(0, 4095) : 0;
    i->b = indexed(f, &t->w);
    t->shift = pitched ? integer_in(0, 127) : 0;
    t->depth = pitched || t->form == TILE_UNSIGNED ? integer_in(1, 127) : 0;
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
}

/* f32 out[%1] words[%2] words[%3] */
static void read_mma(const function *f, instruction *i)
{
    int32_t words;
    instruction of;
    read_type(&of);
    i->a = indexed(f, &i->aux);
    i->b = indexed(f, &words);
    i->c = indexed(f, &words);
}

static void read_loop(const function *f, instruction *i)
{
    i->a = operand(f);
    expect_word("..");
    i->b = operand(f);
    expect_word("step");
    i->k = integer_in(-INT32_MAX, INT32_MAX);
    if (!i->k)
        wrong("the step of a loop is 0");
}

/* Instructions without a value. Returns false if the instruction does. */
static bool read_statement(const function *f, instruction *i)
{
    switch ((int)i->op) {
    case OP_else:
    case OP_end:
        return true;
    case OP_store:
        i->a = indexed(f, &i->aux);
        i->b = operand(f);
        return true;
    case OP_prefetch:
        i->a = indexed(f, &i->aux);
        return true;
    case OP_set:
        i->a = operand(f);
        expect_word("to");
        i->aux = named(f, word(), true);
        return true;
    case OP_if:
    case OP_break_if:
        i->a = operand(f);
        return true;
    case OP_fail_if:
        i->a = operand(f);
        expect_word("status");
        integer_in(1, INT32_MAX);
        return true;
    case OP_tile:
        read_tile(f, i);
        return true;
    case OP_requant:
        read_requant(f, i);
        return true;
    case OP_mma:
        read_mma(f, i);
        return true;
    default:
        return false;
    }
}

static void read_value(const function *f, instruction *i)
{
    read_type(i);
    switch ((int)i->op) {
    case OP_const:
        if (is_real(i->type))
            i->f = real_of(i->type);
        else
            i->k = (int64_t)integer_of(i->type);
        break;
    case OP_constv:
        read_pool(i, 0);
        break;
    case OP_load:
        i->a = indexed(f, &i->aux);
        break;
    case OP_get:
        i->aux = named(f, word(), true);
        break;
    case OP_for:
        read_loop(f, i);
        break;
    case OP_lane:
        i->a = operand(f);
        expect_word("at");
        i->aux = integer_in(0, lanes_of(f, i->a) - 1);
        break;
    case OP_shuffle:
        i->a = operand(f);
        i->b = next_is('%') ? operand(f) : 0;
        read_pool(i, lanes_of(f, i->a) + (i->b ? lanes_of(f, i->b) : 0));
        break;
    default:
        read_plain(f, i);
    }
    i->value = memset(room(NULL, (size_t)i->lanes, sizeof *i->value), 0, (size_t)i->lanes * sizeof *i->value);
}

static void expect_name(void)
{
    if (!*word())
        wrong("a name is expected");
}

static void read_flags(instruction *i)
{
    const bool access = i->op == OP_load || i->op == OP_store, loop = i->op == OP_for;
    for (const char *w = word(); *w; w = word())
        if (!strcmp(w, "as"))
            expect_name();
        else if (!strcmp(w, "wrap"))
            i->wrap = true;
        else if (!strcmp(w, "narrow") && i->op == OP_load)
            i->narrow = true;
        else if (!strcmp(w, "aligned") && access)
            i->aligned = true;
        else if (loop && (!strcmp(w, "parallel") || !strcmp(w, "grid") || !strcmp(w, "block")))
            i->parallel = true;
        else if ((!loop || (strcmp(w, "unroll") != 0 && strcmp(w, "apart") != 0)) &&
                 (i->op != OP_const || strcmp(w, "shape") != 0))
            wrong("unexpected text");
}

void read_instruction(function *f, instruction *i, const scopes *s)
{
    around = s;
    i->op = (opcode)choice(word(), op_name, N_OPS);
    if (!read_statement(f, i))
        read_value(f, i);
    read_flags(i);
    check_types(f, i);
}
