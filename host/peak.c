/* peak.c - measuring what a machine attains; see peak.h. */
#include "host/peak.h"

#include "base/clock.h"
#include "base/plugin.h"
#include "base/sys/sys.h"
#include "host/compiler.h"

#include <stdlib.h>
#include <string.h>

/* Preceded by FEATURES, VEC (bytes of a vector), CHAINS and, if there is such an instruction, DOT (accumulator,
 * unsigned and signed bytes). Each function returns its number of multiply-adds. */
static const char KERNELS[] =
    "#include <string.h>\n"
    "typedef float v __attribute__((vector_size(VEC)));\n"
    "typedef int vi __attribute__((vector_size(VEC)));\n"
    "#define EACH12(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)\n"
    "#define EACH24(X) EACH12(X) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)\n"
    "#if CHAINS == 24\n#define EACH EACH24\n#else\n#define EACH EACH12\n#endif\n"
    "FEATURES double peak_f32(long long n, float *io, const float *from, long long bytes)\n"
    "{\n"
    "    v a, b;\n"
    "    memcpy(&a, io, sizeof a);\n"
    "    memcpy(&b, io + 64, sizeof b);\n"
    "#define X(k) v c##k = b + k;\n    EACH(X)\n#undef X\n"
    "    for (long long i = 0; i < n; i++) {\n"
    "#define X(k) c##k = c##k * a + b;\n        EACH(X)\n#undef X\n"
    "    }\n"
    "#define X(k) b += c##k;\n    EACH(X)\n#undef X\n"
    "    memcpy(io + 128, &b, sizeof b);\n"
    "    return (double)n * CHAINS * (VEC / 4);\n"
    "}\n"
    "FEATURES double peak_bytes(long long n, float *io, const float *from, long long bytes)\n"
    "{\n"
    "#ifdef DOT\n"
    "    vi a, b;\n"
    "    memcpy(&a, io, sizeof a);\n"
    "    memcpy(&b, io + 64, sizeof b);\n"
    "#define X(k) vi c##k = b + k;\n    EACH(X)\n#undef X\n"
    "    for (long long i = 0; i < n; i++) {\n"
    "#define X(k) __asm__(DOT : CONSTRAINT(c##k) : INPUT(a), INPUT(b));\n        EACH(X)\n#undef X\n"
    "    }\n"
    "#define X(k) b += c##k;\n    EACH(X)\n#undef X\n"
    "    memcpy(io + 128, &b, sizeof b);\n"
    "    return (double)n * CHAINS * VEC;\n"
    "#else\n"
    "    return 0;\n"
    "#endif\n"
    "}\n"
    "FEATURES double peak_copy(long long n, float *to, const float *from, long long bytes)\n"
    "{\n"
    "    for (long long i = 0; i < n; i++) {\n"
    "        for (long long k = 0; k < bytes; k += 4 * VEC) {\n"
    "            v x[4];\n"
    "            memcpy(x, (const char *)from + k, sizeof x);\n"
    "            memcpy((char *)to + k, x, sizeof x);\n"
    "        }\n"
    "        __asm__ volatile(\"\" : : \"r\"(to), \"r\"(from) : \"memory\");\n"
    "    }\n"
    "    return 2.0 * (double)n * (double)bytes;\n"
    "}\n";

/* SCALE: floats of each of three areas for operands. The halves of a copy begin at different places of a page: a load
 * would wait for a store before it that has the same place. */
enum { LEAST_SET = 32 << 10, ROUNDS = 5, AGAIN = 5, ONE_MS = 1, SCALE = 64, PAGE = 4096 };

/* The instruction that sums four products of bytes, as inline assembly; "": none that needs to be named. */
static const char *dot_of(const ac_target *t)
{
    if (t->isa == AC_ISA_X86 && t->dot_u8s8)
        return t->vec_bytes == 64
                   ? "#define DOT \"vpdpbusd %2, %1, %0\"\n#define CONSTRAINT(c) \"+v\"(c)\n#define INPUT(x) "
                     "\"v\"(x)\n"
                   : "#define DOT \"%{vex%} vpdpbusd %2, %1, %0\"\n#define CONSTRAINT(c) \"+x\"(c)\n#define "
                     "INPUT(x) \"x\"(x)\n";
    if (t->isa == AC_ISA_AARCH64 && t->dot_i8i8 && t->vec_bytes == 16)
        return "#define DOT \".arch armv8.2-a+dotprod\\n\\tsdot %0.4s, %1.16b, %2.16b\"\n#define CONSTRAINT(c) "
               "\"+w\"(c)\n#define INPUT(x) \"w\"(x)\n";
    return "";
}

