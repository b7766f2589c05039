/* targets.c - the rows of targets.def, found by name, and whether this machine runs them. */
#include "codegen/targets.h"

#include <stdio.h>
#include <string.h>

static const ac_target TARGETS[] = {
#define TARGET(name, help, vec, regs, fma, dot, features, align, l1, l2, firmware, ...) \
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

/* The CPU features that rows name. __builtin_cpu_supports takes literals only and does not know all of them everywhere:
 * AVX-VNNI is read from CPUID leaf 7.1 (EAX bit 4); every processor with AVX2 has f16c and lzcnt. */
#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

static bool has_avx_vnni(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}

static bool is_word(const char *word, size_t n, const char *name)
{
    return strlen(name) == n && !memcmp(word, name, n);
}

static bool has(const char *word, size_t n)
{
#define CPU(name)               \
    if (is_word(word, n, name)) \
    return __builtin_cpu_supports(name) != 0
    CPU("sse4.2");
    CPU("popcnt");
    CPU("avx2");
    CPU("fma");
    CPU("bmi");
    CPU("bmi2");
    CPU("avx512f");
    CPU("avx512bw");
    CPU("avx512cd");
    CPU("avx512dq");
    CPU("avx512vl");
    CPU("avx512vnni");
#undef CPU
    if (is_word(word, n, "f16c") || is_word(word, n, "lzcnt"))
        return __builtin_cpu_supports("avx2") != 0;
    return is_word(word, n, "avxvnni") && has_avx_vnni();
}
enum { HOST_ISA = AC_ISA_X86 };
#else
static bool has(const char *word, size_t n)
{
    (void)word;
    return n == 0;
}
enum { HOST_ISA = AC_ISA_ANY };
#endif

const char *ac_target_missing(const ac_target *t, char *text, size_t size)
{
    static const char *const ISA[] = {"", "x86-64", "Arm", "64-bit Arm", "RISC-V", "WebAssembly", "NVIDIA GPUs"};
    size_t used = 0;
    text[0] = 0;
    if (t->firmware)
        return "the target is firmware";
    if (t->isa != AC_ISA_ANY && t->isa != (ac_isa)HOST_ISA) {
        snprintf(text, size, "the instruction set of %s", ISA[t->isa]);
        return text;
    }
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
#endif
    for (const char *f = t->features; *f;) {
        const size_t n = strcspn(f, ",");
        if (!has(f, n) && used + n + 2 < size)
            used += (size_t)snprintf(text + used, size - used, "%s%.*s", used ? "," : "", (int)n, f);
        f += n + (f[n] == ',');
    }
    return text;
}

bool ac_target_runs_here(const ac_target *t)
{
    char missing[AC_TARGET_MISSING];
    return !*ac_target_missing(t, missing, sizeof missing);
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
