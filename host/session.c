/* session.c - a module at work on this machine; see session.h. */
#include "host/session.h"

#include "base/plugin.h"
#include "base/sys/sys.h"
#include "codegen/backends/find.h"
#include "codegen/constants.h"
#include "codegen/targets.h"
#include "host/compiler.h"
#include "ir/loop/eval/bytecode.h"
#include "runtime/arn_cuda.h"
#include "runtime/arn_pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool ac_session_is_cuda(const char *backend)
{
    return !strcmp(backend, "cuda-emu") || !strcmp(backend, "cuda-race") || !strcmp(backend, "cuda");
}

const char *ac_session_target(const char *backend)
{
    return ac_session_is_cuda(backend) ? "cuda-sm80" : "native";
}

int ac_session_check(ac_ctx *cx, const char *backend)
{
    static const char *const KNOWN[] = {"c", "llvm", "eval", "cuda", "cuda-emu", "cuda-race"};
    enum { N = sizeof KNOWN / sizeof *KNOWN };
    if (!strcmp(backend, "eval") || ac_session_is_cuda(backend) || ac_backend_find(cx, backend))
        return AC_OK;
    const char *near = ac_closest(backend, KNOWN, N);
    return near && strcmp(near, backend) ? ac_help(cx, "did you mean '%s'?", near) : AC_FAIL;
}

uint8_t *ac_session_at(const ac_session *h, const ac_io *io)
{
    if (io->rows)
        return h->streamed;
    return io->space == AC_SPACE_STATE ? h->state + io->offset
                                       : h->arena + ac_module_at(h->module, io->index, io->offset);
}

static uint8_t *aligned(void **base, ac_bytes n, ac_bytes align)
{
    if (align < 64)
        align = 64; /* a cache line, so that timings do not depend on luck */
    *base = (uint64_t)n < SIZE_MAX / 2 ? calloc(1, (size_t)(n + align + 64)) : NULL;
    return *base ? (uint8_t *)*base + (align - (ac_bytes)((uintptr_t)*base % (uintptr_t)align)) : NULL;
}

/* ------------------------------------------------------------------ generated C */

static int compile_in(ac_session *h, const char *dir, const char *backend)
{
    ac_ctx *cx = h->module->cx;
    AC_TRY(h->cuda ? ac_build_kernels(h->module, dir, backend) : ac_build_c(h->module, dir, NULL, 0));
    const char *so = ac_strf(cx->region, "%s/m.so", dir);
    h->library = ac_library_open(cx, so);
    if (!h->library)
        return ac_error(cx, (ac_place){0}, E0303, "cannot load the compiled model: %s", ac_sys_library_why());
    const struct arn_model *model = ac_sys_symbol(h->library, ac_strf(cx->region, "%s_model", h->module->name));
    if (!model)
        return ac_error(cx, (ac_place){0}, E0901, "the compiled model has no '%s_model'", h->module->name);
    if (model->abi != ARN_ABI)
        return ac_error(cx, (ac_place){0}, E0901, "the compiled model has ABI %u, expected %d", model->abi, ARN_ABI);
    h->image = (ac_image){.init = model->init, .part = {model->run}};
    arn_run_fn *const *program = ac_sys_symbol(h->library, ac_strf(cx->region, "%s_program", h->module->name));
    for (int32_t k = 1; k < h->module->n_parts && program; k++)
        h->image.part[k] = program[k];
    return AC_OK;
}

static int open_weights(ac_session *h)
{
    const ac_module *m = h->module;
    ac_bytes *offset = AC_NEW_N(m->cx->region, ac_bytes, m->n_konst + 1), total;
    AC_TRY(ac_consts_make(m));
    ac_consts_layout(m, offset, &total);
    uint8_t *at = aligned(&h->weights_base, total, 64);
    h->weights = at;
    return at ? ac_blob_move(m, at) : ac_error(m->cx, (ac_place){0}, E0403, "no memory for the weights");
}

static int open_c(ac_session *h, const char *backend)
{
    const char *dir = ac_build_folder(h->module->cx);
    if (!dir)
        return AC_FAIL;
    int status = compile_in(h, dir, backend);
    ac_folder_end(dir);
    return status;
}

static void step_end(void *user, int32_t step)
{
    const ac_session *h = user;
    if (h->hook)
        h->hook(h->hook_user, step);
}

/* ------------------------------------------------------------------ code in this process */

