/* replay_function.c - reads one function of a certificate of code: its buffers, and the blocks of its instructions; see
 * replay_read.h. */
#include "prove/replay/replay_read.h"

#include <string.h>

static void read_buffer(function *f)
{
    f->buf = room(f->buf, (size_t)f->n_buf + 1, sizeof *f->buf);
    buffer *b = &f->buf[f->n_buf];
    *b = (buffer){.name = kept(word())};
    for (int32_t i = 0; i < f->n_buf; i++)
        if (!strcmp(f->buf[i].name, b->name))
            wrong("two buffers have the same name");
    b->role = (role)choice(word(), role_name, N_ROLES);
    b->type = (type)choice(word(), type_name, N_TYPES);
    b->count = integer_in(0, INT32_MAX);
    if (!took("align"))
        wrong("'align' is expected");
    b->align = integer_in(1, 1 << 20);
    if (b->role != LOCAL && f->n_params < f->n_buf)
        wrong("a parameter is after a local array");
    if (b->role == LOCAL && !took("shared"))
        took("thread");
    end_of_line();
    f->n_buf++;
    if (b->role != LOCAL)
        f->n_params = f->n_buf;
    if (f->n_params >= MAX_ARGS || f->n_buf > 2 * MAX_ARGS)
        wrong("too many buffers");
}

static void open_block(const function *f, instruction *i, scopes *s)
{
    if (s->n == 250)
        wrong("too many nested blocks");
    s->open[++s->n] = f->n;
    i->scope = s->scope[s->n] = ++s->last; /* a loop's number is known in it */
}

/* END or ELSE. */
static void close_block(function *f, const instruction *i, scopes *s)
{
    instruction *begin = &f->code[s->open[s->n]];
    if (!s->n || (i->op == OP_else && begin->op != OP_if))
        wrong("an else or end without its block");
    if (i->op == OP_end) {
        begin->end = f->n;
        s->n--;
        return;
    }
    if (begin->other)
        wrong("a block has a second else");
    begin->other = f->n;
    s->scope[s->n] = ++s->last;
}

/* A break is in a loop whose iterations run one after the other. */
static void check_break(const function *f, const scopes *s)
{
    int32_t n = s->n;
    while (n && f->code[s->open[n]].op != OP_for)
        n--;
    if (!n || f->code[s->open[n]].parallel)
        wrong("a break is outside of a sequential loop");
}

/* A variable that iterations at the same time set is one of their own. */
static void check_set(const function *f, int32_t variable, const scopes *s)
{
    for (int32_t n = s->n; n; n--)
        if (f->code[s->open[n]].parallel && variable < s->open[n])
            wrong("a variable outside of a parallel loop is set");
}

static void read_line(function *f, scopes *s)
{
    instruction *i = &f->code[f->n];
    whole name = f->n;
    *i = (instruction){.scope = s->scope[s->n]};
    const bool numbered = next_is('%');
    if (numbered) {
        name = int_of(word() + 1);
        if (!took("="))
            wrong("'=' is expected");
    }
    read_instruction(f, i, s);
    if (name != f->n || numbered != (i->lanes > 0))
        wrong("instructions are not numbered consecutively");
    if (i->op == OP_break_if)
        check_break(f, s);
    if (i->op == OP_set)
        check_set(f, i->aux, s);
    if (i->op == OP_end || i->op == OP_else)
        close_block(f, i, s);
    if (i->op == OP_for || i->op == OP_if)
        open_block(f, i, s);
    f->n++;
}

/* Lines up to the next "call", "fn" or other word at their beginning. */
void read_function(program *c)
{
    c->fn = room(c->fn, (size_t)c->n_fns + 1, sizeof *c->fn);
    function *f = &c->fn[c->n_fns++];
    scopes s = {.scope = {1}, .last = 1};
    *f = (function){.name = kept(word()), .n = 1, .code = room(NULL, 1, sizeof *f->code)};
    memset(f->code, 0, sizeof *f->code);
    end_of_line();
    while (is_indented()) {
        need_line();
        if (f->n == 1 && took("buf")) {
            read_buffer(f);
            continue;
        }
        if (f->n == INT32_MAX / 2)
            wrong("too many instructions");
        f->code = room(f->code, (size_t)f->n + 1, sizeof *f->code);
        read_line(f, &s);
    }
    if (s.n)
        wrong("a block does not end");
}
