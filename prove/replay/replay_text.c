/* replay_text.c - reading a certificate of code; see replay.h. Nothing is believed: every number is inside its
 * array. */
#include "prove/replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const op_name[N_OPS] = {
#define OP(name) #name,
    OPS(OP)
#undef OP
};
static const char *const type_name[N_TYPES] = {"bool", "i8",  "u8",  "i16",  "u16", "i32", "u32",
                                               "i64",  "u64", "f16", "bf16", "f32", "f64"};
static const char *const role_name[N_ROLES] = {"in", "out", "inout", "const", "scratch", "local"};

int64_t type_bytes(type t)
{
    static const int64_t BYTES[N_TYPES] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
    return BYTES[t];
}

bool is_real(type t)
{
    return t >= F16;
}

whole type_lo(type t)
{
    static const int BITS[N_TYPES] = {0, 8, 0, 16, 0, 32, 0, 64, 0, 0, 0, 0, 0};
    return BITS[t] ? -((whole)1 << (BITS[t] - 1)) : 0;
}

whole type_hi(type t)
{
    static const int BITS[N_TYPES] = {1, 7, 8, 15, 16, 31, 32, 63, 64, 0, 0, 0, 0};
    return ((whole)1 << BITS[t]) - 1;
}

/* ------------------------------------------------------------------ words */

static char *at; /* what is left of the line */
static char *rest;
static long line_no;

static void wrong(const char *what)
{
    refuse("line %ld: %s", line_no, what);
}

static bool next_line(void)
{
    if (!*rest)
        return false;
    at = rest;
    rest += strcspn(rest, "\n");
    if (*rest)
        *rest++ = '\0';
    line_no++;
    return true;
}

static void need_line(void)
{
    if (!next_line())
        wrong("the file ends too early");
}

/* The next word; "" at the end of the line. Text in quotes is passed over. */
static const char *word(void)
{
    for (at += strspn(at, " "); *at == '"'; at += strspn(at, " ")) {
        char *close = strchr(at + 1, '"');
        at = close ? close + 1 : at + strlen(at);
    }
    char *w = at;
    at += strcspn(at, " ");
    if (*at)
        *at++ = '\0';
    return w;
}

static bool took(const char *expected)
{
    at += strspn(at, " ");
    const size_t n = strlen(expected);
    if (strncmp(at, expected, n) != 0 || (at[n] && at[n] != ' '))
        return false;
    at += n;
    return true;
}

static int64_t int_of(const char *w)
{
    char *end;
    const unsigned long long big = *w == '-' ? 0 : strtoull(w, &end, 10);
    const long long v = *w == '-' ? strtoll(w, &end, 10) : (long long)big;
    if (!*w || *end)
        wrong("a number is expected");
    return (int64_t)v;
}

static int64_t integer(void)
{
    return int_of(word());
}

static int32_t between(int64_t lo, int64_t hi)
{
    const int64_t v = integer();
    if (v < lo || v > hi || v > INT32_MAX)
        wrong("a number is out of range");
    return (int32_t)v;
}

static int64_t bytes_number(void)
{
    const int64_t v = integer();
    if (v < 0 || v > (int64_t)1 << 40)
        wrong("a size or place is out of range");
    return v;
}

static double real(void)
{
    const char *w = word();
    char *end;
    const double v = strtod(w, &end);
    if (!*w || *end)
        wrong("a number is expected");
    return v;
}

static char *kept(const char *w)
{
    const size_t n = strlen(w) + 1;
    return memcpy(room(NULL, n, 1), w, n);
}

static int32_t choice(const char *w, const char *const *name, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (!strcmp(w, name[i]))
            return i;
    wrong("a word is not known");
    return 0;
}