static int open_image(ac_session *h, const char *name)
{
    const ac_backend *b = ac_backend_find(h->module->cx, name);
    if (!b)
        return AC_FAIL;
    if (!b->open)
        return ac_error(h->module->cx, (ac_place){0}, E0502, "the backend %s writes code, but cannot run it", name);
    if (h->module->n_ram > 1 && !b->memories)
        return ac_error(h->module->cx, (ac_place){0}, E0502,
                        "the backend %s supports one memory for tensors, but the plan has %d", name, h->module->n_ram);
    h->backend = b;
    return b->open(h->module, &h->image);
}

static int run_code(ac_session *h, int32_t part)
{
    const struct arn_mem mem = {.arena = h->arena,
                                .weights = h->weights,
                                .state = h->state,
                                .in = h->in,
                                .pool = h->threads ? &h->threads->pool : NULL};
    const struct arn_hook hook = {NULL, step_end, h};
    assert((!h->hook || h->module->hooks) && "compile.c knows who looks at steps");
    int status = h->image.part[part](&mem, h->hook ? &hook : NULL);
    if (status >= ARN_CUDA_EDRIVER)
        return ac_error(h->module->cx, (ac_place){.file = h->file}, E0304, "the kernels failed: %s",
                        status == ARN_CUDA_EBARRIER  ? "threads of a block wait at different barriers"
                        : status == ARN_CUDA_ERACE   ? "two threads use the same bytes at the same time"
                        : status == ARN_CUDA_EBOUNDS ? "a thread uses memory outside of its tensors"
                                                     : "the driver refuses them");
    if (status)
        return ac_error(h->module->cx, (ac_place){.file = h->file}, E0304,
                        "the run stopped with status %d (an index was out of range)", status);
    return AC_OK;
}

/* ------------------------------------------------------------------ evaluator */

static int open_eval(ac_session *h)
{
    const ac_module *m = h->module;
    h->program = AC_NEW_N(h->module->cx->region, ac_program *, m->n_fn + 1);
    for (int32_t i = 0; i < m->n_fn; i++) {
        h->program[i] = ac_eval_compile(h->module->cx, h->module->cx->region, m->fn[i]);
        if (!h->program[i])
            return AC_FAIL;
    }
    return ac_consts_make(m);
}

/* The addresses of a call's arguments; `task` points to the number of the task. */
static int put_arguments(const ac_session *h, const ac_call *c, int32_t *task, void **arg)
{
    const ac_module *m = h->module;
    for (int32_t a = 0; a < c->n_arg; a++)
        switch (c->arg[a].space) {
        case AC_SPACE_ARENA:
            arg[a] = h->arena + ac_module_at(m, c->arg[a].index, c->arg[a].offset);
            break;
        case AC_SPACE_STATE:
            arg[a] = h->state + c->arg[a].offset;
            break;
        case AC_SPACE_IN:
        case AC_SPACE_OUT:
            return ac_error(m->cx, (ac_place){0}, E0901, "--backend eval does not support the memory of a caller");
        case AC_SPACE_CONST:
            arg[a] = (void *)(uintptr_t)ac_const_data(m->cx, m->konst[c->arg[a].offset]);
            break;
        case AC_SPACE_CHUNK:
        case AC_SPACE_SHAPE:
            arg[a] = task;
            break;
        }
    return AC_OK;
}

int ac_session_step(ac_session *h, int32_t s, int *status)
{
    enum { FEW = 64 };
    const ac_module *m = h->module;
    const ac_call *c = &m->call[s];
    const ac_io *streamed = s == m->streamed_call ? m->streamed : NULL;
    const int32_t tasks = streamed ? streamed->rows : c->low->chunks;
    void *data[FEW], **arg = c->n_arg <= FEW ? data : AC_NEW_N(m->cx->region, void *, c->n_arg);
    int32_t task = 0;
    *status = 0;
    AC_TRY(put_arguments(h, c, &task, arg));
    for (; !*status && (task < tasks || task == 0); task++) {
        if (streamed)
            memcpy(h->arena + ac_module_at(m, streamed->index, streamed->row_at),
                   h->streamed + task * streamed->row_bytes, (size_t)streamed->row_bytes);
        if (ac_custom_is_call(&h->custom, c->fn))
            ac_custom_run(&h->custom, c->fn, arg);
        else
            AC_TRY(ac_eval_run(m->cx, h->program[c->fn], arg, c->n_arg, status));
    }
    return AC_OK;
}

static int eval_call(ac_session *h, int32_t s)
{
    int status;
    AC_TRY(ac_session_step(h, s, &status));
    return status ? ac_error(h->module->cx, h->module->call[s].low->node->at, E0304,
                             "the run stopped with status %d (an index was out of range)", status)
                  : AC_OK;
}

