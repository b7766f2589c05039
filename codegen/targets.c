/* targets.c - finds the rows of targets.def by name, and checks whether this machine runs them. */
#include "codegen/targets.h"

#include "base/format.h"
#include "base/sys/sys.h"

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

/* The CPU features that rows name. __builtin_cpu_supports takes only literals, and not all of them in every compiler:
 * others are bits of CPUID's leaf 7. It also checks that the operating system saves vector registers, which for those
 * others follows from another feature in the same row: avx2, avx512f. Every processor with AVX2 has f16c and lzcnt. */
#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

enum { EAX, EBX, ECX, EDX };

typedef struct cpuid_bit {
    const char *name;
    unsigned sub; /* of leaf 7 */
    int32_t reg, bit;
} cpuid_bit;

static const cpuid_bit LEAF_7[] = {
    {"avx512ifma", 0, EBX, 21},   {"avx512vbmi", 0, ECX, 1},
    {"avx512vbmi2", 0, ECX, 6},   {"gfni", 0, ECX, 8},
    {"vaes", 0, ECX, 9},          {"vpclmulqdq", 0, ECX, 10},
    {"avx512bitalg", 0, ECX, 12}, {"avx512vpopcntdq", 0, ECX, 14},
    {"avx512fp16", 0, EDX, 23},   {"amx-tile", 0, EDX, 24},
    {"amx-int8", 0, EDX, 25},     {"avxvnni", 1, EAX, 4},
    {"avx512bf16", 1, EAX, 5},
};

static bool is_word(const char *word, size_t n, const char *name)
{
    return strlen(name) == n && !memcmp(word, name, n);
}

static bool has_bit(const char *word, size_t n)
{
    for (size_t i = 0; i < sizeof LEAF_7 / sizeof LEAF_7[0]; i++) {
        const cpuid_bit *f = &LEAF_7[i];
        unsigned reg[4] = {0};
        if (is_word(word, n, f->name))
            return __get_cpuid_count(7, f->sub, &reg[EAX], &reg[EBX], &reg[ECX], &reg[EDX]) &&
                   (reg[f->reg] >> f->bit & 1) && (!is_word(word, n, "amx-tile") || ac_sys_request_amx());
    }
    return false;
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
    return has_bit(word, n);
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
        ac_print(text, size, "the instruction set of %s", ISA[t->isa]);
        return text;
    }
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
#endif
    for (const char *f = t->features; *f;) {
        const size_t n = strcspn(f, ",");
        if (!has(f, n) && used + n + 2 < size)
            used += (size_t)ac_print(text + used, size - used, "%s%.*s", used ? "," : "", (int)n, f);
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
    if (t->vec_bytes != than->vec_bytes)
        return t->vec_bytes > than->vec_bytes;
    if (t->dot_u8s8 != than->dot_u8s8)
        return t->dot_u8s8;
    return t->fp & AC_FP_BF16 && !(than->fp & AC_FP_BF16);
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
        if (native ? (!best || has_more(t, best)) && !t->amx && ac_target_runs_here(t) : !strcmp(name, t->name))
            best = t;
    }
    return best || native ? best : find_triple(name);
}