/* ------------------------------------------------------------------ functions */

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
            i->reals[l] = real();
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
        if (f->code[i->aux].op != OP_var || f->code[i->aux].lanes != lanes_of(f, i->a) ||
            f->code[i->aux].type != f->code[i->a].type)
            wrong("that is no variable of this type");
        return;
    case OP_if:
    case OP_break_if:
    case OP_fail_if:
        i->a = operand(f);
        if (f->code[i->a].type != BOOL || lanes_of(f, i->a) != 1)
            wrong("a condition is expected");
        return;
    case OP_prefetch:
    case OP_tile:
    case OP_mma:
    case OP_requant:
        return;
    default:
        break;
    }
    read_type(i);
    switch ((int)i->op) {
    case OP_const:
        if (is_real(i->type))
            i->f = real();
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
        if (f->code[i->aux].op != OP_var || f->code[i->aux].lanes != i->lanes || f->code[i->aux].type != i->type)
            wrong("that is no variable of this type");
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
        i->aux = between(0, lanes_of(f, i->a) - 1);
        break;
    case OP_shuffle: {
        i->a = operand(f);
        at += strspn(at, " ");
        i->b = *at == '%' ? operand(f) : 0;
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
        else if ((!strcmp(w, "parallel") && i->op == OP_for) || !strcmp(w, "unroll") || !strcmp(w, "apart") ||
                 !strcmp(w, "aligned") || !strcmp(w, "shape"))
            continue;
        else if (i->op != OP_prefetch && i->op != OP_tile && i->op != OP_mma && i->op != OP_requant)
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
    b->align = between(1, 1 << 20);
    f->n_buf++;
    if (b->role != LOCAL)
        f->n_params = f->n_buf;
}

/* Lines up to the next "call", "fn" or other word at their beginning. */
static void read_function(program *c)
{
    c->fn = room(c->fn, (size_t)c->n_fns + 1, sizeof *c->fn);
    function *f = &c->fn[c->n_fns++];
    int32_t open[256], n_open = 0;
    scope[0] = last_scope = 1;
    n_scopes = 1;
    *f = (function){.name = kept(word()), .n = 1, .code = room(NULL, 1, sizeof *f->code)};
    memset(f->code, 0, sizeof *f->code);
    while (*rest == ' ') {
        need_line();
        if (took("buf")) {
            read_buffer(f);
            continue;
        }
        f->code = room(f->code, (size_t)f->n + 1, sizeof *f->code);
        instruction *i = &f->code[f->n];
        *i = (instruction){.scope = scope[n_scopes - 1]};
        at += strspn(at, " ");
        int64_t name = -1;
        if (*at == '%') {
            name = int_of(word() + 1);
            if (!took("="))
                wrong("'=' is expected");
        }
        read_instruction(f, i);
        read_flags(i);
        if (name >= 0 && name != f->n)
            wrong("instructions are not numbered one after the other");
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

/* ------------------------------------------------------------------ the rest */

static void read_memory(program *c)
{
    c->memory = room(c->memory, (size_t)c->n_memories + 1, sizeof *c->memory);
    memory *m = &c->memory[c->n_memories++];
    *m = (memory){.name = kept(word())};
    m->bytes = bytes_number();
    m->align = bytes_number();
    const size_t n = (size_t)m->bytes + 1;
    m->tensor = memset(room(NULL, n, sizeof *m->tensor), 0, n * sizeof *m->tensor);
    m->by = memset(room(NULL, n, sizeof *m->by), 0, n * sizeof *m->by);
    m->at = memset(room(NULL, n, sizeof *m->at), 0, n * sizeof *m->at);
}

static void read_constant(program *c)
{
    c->constant = room(c->constant, (size_t)c->n_constants + 1, sizeof *c->constant);
    constant *k = &c->constant[c->n_constants++];
    *k = (constant){.type = (type)choice(word(), type_name, N_TYPES)};
    k->count = bytes_number();
    k->all_alike = took("range");
    const int64_t n = k->all_alike ? 1 : k->count;
    k->value = room(NULL, (size_t)n + 1, sizeof *k->value);
    for (int64_t i = 0; i < n; i++) {
        range *v = &k->value[i];
        *v = (range){.written = true};
        if (is_real(k->type)) {
            v->least = real();
            v->most = k->all_alike ? real() : v->least;
            v->nan = k->all_alike ? took("nan") : v->least != v->least;
        } else {
            v->lo = k->type == U64 ? (whole)(uint64_t)integer() : (whole)integer();
            v->hi = !k->all_alike ? v->lo : k->type == U64 ? (whole)(uint64_t)integer() : (whole)integer();
            if (v->lo < type_lo(k->type) || v->hi > type_hi(k->type))
                wrong("a constant does not fit its type");
        }
    }
}

static holding read_holding(const program *c)
{
    holding h = {.memory = between(0, c->n_memories - 1)};
    h.offset = bytes_number();
    h.bytes = bytes_number();
    h.tensor = between(1, INT32_MAX);
    h.begin = bytes_number();
    if (h.offset + h.bytes > c->memory[h.memory].bytes)
        wrong("a tensor is not inside its memory");
    return h;
}

static void read_argument(const program *c, call *k)
{
    const function *f = &c->fn[k->fn];
    if (k->n_args == f->n_params)
        wrong("the function has fewer parameters");
    const buffer *b = &f->buf[k->n_args];
    k->arg = room(k->arg, (size_t)k->n_args + 1, sizeof *k->arg);
    argument *a = &k->arg[k->n_args++];
    *a = (argument){.count = b->count};
    if (took("task")) {
        a->place = AT_TASK;
        if (b->type != I32 || b->count != 1 || (b->role != IN && b->role != CONSTANT))
            wrong("the number of a task is one i32");
    } else if (took("const")) {
        a->place = AT_CONSTANT;
        a->index = between(0, c->n_constants - 1);
        if ((b->role != CONSTANT && b->role != IN) || c->constant[a->index].type != b->type)
            wrong("a constant is of another type, or written");
        a->count = c->constant[a->index].count < b->count ? c->constant[a->index].count : b->count;
    } else if (took("memory")) {
        a->index = between(0, c->n_memories - 1);
        a->offset = bytes_number();
        a->count = bytes_number();
        a->tensor = between(0, INT32_MAX);
        a->begin = bytes_number();
        a->bytes = bytes_number();
        if (a->count > b->count || b->role == CONSTANT)
            wrong("the parameter is smaller, or a constant");
    } else {
        wrong("an argument is a memory, a constant or a task");
    }
}

static void read_cut(call *k, const function *f)
{
    k->cut = room(k->cut, (size_t)k->n_cuts + 1, sizeof *k->cut);
    cut *u = &k->cut[k->n_cuts++];
    *u = (cut){.at = between(1, f->n - 1)};
    if (!f->code[u->at].value || is_real(f->code[u->at].type) || f->code[u->at].lanes != 1)
        wrong("only a single integer can be cut");
    u->n = between(1, 1 << 20);
    u->lo = room(NULL, (size_t)u->n, sizeof *u->lo);
    u->hi = room(NULL, (size_t)u->n, sizeof *u->hi);
    for (int32_t i = 0; i < u->n; i++) {
        u->lo[i] = integer();
        u->hi[i] = integer();
        if (u->lo[i] > u->hi[i] || (i && u->lo[i] != u->hi[i - 1] + 1))
            wrong("parts do not follow one another");
    }
}

static void read_call(program *c)
{
    c->call = room(c->call, (size_t)c->n_calls + 1, sizeof *c->call);
    call *k = &c->call[c->n_calls++];
    *k = (call){.fn = between(0, c->n_fns - 1)};
    if (!took("tasks"))
        wrong("'tasks' is expected");
    k->tasks = between(1, 1 << 20);
    while (*rest == ' ') {
        need_line();
        if (took("arg"))
            read_argument(c, k);
        else if (took("cut"))
            read_cut(k, &c->fn[k->fn]);
        else
            wrong("'arg' or 'cut' is expected");
    }
    if (k->n_args != c->fn[k->fn].n_params)
        wrong("the function has more parameters");
}

static void read_restrict(const program *c)
{
    const int32_t f = between(0, c->n_fns - 1), b = between(0, c->fn[f].n_buf - 1);
    c->fn[f].buf[b].restricted = true;
}

void read_code(char *text, program *c)
{
    bool ended = false;
    rest = text;
    need_line();
    if (strcmp(at, "arenac-code-certificate 1") != 0)
        wrong("that is no certificate of code of version 1");
    while (next_line()) {
        if (ended)
            wrong("text after the end");
        if (took("memory"))
            read_memory(c);
        else if (took("const"))
            read_constant(c);
        else if (took("fn"))
            read_function(c);
        else if (took("restrict"))
            read_restrict(c);
        else if (took("call"))
            read_call(c);
        else if (took("before")) {
            c->before = room(c->before, (size_t)c->n_before + 1, sizeof *c->before);
            c->before[c->n_before++] = read_holding(c);
        } else if (took("after")) {
            c->after = room(c->after, (size_t)c->n_after + 1, sizeof *c->after);
            c->after[c->n_after++] = read_holding(c);
        } else if (took("end"))
            ended = true;
        else if (!took("model") && !took("options"))
            wrong("a line begins with a word that is not known");
    }
    if (!ended)
        wrong("the file ends too early");
}
