/* images.c - kernels inside of a program that nvcc does not compile: CUBINs of the targets of the module, and PTX of
 * the first, which later devices compile. */
#include "codegen/cuda/cuda.h"

#include <string.h>

static int put_image(ac_module *m, const ac_target *t, bool binary, const char *source, const char *name, ac_sink *to)
{
    enum { A_LINE = 32 };
    ac_sink image;
    ac_sink_open(&image, m->cx);
    AC_TRY(ac_cuda_compile(m, t, source, binary, &image));
    ac_putf(to, "static const union {\n    uint8_t bytes[%lld];\n    uint64_t align;\n} %s = {{\n",
            (long long)image.n + 1, name);
    for (size_t i = 0; i < image.n; i++)
        ac_putf(to, "%d,%s", (uint8_t)image.text[i], i % A_LINE == A_LINE - 1 ? "\n" : "");
    ac_put(to, "0}};\n"); /* PTX ends in a zero */
    return AC_OK;
}

/* Later devices run the PTX of a target unless the target has instructions of its own. */
static bool is_portable(const ac_target *t)
{
    return t->cpu[strlen(t->cpu) - 1] != 'a';
}

int ac_cuda_images(ac_module *m, const char *source, const char *upper, ac_sink *to)
{
    const char *p = m->name;
    ac_sink rows;
    int32_t n = 0;
    ac_sink_open(&rows, m->cx);
    ac_put(to, "#if !defined(__CUDACC__) && !defined(ARN_CUDA_EMU)\n");
    for (int32_t i = 0; i <= m->n_images; i++) {
        const ac_target *t = i < m->n_images ? m->image[i] : m->image[0];
        const bool ptx = i == m->n_images;
        if (ptx && !is_portable(t))
            continue;
        const char *name = ac_strf(m->cx->region, "%s_%s%s", p, ptx ? "ptx_" : "", t->cpu);
        AC_TRY(put_image(m, t, !ptx, source, name, to));
        ac_putf(&rows, "    {%d, %d, %s.bytes},\n", t->gpu, ptx, name);
        n++;
    }
    ac_putf(to,
            "static const struct arn_cuda_image %s_images[%d] = {\n%s};\n#define %s_IMAGES %d, %s_images\n#else\n"
            "#define %s_IMAGES 0, NULL\n#endif\n\n",
            p, n, ac_sink_text(&rows), upper, n, p, upper);
    return AC_OK;
}
