#include "codegen/targets.h"

#include <string.h>

static const ac_target TARGETS[] = {
#define TARGET(name, help, vec, regs, fma, dot, features, align, l1, l2, firmware, ...)                                \
    {name, help, vec, regs, fma, dot, features, align, l1, l2, firmware, __VA_ARGS__},
#include "codegen/targets.def"
#undef TARGET
};
enum { N_TARGETS = (int)(sizeof TARGETS / sizeof TARGETS[0]) };

int32_t ac_target_count(void)
{
    return N_TARGETS;
}

const ac_target *ac_target_at(int32_t i)
{
    return i >= 0 && i < N_TARGETS ? &TARGETS[i] : NULL;
}

/* The CPU features behind the rows. __builtin_cpu_supports takes literals only, so the levels are spelled out; AVX-VNNI
 * is not known to every compiler and is read from CPUID leaf 7.1 (EAX bit 4). */
#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

static bool has_avx_vnni(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}

static bool has_features(const ac_target *t)
{
    if (t->isa != AC_ISA_ANY && t->isa != AC_ISA_X86)
        return false;
    __builtin_cpu_init();
    if (t->vec_bytes >= 16 && !__builtin_cpu_supports("sse4.2"))
        return false;
    if (t->vec_bytes >= 32 && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                                __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")))
        return false;
    if (t->vec_bytes >= 64 && !(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                                __builtin_cpu_supports("avx512vl")))
        return false;
    if (!t->dot_u8s8)
        return true;
    return t->vec_bytes == 64 ? __builtin_cpu_supports("avx512vnni") != 0 : has_avx_vnni();
}
#else
static bool has_features(const ac_target *t)
{
    return t->isa == AC_ISA_ANY && t->vec_bytes == 0;
}
#endif

bool ac_target_runs_here(const ac_target *t)
{
    return !t->firmware && has_features(t);
}

/* Named processors are rows of the same facts: the first row with the most is the native one. */
static bool has_more(const ac_target *t, const ac_target *than)
{
    return t->vec_bytes != than->vec_bytes ? t->vec_bytes > than->vec_bytes : t->dot_u8s8 && !than->dot_u8s8;
}

/* An architecture as triples begin, "thumbv7em", or a whole triple: its first row. */
static const ac_target *find_triple(const char *name)
{
    const size_t n = strlen(name);
    for (int32_t i = 0; i < N_TARGETS; i++) {
        const char *triple = TARGETS[i].triple;
        if (n && !strncmp(triple, name, n) && (!triple[n] || triple[n] == '-'))
            return &TARGETS[i];
    }
    return NULL;
}

const ac_target *ac_target_find(const char *name)
{
    const ac_target *best = NULL;
    bool native = !strcmp(name, "native");
    for (int32_t i = 0; i < N_TARGETS; i++) {
        const ac_target *t = &TARGETS[i];
        if (native ? ac_target_runs_here(t) && (!best || has_more(t, best)) : !strcmp(name, t->name))
            best = t;
    }
    return best || native ? best : find_triple(name);
}
