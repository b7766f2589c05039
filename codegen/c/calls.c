/* calls.c - prints the calls of a module: `run`, or `run_row` when an input is streamed by rows, and for a pool of
 * threads the chunks of steps, and phases of steps that run at once. */
#include "codegen/c/emit.h"

/* Which memories calls touch. */
typedef struct touches {
    bool state, weights, fails;
    bool *ram;      /* by index */
    bool *in, *out; /* the caller's own */
} touches;

static touches no_touches(const ac_emit *e)
{
    const ac_module *m = e->m;
    return (touches){.ram = AC_NEW_N(e->region, bool, m->n_ram + 1),
                     .in = AC_NEW_N(e->region, bool, m->n_inputs + 1),
                     .out = AC_NEW_N(e->region, bool, m->n_outputs + 1)};
}

static void add_touches(const ac_emit *e, touches *t, const ac_call *c)
{
    t->fails |= e->m->fn[c->fn]->fails;
    for (int32_t a = 0; a < c->n_arg; a++) {
        if (c->arg[a].space == AC_SPACE_ARENA)
            t->ram[c->arg[a].index] = true;
        t->state |= c->arg[a].space == AC_SPACE_STATE;
        t->weights |= c->arg[a].space == AC_SPACE_CONST && e->weights != AC_WEIGHTS_RODATA;
        if (c->arg[a].space == AC_SPACE_IN)
            t->in[c->arg[a].index] = true;
        if (c->arg[a].space == AC_SPACE_OUT)
            t->out[c->arg[a].index] = true;
    }
}

/* Names for the memories that `m` points to; false: no memories. */
static bool print_memories(ac_emit *e, const touches *t)
{
    const bool blob = t->weights && e->weights == AC_WEIGHTS_BLOB;
    bool any = t->state || blob;
    for (int32_t i = 0; i < e->m->n_ram; any |= t->ram[i++])
        if (t->ram[i])
            ac_putf(e->to, "    uint8_t *const %s = (uint8_t *)m->%s;\n", ac_emit_ram(e, i), e->m->ram[i].name);
    if (t->state)
        ac_put(e->to, "    uint8_t *const state = (uint8_t *)m->state;\n");
    for (int32_t i = 0; i < e->m->n_inputs; any |= t->in[i++])
        if (t->in[i])
            ac_putf(e->to, "    const uint8_t *const in%d = (const uint8_t *)m->in[%d];\n", i, i);
    for (int32_t i = 0; i < e->m->n_outputs; any |= t->out[i++])
        if (t->out[i])
            ac_putf(e->to, "    uint8_t *const out%d = (uint8_t *)m->out[%d];\n", i, i);
    if (blob)
        ac_put(e->to, "    const uint8_t *const weights = (const uint8_t *)m->weights;\n");
    else if (t->weights)
        ac_putf(e->to, "    const uint8_t *const weights = %s_blob;\n", ac_emit_blob_of(e->m));
    return any;
}

static void print_call(ac_emit *e, const ac_call *c)
{
    const ac_loop_fn *fn = e->m->fn[c->fn];
    ac_putf(e->to, "%s%s(", fn->fails ? "status = " : "", e->fn[c->fn]);
    int32_t n = 0;
    ac_sink args;
    ac_sink_open(&args, e->m->cx);
    for (int32_t a = 0; a < c->n_arg && a < fn->buf.n; a++) {
        const ac_buf *b = &fn->buf.item[a];
        if (b->role == AC_BUF_LOCAL)
            continue;
        ac_putf(&args, "%s%s", n++ ? ", " : "", ac_emit_place(e, c->arg[a], b->dtype));
    }
    ac_put(&args, ");");
    ac_c_put_wrapped(e->to, ac_sink_text(&args), 8);
    ac_putc(e->to, '\n');
}

bool ac_emit_has_part(const ac_module *m, int32_t i)
{
    return m->call[i].low->chunks || ac_slot_shared(m->slot, i);
}

