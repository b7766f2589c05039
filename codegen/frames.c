/* frames.c - the deepest path through functions with frames; see frames.h. */
#include "codegen/frames.h"

#include <string.h>

int32_t ac_frames_add(ac_region *r, ac_frames *f, const char *name)
{
    for (int32_t i = 0; i < f->n; i++)
        if (!strcmp(f->item[i].name, name))
            return i;
    ac_push(r, f, ((ac_frame){.name = ac_strdup(r, name), .bytes = -1, .deepest = -1}));
    return f->n - 1;
}

void ac_frames_call(ac_region *r, ac_frames *f, int32_t from, int32_t to)
{
    ac_frame *x = &f->item[from];
    for (int32_t i = 0; i < x->calls.n; i++)
        if (x->calls.item[i] == to)
            return;
    ac_push(r, &x->calls, to);
}

/* ------------------------------------------------------------------ libraries */

/* Functions whose names hold a word: bytes on ARMv6-M, on other Arm cores, on RV32. The first row that fits. */
typedef struct library_row {
    const char *word;
    int16_t v6m, arm, rv32;
} library_row;

// clang-format off
static const library_row LIBRARY[] = {
    {"ldivmod", 108, 52,  0}, {"divdi3", 108, 52, 16}, {"moddi3",  108, 52, 16}, {"lmul",      28,  0,  0},
    {"muldi3",   28,  0,  0}, {"aeabi_ll", 0,  0,  0}, {"aeabi_la",  0,  0,  0}, {"shldi3",     0,  0,  0},
    {"shrdi3",    0,  0,  0}, {"idiv",     8,  0,  0}, {"divsi3",    8,  0,  0}, {"modsi3",     8,  0,  0},
    {"mulsi3",    0,  0,  0}, {"clz",      8,  0,  0}, {"ctz",       0,  0,  0}, {"_case_",     8,  8,  0},
    {"2lz",     104, 56, 16}, {"2ulz",    88, 40, 16}, {"fixdfdi", 104, 56, 16}, {"fixunsdfdi",88, 40, 16},
    {"aeabi_d",  72, 32, 48}, {"2d",      80, 36, 32}, {"df",       80, 36, 48}, {"aeabi_f",   32, 32, 32},
    {"2f",       88,  0, 32}, {"sf",      88, 32, 32}, {"mem",      24, 24, 16}};
// clang-format on

enum { UNKNOWN_LIBRARY = 64 };

static ac_bytes library(const ac_target *t, const char *name)
{
    for (size_t i = 0; i < sizeof LIBRARY / sizeof *LIBRARY; i++)
        if (strstr(name, LIBRARY[i].word))
            return t->isa != AC_ISA_ARM               ? LIBRARY[i].rv32
                   : !strcmp(t->cpu, "cortex-m0plus") ? LIBRARY[i].v6m
                                                      : LIBRARY[i].arm;
    return UNKNOWN_LIBRARY;
}

/* ------------------------------------------------------------------ paths */

/* Recursion as deep as the calls of generated code: run, kernel, function of a kernel, library. */
ac_bytes ac_frames_deepest(ac_frames *f, const ac_target *t, int32_t root)
{
    ac_frame *x = &f->item[root];
    if (x->deepest >= 0)
        return x->deepest;
    x->deepest = 0; /* while its calls are walked: a recursion adds nothing */
    ac_bytes most = 0;
    for (int32_t i = 0; i < x->calls.n; i++) {
        const ac_bytes d = ac_frames_deepest(f, t, x->calls.item[i]);
        most = d > most ? d : most;
    }
    x->deepest = most + (x->bytes >= 0 ? x->bytes : library(t, x->name));
    return x->deepest;
}