bool ac_peak_fits(const ac_target *t)
{
    return t->isa == AC_ISA_ANY || t->isa == AC_ISA_X86 || (t->isa == AC_ISA_AARCH64 && t->vec_bytes == 16);
}

int ac_peak_open(ac_peak *p, ac_ctx *cx, const ac_target *t)
{
    const char *dir = ac_build_folder(cx);
    const int32_t vec = t->vec_bytes ? t->vec_bytes : 4;
    const char *features = *t->features ? ac_strf(cx->region, "__attribute__((target(\"%s\")))", t->features) : "";
    const char *text = ac_strf(cx->region, "#define FEATURES %s\n#define VEC %d\n#define CHAINS %d\n%s%s", features,
                               (int)vec, t->registers >= 32 ? 24 : 12, dot_of(t), KERNELS);
    int status = dir ? ac_build_text(cx, dir, text, t->fma ? "-ffp-contract=fast" : "-ffp-contract=off") : AC_FAIL;
    if (status == AC_OK) {
        p->library = ac_library_open(cx, ac_strf(cx->region, "%s/text.so", dir));
        if (!p->library)
            status = ac_error(cx, (ac_place){0}, E0303, "cannot load the loops that measure this host: %s",
                              ac_sys_library_why());
    }
    ac_folder_end(dir);
    return status;
}

typedef double loops(long long n, float *to, const float *from, long long bytes);

/* The most that f does in a ms, of rounds of at least a ms each. */
static double best_of(loops *f, float *to, const float *from, long long bytes)
{
    double best = 0;
    long long n = 1;
    for (int round = 0; round < ROUNDS;) {
        const double start = ac_now_ms(), work = f(n, to, from, bytes), ms = ac_now_ms() - start;
        if (work <= 0)
            return 0;
        if (ms < ONE_MS && n < 1LL << 40) {
            n *= 2;
            continue;
        }
        best = work / ms > best ? work / ms : best;
        round++;
    }
    return best;
}

static loops *find(const ac_peak *p, const char *name)
{
    void *address = ac_sys_symbol(p->library, name);
    loops *f = NULL;
    memcpy(&f, &address, sizeof f);
    return f;
}

double ac_peak_macs(ac_peak *p, ac_peak_kind kind, double least)
{
    float io[3 * SCALE];
    for (int i = 0; i < 3 * SCALE; i++)
        io[i] = i < SCALE ? 0.999F : 0.001F; /* sums stay near 1 */
    for (; p->tries[kind] < AGAIN && (p->macs[kind] <= 0 || p->macs[kind] < least); p->tries[kind]++) {
        const double macs = best_of(find(p, kind == AC_PEAK_F32 ? "peak_f32" : "peak_bytes"), io, NULL, 0);
        p->macs[kind] = macs > p->macs[kind] ? macs : p->macs[kind];
    }
    return p->macs[kind];
}

/* Working sets of LEAST_SET times 1, 1.5, 2, 3, 4 ..: the largest that is not larger is at least as fast. */
static int64_t set_of(int32_t k)
{
    return (k % 2 ? (int64_t)LEAST_SET * 3 / 2 : LEAST_SET) << k / 2;
}

double ac_peak_bytes(ac_peak *p, int64_t set)
{
    int32_t k = 0;
    while (k + 1 < AC_PEAK_SIZES && set_of(k + 1) <= set)
        k++;
    if (p->bytes[k] > 0)
        return p->bytes[k];
    const size_t half = (size_t)set_of(k) / 2;
    char *room = malloc(2 * half + 2 * PAGE), *area = room;
    if (!room)
        return 0;
    area += PAGE - (uintptr_t)room % PAGE;
    memset(area, 0, 2 * half + PAGE);
    p->bytes[k] = best_of(find(p, "peak_copy"), (float *)(void *)area, (const float *)(void *)(area + half + PAGE / 2),
                          (long long)half);
    free(room);
    return p->bytes[k];
}

void ac_peak_close(ac_peak *p)
{
    if (p->library)
        ac_sys_library_close(p->library);
    p->library = NULL;
}
