/* fma.h - x * y + z with one rounding, which the C library of MinGW does not give: its fma rounds twice. */
#ifndef AC_IR_DTYPE_FMA_H
#define AC_IR_DTYPE_FMA_H
#include <math.h>

#ifdef __MINGW32__
float ac_fmaf(float x, float y, float z);
/* On processors without the instruction (before 2013) it is exact unless a product or a rest is below 2^-1022. */
double ac_fma(double x, double y, double z);
#else
#define ac_fmaf fmaf
#define ac_fma  fma
#endif

#endif
