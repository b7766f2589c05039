/* roots.h - the beginning of the text of a square root: the instruction of machines that have one. */
#ifndef AC_CODEGEN_C_ROOTS_H
#define AC_CODEGEN_C_ROOTS_H

/* A square root has one instruction on most machines; the portable body follows in #else. */
#define ROOT_NATIVE(sse, arm64, arm_bit, arm, riscv_bits, riscv)      \
    "#if defined(__SSE2__)\n"                                         \
    "    return " sse ";\n"                                           \
    "#elif defined(__aarch64__)\n"                                    \
    "    __asm__(" arm64 " : \"=w\"(x) : \"w\"(x));\n"                \
    "    return x;\n"                                                 \
    "#elif defined(__ARM_FP) && (__ARM_FP & " arm_bit ")\n"           \
    "    __asm__(" arm ");\n"                                         \
    "    return x;\n"                                                 \
    "#elif defined(__riscv_flen) && __riscv_flen >= " riscv_bits "\n" \
    "    __asm__(" riscv " : \"=f\"(x) : \"f\"(x));\n"                \
    "    return x;\n"                                                 \
    "#else\n"
#define ROOT_NATIVE_F32                                                                 \
    ROOT_NATIVE("_mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x)))", "\"fsqrt %s0, %s1\"", "4", \
                "\"vsqrt.f32 %0, %1\" : \"=t\"(x) : \"t\"(x)", "32", "\"fsqrt.s %0, %1\"")
#define ROOT_NATIVE_F64                                                                                   \
    ROOT_NATIVE("_mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x)))", "\"fsqrt %d0, %d1\"", "8", \
                "\"vsqrt.f64 %P0, %P1\" : \"=w\"(x) : \"w\"(x)", "64", "\"fsqrt.d %0, %1\"")

#endif
