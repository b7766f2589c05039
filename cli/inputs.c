#include "cli/inputs.h"

#include <stdlib.h>
#include <string.h>

int ac_io_find(arenac_job *job, const char *option, const char *key, ac_tensor *const *list, int32_t n, int32_t *index)
{
    char *end;
    long at = strtol(key, &end, 10);
    if (*key && !*end && at >= 0 && at < n) {
        *index = (int32_t)at;
        return AC_OK;
    }
    for (int32_t i = 0; i < n; i++)
        if (!strcmp(list[i]->name, key)) {
            *index = i;
            return AC_OK;
        }
    ac_error(&job->cx, (ac_place){.file = job->path}, E0304, "%s '%s' names none of the model's %d tensors there",
             option, key, n);
    for (int32_t i = 0; i < n && i < 16; i++)
        ac_detail(&job->cx, "%d  %s  %s", i, list[i]->name, ac_tensor_str(&job->cx, list[i]));
    return AC_FAIL;
}

/* Input i becomes a constant with these elements. */
static void fix_input(arenac_job *job, int32_t i, const ac_npy *a)
{
    ac_graph *g = job->graph;
    ac_tensor *t = g->input.item[i];
    t->data = ac_copy(job->cx.region, a->data, (size_t)a->bytes + (a->bytes == 0));
    t->input = false;
    memmove(g->input.item + i, g->input.item + i + 1, (size_t)(g->input.n - i - 1) * sizeof *g->input.item);
    g->input.n--;
}

/* Positions are those of the model as it was read, so all arrays are found before any input goes. */
static int const_stage(arenac_job *job, void *arg)
{
    const ac_cli *cli = arg;
    ac_graph *g = job->graph;
    const int32_t n = g->input.n;
    ac_npy *array = AC_NEW_N(job->cx.region, ac_npy, n + 1);
    bool *given = AC_NEW_N(job->cx.region, bool, n + 1);
    int status = AC_OK;
    for (int32_t k = 0; k < cli->n_fixed && status == AC_OK; k++) {
        int32_t i;
        const char *key = cli->fixed[k].key;
        status = ac_io_find(job, "--const", key, g->input.item, n, &i);
        if (status != AC_OK)
            break;
        if (given[i])
            status = ac_error(&job->cx, (ac_place){0}, E0501, "--const '%s' is given twice", key);
        else
            status = ac_npy_read(&job->cx, cli->fixed[k].path, &array[i]);
        if (status != AC_OK)
            break;
        given[i] = true;
        ac_job_shape_input(job, i, array[i].rank, array[i].dim);
        status = ac_npy_fits(&job->cx, &array[i], g->input.item[i], ac_strf(job->cx.region, "--const %s", key));
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        if (given[i] && status == AC_OK)
            fix_input(job, i, &array[i]);
        if (given[i])
            ac_npy_close(&array[i]);
    }
    return status;
}

int ac_cli_read(const ac_cli *cli, arenac_job *job)
{
    const int status = arenac_read(job, cli->file[0]);
    return status || !cli->n_fixed ? status : ac_job_guard(job, const_stage, (void *)(uintptr_t)cli);
}

typedef struct open_arg {
    const ac_cli *cli;
    const char *backend;
    ac_inputs *in;
} open_arg;

static int open_stage(arenac_job *job, void *arg)
{
    const open_arg *a = arg;
    ac_inputs *in = a->in;
    memset(in, 0, sizeof *in);
    in->cli = a->cli;
    if (strcmp(a->backend, "eval") && !ac_host_is_cuda(a->backend) && !ac_backend_find(&job->cx, a->backend))
        return AC_FAIL; /* known before the model is compiled */
    if (job->graph->input.n > AC_CLI_MAX)
        return ac_error(&job->cx, (ac_place){.file = job->path}, E0108, "more than %d inputs", AC_CLI_MAX);
    for (int32_t k = 0; k < a->cli->n_inputs; k++) {
        int32_t i;
        AC_TRY(ac_io_find(job, "--input", a->cli->input[k].key, job->graph->input.item, job->graph->input.n, &i));
        if (in->given[i])
            return ac_error(&job->cx, (ac_place){0}, E0501, "--input '%s' is given twice", a->cli->input[k].key);
        AC_TRY(ac_npy_read(&job->cx, a->cli->input[k].path, &in->array[i]));
        in->given[i] = true;
        ac_job_shape_input(job, i, in->array[i].rank, in->array[i].dim);
        ac_tensor *t = job->graph->input.item[i];
        if (!strcmp(ac_dtype_npy(t->dtype) + 1, in->array[i].descr + 1) && in->array[i].bytes == ac_tensor_bytes(t))
            t->given = in->array[i].data; /* importers may need it: a shape, an axis */
    }
    return AC_OK;
}

