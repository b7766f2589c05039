/* frames.c - finds the deepest path through functions with frames; see frames.h. */
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

/* Names without "__" and "aeabi_", between blanks, and their bytes on ARMv6-M, on other Arm cores, on RV32. */
typedef struct library_row {
    const char *names;
    int16_t v6m, arm, rv32;
} library_row;

// clang-format off
static const library_row LIBRARY[] = {
    {" idiv uidiv idivmod uidivmod divsi3 udivsi3 modsi3 umodsi3 clzdi2 clzsi2 ",  8,  0,  0},
    {" ldivmod ",                                                                108, 52,  0},
    {" uldivmod ",                                                                84, 52,  0},
    {" divdi3 udivdi3 moddi3 umoddi3 ",                                          108, 52, 16},
    {" lmul muldi3 ",                                                             28,  0,  0},
    {" llsl llsr lasr ashldi3 lshrdi3 ashrdi3 ",                                   0,  0,  0},
    {" dadd ",                                                                    48, 16,  0},
    {" dsub drsub dcmpge dcmpgt dcmple dcmplt ",                                  56, 20,  0},
    {" dmul ",                                                                    64, 16,  0},
    {" ddiv ",                                                                    72, 32,  0},
    {" dcmpeq ",                                                                  44, 20,  0},
    {" dcmpun d2iz ",                                                             24,  0,  0},
    {" d2uiz ",                                                                   72,  0,  0},
    {" d2lz ",                                                                   104, 56,  0},
    {" d2ulz f2ulz ",                                                             88, 40,  0},
    {" i2d ui2d f2d ",                                                            16, 24,  0},
    {" l2d ul2d ",                                                                80, 36,  0},
    {" d2f fmul fdiv frsub f2uiz ",                                               32,  0,  0},
    {" fadd fsub ",                                                               24,  0,  0},
    {" fcmpeq fcmpge fcmpgt fcmple fcmplt fcmpun ",                               24, 32,  0},
    {" f2iz ",                                                                     0,  0,  0},
    {" f2lz ",                                                                    96, 48,  0},
    {" i2f ui2f ",                                                                16,  0,  0},
    {" l2f ul2f ",                                                                88,  0,  0},
    {" adddf3 subdf3 floatdidf floatundidf mulsf3 divsf3 floatdisf floatundisf ", 64, 32, 32},
    {" muldf3 divdf3 ",                                                           72, 32, 48},
    {" addsf3 subsf3 fixdfdi fixunsdfdi floatsidf floatunsidf extendsfdf2 fixsfdi fixunssfdi floatsisf floatunsisf ",
                                                                                  96, 48, 16},
    {" eqdf2 nedf2 gedf2 gtdf2 ledf2 ltdf2 unorddf2 fixdfsi fixunsdfsi truncdfsf2 eqsf2 nesf2 gesf2 gtsf2 lesf2 ltsf2 "
     "unordsf2 fixsfsi fixunssfsi ",                                              56, 32,  0},
    {" gnu_thumb1_case_uqi gnu_thumb1_case_uhi gnu_thumb1_case_sqi gnu_thumb1_case_shi gnu_thumb1_case_si ", 8, 8, 0},
    {" memcpy memcpy4 memcpy8 ",                                                  28,  8,  0},
    {" memmove memmove4 memmove8 ",                                               28, 16,  0},
    {" memset memset4 memset8 memclr memclr4 memclr8 ",                           36, 16,  0},
};
// clang-format on

enum { UNKNOWN_LIBRARY = 112 };

static ac_bytes library(ac_region *r, const ac_target *t, const char *name)
{
    name += !strncmp(name, "__", 2) ? 2 : 0;
    name += !strncmp(name, "aeabi_", 6) ? 6 : 0;
    const char *word = ac_strf(r, " %s ", name);
    for (size_t i = 0; i < sizeof LIBRARY / sizeof *LIBRARY; i++)
        if (strstr(LIBRARY[i].names, word))
            return t->isa != AC_ISA_ARM ? LIBRARY[i].rv32 : t->mul == AC_MUL_LOW ? LIBRARY[i].v6m : LIBRARY[i].arm;
    return UNKNOWN_LIBRARY;
}

/* ------------------------------------------------------------------ paths */

/* The recursion is as deep as the calls of generated code: run, kernel, function of a kernel, library. */
ac_bytes ac_frames_deepest(ac_region *r, ac_frames *f, const ac_target *t, int32_t root)
{
    ac_frame *x = &f->item[root];
    if (x->deepest >= 0)
        return x->deepest;
    x->deepest = 0; /* set while its calls are walked: recursion adds nothing */
    ac_bytes most = 0;
    for (int32_t i = 0; i < x->calls.n; i++) {
        const ac_bytes d = ac_frames_deepest(r, f, t, x->calls.item[i]);
        most = d > most ? d : most;
    }
    x->deepest = most + (x->bytes >= 0 ? x->bytes : library(r, t, x->name));
    return x->deepest;
}