static int run_eval(ac_session *h, const ac_module_part *part)
{
    for (int32_t s = part->begin; s < part->end; s++) {
        AC_TRY(eval_call(h, s));
        if (h->hook)
            h->hook(h->hook_user, s);
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ both */

int ac_session_reset(ac_session *h)
{
    const ac_module *m = h->module;
    if (!h->eval) {
        const struct arn_mem mem = {
            .arena = h->arena, .weights = h->weights, .state = h->state, .pool = h->threads ? &h->threads->pool : NULL};
        int status = h->image.init(&mem);
        return status ? ac_error(h->module->cx, (ac_place){.file = h->file}, E0901,
                                 "the compiled model rejected its memory (status %d)", status)
                      : AC_OK;
    }
    memset(h->state, 0, (size_t)m->state_bytes);
    for (int32_t i = 0; i < m->n_states; i++)
        if (m->state[i].tensor->data && m->state[i].bytes)
            memcpy(ac_session_at(h, &m->state[i]), m->state[i].tensor->data, (size_t)m->state[i].bytes);
    return AC_OK;
}

int ac_session_part(ac_session *h, int32_t part)
{
    return h->eval ? run_eval(h, &h->module->part[part]) : run_code(h, part);
}

int ac_session_run(ac_session *h)
{
    for (int32_t k = 0; k < h->module->n_parts; k++)
        AC_TRY(ac_session_part(h, k));
    return AC_OK;
}

static int open_threads(ac_session *h)
{
    struct arn_threads *t = AC_NEW(h->module->cx->region, struct arn_threads);
    ac_sys_held before;
    ac_sys_hold(&before); /* signals are for the thread that writes files */
    const int error = arn_threads_open(t, h->module->threads);
    ac_sys_release(&before);
    if (error)
        return ac_error(h->module->cx, (ac_place){0}, E0302, "cannot start %d threads: %s", h->module->threads,
                        strerror(error));
    h->threads = t;
    return AC_OK;
}

static int check_machine(const ac_session *h, const char *backend)
{
    if (h->cuda && h->module->target->isa != AC_ISA_CUDA)
        return ac_error(h->module->cx, (ac_place){0}, E0502, "--backend %s needs a GPU target, but the target is %s",
                        backend, h->module->target->name);
    char room[AC_TARGET_MISSING];
    const char *missing = ac_target_missing(h->module->target, room, sizeof room);
    if (*missing && !h->cuda && !h->eval) {
        ac_error(h->module->cx, (ac_place){0}, E0504, "this host cannot run code for %s", h->module->target->name);
        ac_reason(h->module->cx, h->module->target->firmware ? "%s" : "it lacks %s", missing);
        return ac_help(h->module->cx, "omit -t (native), or use --backend eval");
    }
    return AC_OK;
}

int ac_session_open(ac_session *h, ac_module *m, const char *file, const char *backend)
{
    *h = (ac_session){.module = m, .file = file, .eval = !strcmp(backend, "eval"), .cuda = ac_session_is_cuda(backend)};
    AC_TRY(check_machine(h, backend));
    h->arena = aligned(&h->arena_base, m->arena_bytes, m->arena_align);
    h->state = aligned(&h->state_base, m->state_bytes, m->arena_align);
    h->in = AC_NEW_N(h->module->cx->region, const void *, m->n_inputs + 1);
    if (m->streamed)
        h->in[m->streamed_input] = h->streamed = aligned(&h->streamed_base, m->input[m->streamed_input].bytes, 64);
    if (!h->arena || !h->state || (m->streamed && !h->streamed))
        return ac_error(h->module->cx, (ac_place){0}, E0403, "no memory for an arena of %lld bytes",
                        (long long)m->arena_bytes);
    AC_TRY(ac_customs_open(m, &h->custom)); /* generated code needs the functions when it is loaded */
    AC_TRY(h->eval ? open_eval(h) : !strcmp(backend, "c") || h->cuda ? open_c(h, backend) : open_image(h, backend));
    if (!h->eval)
        AC_TRY(open_weights(h));
    if (!h->eval && m->threads > 1)
        AC_TRY(open_threads(h));
    return ac_session_reset(h);
}

void ac_session_close(ac_session *h)
{
    if (h->threads)
        arn_threads_close(h->threads);
    if (h->library)
        ac_sys_library_close(h->library);
    if (h->backend)
        h->backend->close(&h->image);
    ac_customs_close(&h->custom);
    free(h->arena_base);
    free(h->state_base);
    free(h->weights_base);
    free(h->streamed_base);
    memset(h, 0, sizeof *h);
}
