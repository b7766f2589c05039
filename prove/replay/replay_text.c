/* replay_text.c - reads a certificate of code: memories, constants and calls; see replay.h. Every number is checked to
 * be inside its array. */
#include "prove/replay/replay_ranges.h"
#include "prove/replay/replay_read.h"

#include <string.h>

const char *const op_name[N_OPS] = {
#define OP(name) #name,
    OPS(OP)
#undef OP
};
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

static void read_memory(program *c)
{
    c->memory = room(c->memory, (size_t)c->n_memories + 1, sizeof *c->memory);
    memory *m = &c->memory[c->n_memories++];
    *m = (memory){.name = kept(word())};
    m->bytes = bytes_number();
    m->align = integer_in(1, 1 << 20);
    end_of_line();
}

static void read_constant(program *c)
{
    c->constant = room(c->constant, (size_t)c->n_constants + 1, sizeof *c->constant);
    constant *k = &c->constant[c->n_constants++];
    *k = (constant){.type = (type)choice(word(), type_name, N_TYPES)};
    k->count = integer_in(0, 1 << 28);
    k->all_alike = took("range");
    const int64_t n = k->all_alike ? 1 : k->count;
    k->value = room(NULL, (size_t)n + 1, sizeof *k->value);
    for (int64_t i = 0; i < n; i++) {
        if (is_real(k->type)) {
            const double least = real_of(k->type), most = k->all_alike ? real_of(k->type) : least;
            if (k->all_alike && !(least <= most))
                wrong("a range ends before it begins");
            k->value[i] = real_between(least, most, k->all_alike && took("nan"));
        } else {
            const whole lo = integer_of(k->type), hi = k->all_alike ? integer_of(k->type) : lo;
            if (lo > hi)
                wrong("a range ends before it begins");
            k->value[i] = between(lo, hi);
        }
    }
    end_of_line();
}

static holding read_holding(const program *c)
{
    holding h = {.memory = integer_in(0, c->n_memories - 1)};
    h.offset = bytes_number();
    h.bytes = bytes_number();
    h.tensor = integer_in(1, INT32_MAX);
    h.begin = bytes_number();
    if (h.offset + h.bytes > c->memory[h.memory].bytes)
        wrong("a tensor is not inside its memory");
    end_of_line();
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
        a->index = integer_in(0, c->n_constants - 1);
        if ((b->role != CONSTANT && b->role != IN) || c->constant[a->index].type != b->type)
            wrong("a constant has another type, or is written");
        a->count = c->constant[a->index].count < b->count ? c->constant[a->index].count : b->count;
    } else if (took("memory")) {
        a->index = integer_in(0, c->n_memories - 1);
        a->offset = bytes_number();
        a->count = bytes_number();
        a->tensor = integer_in(0, INT32_MAX);
        a->begin = bytes_number();
        a->bytes = bytes_number();
        if (a->count > b->count || b->role == CONSTANT)
            wrong("the parameter is smaller, or a constant");
    } else {
        wrong("an argument is a memory, a constant or a task");
    }
    end_of_line();
}

static void read_cut(call *k, const function *f)
{
    k->cut = room(k->cut, (size_t)k->n_cuts + 1, sizeof *k->cut);
    cut *u = &k->cut[k->n_cuts++];
    *u = (cut){.at = integer_in(1, f->n - 1)};
    if (!f->code[u->at].value || is_real(f->code[u->at].type) || f->code[u->at].lanes != 1)
        wrong("only a single integer can be cut");
    u->n = integer_in(1, 1 << 20);
    u->lo = room(NULL, (size_t)u->n, sizeof *u->lo);
    u->hi = room(NULL, (size_t)u->n, sizeof *u->hi);
    for (int32_t i = 0; i < u->n; i++) {
        u->lo[i] = integer();
        u->hi[i] = integer();
        if (u->lo[i] > u->hi[i] || (i && (whole)u->lo[i] != (whole)u->hi[i - 1] + 1))
            wrong("parts do not follow one another");
    }
    end_of_line();
}

static void read_call(program *c)
{
    c->call = room(c->call, (size_t)c->n_calls + 1, sizeof *c->call);
    call *k = &c->call[c->n_calls++];
    *k = (call){.fn = integer_in(0, c->n_fns - 1)};
    if (!took("tasks"))
        wrong("'tasks' is expected");
    k->tasks = integer_in(1, 1 << 20);
    k->keeps = took("given");
    if (k->keeps) {
        k->given = (int32_t)integer_in(0, c->fn[k->fn].n_params - 1);
        k->n_given = integer_in(0, INT32_MAX);
    }
    end_of_line();
    while (is_indented()) {
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
    const int32_t f = integer_in(0, c->n_fns - 1), b = integer_in(0, c->fn[f].n_params - 1);
    end_of_line();
    c->fn[f].buf[b].restricted = true;
}

static void read_written(program *c)
{
    if (!took("sha256"))
        wrong("'sha256' is expected");
    const char *hex = word();
    if (strlen(hex) != 64 || strspn(hex, "0123456789abcdef") != 64)
        wrong("64 digits are expected");
    c->written = room(c->written, (size_t)c->n_written + 1, sizeof *c->written);
    memcpy(c->written[c->n_written++], hex, 65);
    end_of_line();
}

/* A line of another kind. Returns false at the end. */
static bool read_other(program *c)
{
    if (took("written")) {
        read_written(c);
    } else if (took("before")) {
        c->before = room(c->before, (size_t)c->n_before + 1, sizeof *c->before);
        c->before[c->n_before++] = read_holding(c);
    } else if (took("after")) {
        c->after = room(c->after, (size_t)c->n_after + 1, sizeof *c->after);
        c->after[c->n_after++] = read_holding(c);
    } else if (took("end")) {
        end_of_line();
        return false;
    } else if (!took("model") && !took("options")) {
        wrong("the first word of a line is not known");
    }
    return true;
}

void read_code(char *text, program *c)
{
    bool more = true;
    begin_text(text);
    if (strcmp(need_line(), "arenac-code-certificate 1") != 0)
        wrong("not a certificate of code, version 1");
    while (more) {
        if (is_indented())
            wrong("an indented line belongs to no function or call");
        need_line();
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
        else
            more = read_other(c);
    }
    if (next_line())
        wrong("text after the end");
}