/* The schedule: in phase k, thread t runs task[first[k][t]] and all up to first[k][t + 1]. */
static void print_schedule(ac_emit *e)
{
    const ac_module *m = e->m;
    const char *p = m->name, *U = e->file.upper;
    int32_t phases = 0, tasks = 0;
    ac_sink task, first;
    ac_sink_open(&task, m->cx);
    ac_sink_open(&first, m->cx);
    for (int32_t s = 0; s < m->n_calls; s = m->slot[s].end) {
        if (!ac_slot_shared(m->slot, s))
            continue;
        ac_putf(&first, "%s{%d", phases++ ? ", " : "", tasks);
        for (int32_t t = 0; t < m->threads; t++) {
            for (int32_t i = s; i < m->slot[s].end; i++)
                if (m->slot[i].thread == t || m->slot[i].thread == AC_ALL_THREADS)
                    ac_putf(&task, "%s%s_part%d", tasks++ ? ", " : "", p, i);
            ac_putf(&first, ", %d", tasks);
        }
        ac_put(&first, "}");
    }
    if (!phases)
        return;
    ac_putf(e->to,
            "/* Steps that run at once. In phase k thread t does %s_task[%s_first[k][t]], and on up to before\n"
            " * %s_first[k][t + 1]; then all threads have finished. */\n",
            p, p, p);
    ac_putf(e->to, "static arn_part_fn *const %s_task[%d] = {", p, tasks);
    ac_c_put_wrapped(e->to, ac_sink_text(&task), 4);
    ac_putf(e->to, "};\nstatic const uint16_t %s_first[%d][%s_THREADS + 1] = {", p, phases, U);
    ac_c_put_wrapped(e->to, ac_sink_text(&first), 4);
    ac_putf(
        e->to,
        "};\n\nstruct %s_phase {\n    const %s_mem *m;\n    int32_t number;\n};\n\n"
        "static void %s_thread(const void *with, int32_t thread)\n{\n"
        "    const struct %s_phase *const phase = (const struct %s_phase *)with;\n    int32_t k;\n"
        "    for (k = %s_first[phase->number][thread]; k < %s_first[phase->number][thread + 1]; k++)\n"
        "        %s_task[k](phase->m, thread);\n}\n\n"
        "static void %s_at_once(const %s_mem *m, int32_t number)\n{\n    const struct %s_phase phase = {m, number};\n"
        "    %s_parts(m, %s_thread, &phase);\n}\n\n",
        p, p, p, p, p, p, p, p, p, p, p, p, p);
}

/* The tasks of a pool: a function for each chunk of a step and for each step that runs in parallel with others, the
 * code that passes them to the pool, and the schedule. */
void ac_emit_parts(ac_emit *e)
{
    const ac_module *m = e->m;
    const char *p = m->name;
    bool any = false;
    for (int32_t i = 0; i < m->n_calls; i++) {
        if (!ac_emit_has_part(m, i))
            continue;
        any = true;
        ac_putf(e->to, "/* %s */\nstatic void %s_part%d(const void *with, int32_t part)\n{\n", ac_emit_step_title(e, i),
                p, i);
        touches t = no_touches(e);
        add_touches(e, &t, &m->call[i]);
        ac_putf(e->to, "    const %s_mem *const m = (const %s_mem *)with;\n", p, p);
        print_memories(e, &t); /* a result at least */
        if (!m->call[i].low->chunks)
            ac_put(e->to, "    (void)part;\n");
        const bool hooked = ac_slot_shared(m->slot, i) && !m->host; /* else run does it */
        if (hooked)
            ac_putf(e->to, "    %s_STEP_BEGIN(%d);\n", e->file.upper, i);
        ac_put(e->to, "    ");
        print_call(e, &m->call[i]);
        if (hooked)
            ac_putf(e->to, "    %s_STEP_END(%d);\n", e->file.upper, i);
        ac_put(e->to, "}\n\n");
    }
    if (!any)
        return;
    ac_putf(e->to,
            "static void %s_parts(const %s_mem *m, arn_part_fn *f, const void *with)\n{\n    int32_t part;\n"
            "    if (m->pool) {\n        m->pool->run(m->pool, %s_THREADS, f, with);\n        return;\n    }\n"
            "    for (part = 0; part < %s_THREADS; part++)\n        f(with, part);\n}\n\n",
            p, p, e->file.upper, e->file.upper);
    if (m->slot)
        print_schedule(e);
}

