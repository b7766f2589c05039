/* compile.c - stage compile: steps and offsets become a module that backends print. */
#include "driver/stage/stage.h"

#include "base/ascii.h"
#include "codegen/bind.h"
#include "codegen/join/merge_steps.h"
#include "ir/graph/weights_file.h"

#include <string.h>

const char *ac_c_prefix(const ac_made *a, const char *otherwise)
{
    const char *from = a->opt->name ? a->opt->name : otherwise;
    char *s = ac_strf(a->cx->region, "%s%s", ac_is_digit(from[0]) ? "m" : "", from);
    bool other = s[0] != from[0];
    for (char *p = s; *p; p++) {
        const bool good = ac_is_alnum(*p);
        other |= !good && *p != '_';
        *p = good ? ac_lower(*p) : '_';
    }
    if (a->opt->name && other)
        ac_warn(a->cx, (ac_place){.file = "arenac"}, W0002, "--name '%s' is not a C identifier: the prefix is '%s'",
                from, s);
    return s;
}

int ac_check_weights(const ac_made *a)
{
    enum { SHOWN = 16 };
    ac_ctx *cx = a->cx;
    const ac_imported *m = a->model;
    int64_t bytes = 0;
    if (!m->missing.n)
        return AC_OK;
    for (int32_t i = 0; i < m->missing.n; i++)
        bytes += ac_tensor_bytes(m->missing.item[i]);
    ac_error(cx, (ac_place){.file = a->source->path}, E0019,
             "the weights are missing: %s should hold %d parameters, %s bytes", m->missing_file, m->missing.n,
             ac_commas(cx, bytes));
    for (int32_t i = 0; i < m->missing.n && i < SHOWN; i++)
        ac_detail(cx, "%s  %s", m->missing.item[i]->name, ac_tensor_str(cx, m->missing.item[i]));
    if (m->missing.n > SHOWN)
        ac_detail(cx, "and %d more", m->missing.n - SHOWN);
    return ac_help(cx, "name that file after the model, or fill them with --random SEED");
}

static ac_weights weights_of(const ac_made *a)
{
    const ac_opt_word_weights w = a->request->purpose == AC_FOR_RUNNING  ? AC_OPT_WEIGHTS_BLOB
                                  : a->request->purpose == AC_FOR_PYTHON ? AC_OPT_WEIGHTS_ASM
                                                                         : a->opt->weights;
    return w == AC_OPT_WEIGHTS_RODATA                                    ? AC_WEIGHTS_RODATA
           : w == AC_OPT_WEIGHTS_ASM                                     ? AC_WEIGHTS_ASM
           : w == AC_OPT_WEIGHTS_BLOB                                    ? AC_WEIGHTS_BLOB
           : ac_is(a->opt->output, "-") || ac_emits_folder(a->opt->emit) ? AC_WEIGHTS_RODATA /* no file besides it */
                                                                         : AC_WEIGHTS_AUTO;
}

static void put_addresses(const ac_made *a, ac_module *m)
{
    for (int32_t i = 0; i < a->opt->mem.n; i++) {
        const ac_memory_option *mem = &a->opt->mem.item[i];
        if (!strcmp(mem->name, "state"))
            m->state_address = mem->address;
        for (int32_t k = 0; k < m->n_ram; k++)
            if (!strcmp(m->ram[k].name, mem->name))
                m->ram[k].address = mem->address;
    }
}

static void put_optimal(const ac_made *a, ac_module *m)
{
    const ac_report *r = a->report;
    for (int32_t k = 0; k < m->n_ram; k++)
        for (int32_t i = 0; i < r->problem->n_mems; i++)
            if (!strcmp(m->ram[k].name, r->problem->mem[i].name))
                m->ram[k].optimal = r->plan->mem_bytes[i] == ac_report_bound_of(r, i);
}

/* A program of training has functions of its own for them (learning.c). */
static void put_random(const ac_made *a, ac_module *m)
{
    const ac_graph *g = a->planned->graph;
    if (a->lowering->passed.step)
        return;
    bool *counts = AC_NEW_N(a->cx->region, bool, g->tensor.n + 1); /* by tensor */
    for (int32_t k = 0; k < g->node.n; k++) {
        const ac_tensor *numbers = ac_node_numbers(g->node.item[k]);
        if (numbers)
            counts[numbers->id] = true;
    }
    m->random = AC_NEW_N(a->cx->region, const ac_io *, m->n_states + 1);
    for (int32_t i = 0; i < m->n_states; i++)
        if (counts[m->state[i].tensor->id])
            m->random[m->n_random++] = &m->state[i];
}

/* ------------------------------------------------------------------ the stage */

int ac_compile_plan(const ac_made *a, ac_module **out)
{
    const ac_options *o = a->opt;
    if (a->model->weights)
        AC_TRY(ac_weights_verify(a->cx, a->model->weights));
    const ac_planned *p = a->planned;
    const ac_settings *s = &a->lowering->set;
    const bool runs = a->request->purpose == AC_FOR_RUNNING;
    ac_module *m = AC_NEW(a->cx->region, ac_module);
    *m = (ac_module){.cx = a->cx,
                     .name = ac_c_prefix(a, *a->source->stem ? a->source->stem : "model"),
                     .source = a->source->base,
                     .sha256 = runs ? NULL : ac_source_sha256(a->cx, a->source), /* of headers */
                     .options = ac_options_line(a->request->stated, s->target->name),
                     .version = arenac_version(),
                     .target = s->target,
                     .image = s->image,
                     .n_images = s->n_images,
                     .share = s->share,
                     .threads = s->threads,
                     .poison = o->poison,
                     .check_weights = o->check_weights && !runs,
                     .host = runs || ac_has_caller_io(a->request),
                     .hooks = a->request->hooked || (runs && (o->per_op || o->roofline)) || o->per_node || o->taps ||
                              ac_has_caller_io(a->request),
                     .caller_io = ac_has_caller_io(a->request),
                     .section_code = o->section.code,
                     .section_rodata = o->section.rodata,
                     .weights = weights_of(a)};
    const ac_binding b = {p->live->item_of, p->live->delta, p->live->scratch_item, &p->live->problem,
                          &p->plan,         p->slot,        o->selftest_cc != NULL};
    ac_progress_begin(a->cx, "binding", 0);
    ac_module_bind(m, p->graph, p->step, p->n_steps, &b);
    put_random(a, m);
    put_addresses(a, m);
    put_optimal(a, m);
    ac_put_learning(a, m);
    ac_module_merge_steps(m);
    ac_module_dedupe(m);
    ac_module_share_kernels(m);
    *out = m;
    return AC_OK;
}