int ac_inputs_open(arenac_job *job, const ac_cli *cli, const char *backend, ac_inputs *in)
{
    open_arg a = {cli, backend, in};
    return ac_job_guard(job, open_stage, &a);
}

static int check_stage(arenac_job *job, void *arg)
{
    ac_inputs *in = arg;
    int status = AC_OK;
    for (int32_t i = 0; i < job->graph->input.n; i++) {
        const ac_tensor *t = job->graph->input.item[i];
        if (in->given[i]) {
            if (ac_npy_fits(&job->cx, &in->array[i], t, ac_strf(job->cx.region, "--input %d", i)))
                status = AC_FAIL;
        } else if (!in->cli->random) {
            ac_error(&job->cx, (ac_place){.file = job->path}, E0304, "input %d '%s' %s is not given", i, t->name,
                     ac_tensor_str(&job->cx, t));
            status = ac_help(&job->cx, "--input %d=FILE.npy, or --random SEED", i);
        }
    }
    return status;
}

int ac_inputs_check(arenac_job *job, ac_inputs *in)
{
    return ac_job_guard(job, check_stage, in);
}

/* Seeded values, the same on every machine: integers over their whole range, floats uniform in [-1, 1). */
static void random_fill(ac_dtype d, uint8_t *to, int64_t bytes, uint64_t seed)
{
    uint64_t s = seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
    int64_t size = ac_dtype_size(d, 1);
    for (int64_t i = 0; i + size <= bytes; i += size) {
        s ^= s << 13, s ^= s >> 7, s ^= s << 17;
        double u = (double)(s >> 11) / 4503599627370496.0 - 1;
        float f = (float)u;
        uint64_t bits = s >> 20;
        if (d == AC_F32)
            memcpy(&bits, &f, 4);
        else if (d == AC_F64)
            memcpy(&bits, &u, 8);
        else if (d == AC_F16)
            bits = ac_f32_to_f16(f);
        else if (d == AC_BF16)
            bits = ac_f32_to_bf16(f);
        else if (d == AC_BOOL)
            bits &= 1;
        else if (ac_dtype_is_int(d) && ac_dtype_file_bits(d) < 8)
            bits = (uint64_t)(ac_dtype_min(d) + (int64_t)(bits & ((1u << ac_dtype_file_bits(d)) - 1)));
        else if (d == AC_F4E2M1)
            bits &= 15;
        else if (size >= 4)
            bits %= 100; /* wide integers are most often indices */
        memcpy(to + i, &bits, (size_t)size);
    }
}

int ac_inputs_fill(arenac_job *job, ac_inputs *in, ac_host *h)
{
    for (int32_t i = 0; i < job->module->n_inputs; i++) {
        const ac_io *io = &job->module->input[i];
        if (in->given[i]) {
            if (io->bytes)
                memcpy(ac_host_at(h, io), in->array[i].data, (size_t)io->bytes);
        } else {
            random_fill(io->tensor->dtype, ac_host_at(h, io), io->bytes, (uint64_t)in->cli->seed + (uint64_t)i);
        }
    }
    return AC_OK;
}

void ac_inputs_close(ac_inputs *in)
{
    for (int32_t i = 0; i < AC_CLI_MAX; i++)
        if (in->given[i])
            ac_npy_close(&in->array[i]);
}