static void print_poison(ac_emit *e, int32_t i)
{
    const ac_module *m = e->m;
    for (int32_t k = 0; m->poison && m->dead && k < m->dead[i].n; k++)
        ac_putf(e->to,
                ac_c_strict(&e->file) ? "    (void)memset(&%s[0x%04llx], 0x%02x, 0x%llx);\n"
                                      : "    memset(%s + 0x%04llx, 0x%02x, 0x%llx);\n",
                ac_emit_ram(e, m->dead[i].range[k].ram), (unsigned long long)m->dead[i].range[k].begin,
                (unsigned)(0xa5 + 0x3b * i) & 0xff,
                (unsigned long long)(m->dead[i].range[k].end - m->dead[i].range[k].begin));
}

/* The suffix of a number in an expression with an unsigned one. */
static const char *unsigned_word(const ac_emit *e)
{
    return ac_c_strict(&e->file) ? "u" : "";
}

static void print_step(ac_emit *e, int32_t i)
{
    const ac_module *m = e->m;
    const ac_call *c = &m->call[i];
    const char *U = e->file.upper;
    const bool by_rows = m->streamed && i == m->streamed_call; /* some of its rows in each call */
    ac_putf(e->to, "\n    /* %s: %s */\n", ac_emit_step_title(e, i), ac_emit_shapes(e, c, e->names && !m->sizes));
    if (!by_rows)
        print_poison(e, i);
    if (by_rows)
        ac_putf(e->to, "    if (row == 0%s)\n    ", unsigned_word(e));
    ac_putf(e->to, "    %s_STEP_BEGIN(%d);\n    ", U, i);
    if (c->low->chunks)
        ac_putf(e->to, "%s_parts(m, %s_part%d, m);\n", m->name, m->name, i);
    else
        print_call(e, c);
    if (by_rows)
        ac_putf(e->to, "    if (row + 1%s < %s_IN%d_ROWS)\n        return %s_OK;\n", unsigned_word(e), U,
                m->streamed_input, U);
    ac_putf(e->to, "    %s_STEP_END(%d);\n", U, i);
    if (m->fn[c->fn]->fails)
        ac_putf(e->to, "    if (status != %s_OK)\n        return status;\n", e->file.upper);
}

/* The number of the phase that begins with step i, among phases of several steps. */
static int32_t number_of(const ac_module *m, int32_t i)
{
    int32_t n = 0;
    for (int32_t s = 0; s < i; s = m->slot[s].end)
        n += ac_slot_shared(m->slot, s);
    return n;
}

/* Phase `number`, whose first step is i. With a hook, its steps run one after the other. */
static void print_phase(ac_emit *e, int32_t i, int32_t number)
{
    const ac_module *m = e->m;
    ac_putf(e->to, "\n    /* At once, phase %d:\n", number);
    for (int32_t s = i; s < m->slot[i].end; s++) {
        const int32_t t = m->slot[s].thread;
        ac_putf(e->to, "     * %s %s: %s\n", t == AC_ALL_THREADS ? "all threads," : ac_strf(e->region, "thread %d,", t),
                ac_emit_step_title(e, s), ac_emit_shapes(e, &m->call[s], e->names != NULL));
    }
    ac_put(e->to, "     */\n");
    print_poison(e, i);
    if (!m->hooks) {
        ac_putf(e->to, "    %s_at_once(m, %d);\n", m->name, number);
        return;
    }
    ac_putf(e->to, "    if (!hook) {\n        %s_at_once(m, %d);\n    } else {\n", m->name, number);
    for (int32_t s = i; s < m->slot[i].end; s++) {
        const char *p = m->name, *U = e->file.upper;
        ac_putf(e->to, "        %s_STEP_BEGIN(%d);\n", U, s);
        if (m->call[s].low->chunks)
            ac_putf(e->to, "        %s_parts(m, %s_part%d, m);\n", p, p, s);
        else
            ac_putf(e->to, "        %s_part%d(m, 0);\n", p, s);
        ac_putf(e->to, "        %s_STEP_END(%d);\n", U, s);
    }
    ac_put(e->to, "    }\n");
}

/* The code that runs once, before the first row. */
static void print_before_rows(ac_emit *e)
{
    const ac_module *m = e->m;
    ac_putf(e->to, "    const int32_t part = (int32_t)row;\n    if (row >= %s_IN%d_ROWS)\n        return %s_EINDEX;\n",
            e->file.upper, m->streamed_input, e->file.upper);
    if (!m->streamed_call && !(m->poison && m->dead && m->dead[0].n))
        return;
    ac_putf(e->to, "    if (row == 0%s) {\n", unsigned_word(e));
    for (int32_t i = 0; i < m->streamed_call; i++)
        print_step(e, i);
    print_poison(e, m->streamed_call);
    ac_put(e->to, "    }\n");
}

