/* job_options.c - what options mean for a target: which are ignored, and the words for them in what is written. */
#include "driver/job.h"

#include <stdlib.h>
#include <string.h>

bool ac_job_is_gpu(const arenac_job *job)
{
    return job->target->isa == AC_ISA_CUDA;
}

/* GPUs have more than parts; firmware has no threads; stripes carry rows from one iteration to the next. */
int32_t ac_job_threads(const arenac_job *job)
{
    return job->target->firmware || ac_job_is_gpu(job) || job->opt.stripe || job->opt.io_rows || job->opt.threads < 1
               ? 1
               : (int32_t)job->opt.threads;
}

/* A GPU runs the elements of a step in no order: nothing may rest on one. */
static void drop_orders(arenac_job *job)
{
    if (!ac_job_is_gpu(job))
        return;
    if (job->opt.stripe || job->opt.io_rows || job->opt.overlap > 0)
        ac_warn(&job->cx, (ac_place){0}, W0002, "target %s runs the elements of a step in no order: %s is ignored",
                job->target->name,
                job->opt.io_rows  ? "--io rows"
                : job->opt.stripe ? "--stripe"
                                  : "--overlap");
    job->opt.stripe = job->opt.io_rows = false;
    job->opt.overlap = 0;
}

int32_t ac_job_tensor(arenac_job *job)
{
    static const char *const WORDS[] = {[AC_TENSOR_BYTES] = "int8",
                                        [AC_TENSOR_OFF] = "off",
                                        [AC_TENSOR_TF32] = "tf32",
                                        [AC_TENSOR_BF16] = "bf16",
                                        [AC_TENSOR_F16] = "f16"};
    const char *o = job->opt.tensor_cores;
    int32_t k = 0;
    while (o && k < AC_TENSOR_F16 && strcmp(o, WORDS[k]))
        k++;
    if (o && !ac_job_is_gpu(job))
        ac_warn(&job->cx, (ac_place){0}, W0002, "target %s has no tensor cores: --tensor-cores is ignored",
                job->target->name);
    else if (k >= AC_TENSOR_TF32 && job->opt.exact)
        ac_warn(&job->cx, (ac_place){0}, W0002,
                "--exact: tensor cores multiply no floats, --tensor-cores %s is ignored", o);
    else if (k >= AC_TENSOR_TF32 && atoi(job->target->cpu + 3) < 80)
        ac_warn(&job->cx, (ac_place){0}, W0002,
                "target %s: tensor cores are used from sm_80 on, --tensor-cores %s is ignored", job->target->name, o);
    return k;
}

void ac_job_settle(arenac_job *job)
{
    drop_orders(job);
    if (job->opt.threads < 2)
        return;
    if (ac_job_is_gpu(job))
        ac_warn(&job->cx, (ac_place){0}, W0002, "target %s has threads of its own: --threads is ignored",
                job->target->name);
    else if (job->target->firmware)
        ac_warn(&job->cx, (ac_place){0}, W0002, "target %s is firmware and has no threads: --threads is ignored",
                job->target->name);
    else if (job->opt.stripe || job->opt.io_rows)
        ac_warn(&job->cx, (ac_place){0}, W0002, "rows of --stripe are made one after another: --threads is ignored");
}

void ac_job_note_winograd(arenac_job *job)
{
    enum { SHOWN = 16 };
    ac_ctx *cx = &job->cx;
    int32_t left = 0, done = 0;
    for (int32_t i = 0; i < job->n_steps; i++) {
        left += job->step[i]->schedule.refused != NULL;
        done += job->step[i]->schedule.winograd != 0;
    }
    if (!job->opt.winograd || (done && !left))
        return;
    if (!done)
        ac_warn(cx, (ac_place){0}, W0002, "--winograd: no convolution of this model takes it");
    else
        ac_note(cx, (ac_place){0}, W0002, "--winograd: %d convolution%s it, %d do not", done,
                done == 1 ? " takes" : "s take", left);
    for (int32_t i = 0, shown = 0; i < job->n_steps && shown < SHOWN; i++)
        if (job->step[i]->schedule.refused && ++shown)
            ac_detail(cx, "'%s': %s", job->step[i]->node->name, job->step[i]->schedule.refused);
    if (left > SHOWN)
        ac_detail(cx, "and %d more", left - SHOWN);
}

const char *ac_job_options(arenac_job *job)
{
    const ac_options *o = &job->opt, *d = o;
    char *s = ac_strf(job->cx.region, "-t %s", d->target);
    if (strcmp(o->planner, "auto"))
        s = ac_strf(job->cx.region, "%s --planner %s", s, o->planner);
    if (o->reference_tflite)
        s = ac_strf(job->cx.region, "%s --reference tflite", s);
    if (o->schedule_search)
        s = ac_strf(job->cx.region, "%s --schedule search", s);
    if (o->recompute)
        s = ac_strf(job->cx.region, "%s --recompute", s);
    if (o->overlap > 0)
        s = ac_strf(job->cx.region, "%s --overlap on", s);
    if (o->stripe)
        s = ac_strf(job->cx.region, "%s%s --stripe %s", s, o->overlap ? "" : " --overlap off",
                    o->stripe_list ? o->stripe_list : "auto");
    if (o->io_rows)
        s = ac_strf(job->cx.region, "%s --io rows", s);
    if (o->caller_io)
        s = ac_strf(job->cx.region, "%s --host", s);
    if (o->quantized_io)
        s = ac_strf(job->cx.region, "%s --quantized-io", s);
    if (ac_job_threads(job) > 1)
        s = ac_strf(job->cx.region, "%s --threads %d", s, ac_job_threads(job));
    if (o->winograd)
        s = ac_strf(job->cx.region, o->winograd > 0 ? "%s --winograd=%d" : "%s --winograd", s, o->winograd);
    if (o->tensor_cores)
        s = ac_strf(job->cx.region, "%s --tensor-cores %s", s, o->tensor_cores);
    if (o->tuned)
        s = ac_strf(job->cx.region, "%s --tuned %s", s, ac_path_name(o->tuned));
    if (o->share_kernels)
        s = ac_strf(job->cx.region, "%s --share-kernels", s);
    if (o->poison)
        s = ac_strf(job->cx.region, "%s --poison", s);
    if (o->exact)
        s = ac_strf(job->cx.region, "%s --exact", s);
    for (int32_t k = 0; k < o->n_mems; k++)
        s = ac_strf(job->cx.region, "%s --mem %s:%lld%s%s", s, o->mem[k].name, (long long)o->mem[k].bytes,
                    o->mem[k].speed ? (o->mem[k].speed > 0 ? ",fast" : ",slow") : "", o->mem[k].read_only ? ",ro" : "");
    for (int32_t k = 0; k < o->n_pins; k++)
        s = ac_strf(job->cx.region, o->pin[k].offset < 0 ? "%s --pin %s=%s" : "%s --pin %s=%s@%lld", s,
                    o->pin[k].tensor, o->pin[k].memory, (long long)o->pin[k].offset);
    return s;
}
