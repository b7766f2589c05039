/* arn_cuda_steps.c - `arenac run --backend cuda`: memory on the host goes to the device, is worked on and comes back.
 * The image is part of this object: ARN_CUDA_IMAGE is the name of its file. Not for users' programs: those keep memory
 * on the device. */
#include "arn_cuda.h"
#include "arn_rt.h"

#include <stdio.h>

#ifdef ARN_CUDA_IMAGE
__asm__(".section .rodata\n"
        "arn_cuda_image: .incbin \"" ARN_CUDA_IMAGE "\"\n"
        ".byte 0\n"
        ".text\n");
extern const char arn_cuda_image[] __attribute__((visibility("hidden")));

static int copied(struct arn_cuda *g, const struct arn_cuda_model *m, const struct arn_mem *mem, int back)
{
    const struct {
        int32_t space;
        void *at;
        uint64_t n;
    } all[] = {{ARN_CUDA_ARENA, mem->arena, m->arena_bytes}, {ARN_CUDA_STATE, mem->state, m->state_bytes}};
    int status = 0;
    for (int i = 0; i < 2 && !status; i++) {
        const uint64_t on_device = arn_cuda_address(g, all[i].space, 0);
        if (all[i].n)
            status = back ? arn_cuda_read(g, on_device, all[i].at, (size_t)all[i].n)
                          : arn_cuda_write(g, on_device, all[i].at, (size_t)all[i].n);
    }
    return status;
}

/* With a hook the steps are models of their own, one after another. */
static int run(struct arn_cuda *g, const struct arn_cuda_model *m, const struct arn_mem *mem)
{
    int status = copied(g, m, mem, 0);
    if (!status)
        status = arn_cuda_run(g, NULL);
    if (!status)
        status = arn_cuda_wait(g);
    const int back = copied(g, m, mem, 1);
    return status ? status : back;
}

int arn_cuda_steps(const struct arn_cuda_model *m, const struct arn_mem *mem, const struct arn_hook *hook)
{
    const char *why;
    struct arn_cuda_model part = *m;
    struct arn_cuda *g = arn_cuda_open(&part, arn_cuda_image, mem->weights, &why);
    int status = 0;
    if (!g) {
        fprintf(stderr, "%s\n", why);
        return ARN_CUDA_EDRIVER;
    }
    if (!hook)
        status = run(g, m, mem);
    for (int32_t s = 0, first = 0; hook && s < m->n_steps && !status; s++) {
        part.launch = m->launch + first;
        for (part.n_launches = 0; first < m->n_launches && m->launch[first].step == s; first++)
            part.n_launches++;
        if (hook->begin)
            hook->begin(hook->user, s);
        status = run(g, m, mem);
        if (hook->end)
            hook->end(hook->user, s);
    }
    if (status >= ARN_CUDA_EDRIVER)
        fprintf(stderr, "%s\n", arn_cuda_why(g));
    arn_cuda_close(g);
    return status;
}
#endif