static void print_row_api(ac_emit *e)
{
    const ac_module *m = e->m;
    const char *p = m->name, *U = e->file.upper;
    const int32_t i = m->streamed_input;
    if (m->host)
        ac_putf(e->to, "int %s_run_row(const %s_mem *m, uint32_t row)\n{\n    return %s_steps(m, NULL, row);\n}\n\n", p,
                p, p);
    ac_putf(e->to,
            "int %s_run(const %s_mem *m, void (*fill)(void *user, uint32_t row, %s *to), void *user)\n{\n"
            "    uint32_t row;\n    int status = %s_OK;\n"
            "    for (row = 0%s; row < %s_IN%d_ROWS && status == %s_OK; row++) {\n"
            "        fill(user, row, %s_in%d_row(m));\n        status = %s_run_row(m, row);\n    }\n    return "
            "status;\n}\n\n",
            p, p, ac_dtype_c(m->input[i].tensor->dtype), U, unsigned_word(e), U, i, U, p, i, p);
}

const char *ac_emit_steps_name(const ac_emit *e, const ac_module_part *part)
{
    return e->m->n_parts > 1 ? ac_strf(e->region, "%s_steps_%s", e->m->name, part->name)
                             : ac_strf(e->region, "%s_steps", e->m->name);
}

void ac_emit_calls(ac_emit *e, int32_t begin, int32_t end)
{
    touches t = no_touches(e);
    for (int32_t i = begin; i < end; i++)
        add_touches(e, &t, &e->m->call[i]);
    if (!print_memories(e, &t))
        ac_put(e->to, "    (void)m;\n");
    if (t.fails)
        ac_put(e->to, "    int status;\n");
    for (int32_t i = begin; i < end; i++)
        print_step(e, i);
    ac_putf(e->to, "    return %s_OK;\n}\n\n", e->file.upper);
}

static void print_part(ac_emit *e, const ac_module_part *part)
{
    const ac_module *m = e->m;
    const char *p = m->name;
    touches t = no_touches(e);
    bool uses_m = false;
    for (int32_t i = part->begin; i < part->end; i++) {
        for (int32_t k = 0; m->poison && m->dead && k < m->dead[i].n; k++)
            t.ram[m->dead[i].range[k].ram] = true;
        uses_m |= ac_emit_has_part(m, i);
        if (!ac_emit_has_part(m, i))
            add_touches(e, &t, &m->call[i]);
    }
    const bool by_rows = m->streamed != NULL;
    if (m->host)
        ac_putf(e->to, "static int %s(const %s_mem *m, const struct arn_hook *hook%s)\n{\n",
                ac_emit_steps_name(e, part), p, by_rows ? ", uint32_t row" : "");
    else
        ac_putf(e->to, "int %s_%s(const %s_mem *m%s)\n{\n", p, by_rows ? "run_row" : part->name, p,
                by_rows ? ", uint32_t row" : "");
    uses_m |= print_memories(e, &t);
    if (t.fails)
        ac_put(e->to, "    int status;\n");
    if (!uses_m)
        ac_put(e->to, "    (void)m;\n");
    if (m->host && (!m->hooks || part->begin == part->end))
        ac_put(e->to, "    (void)hook;\n");
    if (by_rows)
        print_before_rows(e);
    for (int32_t i = by_rows ? m->streamed_call : part->begin; i < part->end; i++)
        if (!ac_slot_shared(m->slot, i))
            print_step(e, i);
        else if (m->slot[i].begin == i)
            print_phase(e, i, number_of(m, i));
    ac_putf(e->to, "    return %s_OK;\n}\n\n", e->file.upper);
    if (by_rows)
        print_row_api(e);
    else if (m->host)
        ac_putf(e->to, "int %s_%s(const %s_mem *m)\n{\n    return %s(m, NULL);\n}\n\n", p, part->name, p,
                ac_emit_steps_name(e, part));
}

void ac_emit_run(ac_emit *e)
{
    for (int32_t k = 0; k < e->m->n_parts; k++)
        print_part(e, &e->m->part[k]);
}
