/* peak.h - measures the peak rates of this machine on one thread: multiply-adds of a type, and bytes from and to a
 * cache or memory. Runs small loops for a target, built by the host compiler.
 *
 *     ac_peak p = {0};
 *     if (ac_peak_open(&p, cx, target) == AC_OK)
 *         x = ac_peak_macs(&p, AC_PEAK_F32, 0), y = ac_peak_bytes(&p, 1 << 20);
 *     ac_peak_close(&p);                                     also after a failed open
 *
 * Multiply-adds: independent chains in registers, a vector of the target each; of bytes the target's instruction for
 * sums of four products. Bytes: a copy between two halves of so many bytes. A figure is measured on its first request
 * (some 20 ms) and is the best of several. Errors: E0302, E0303. Method: chains and working sets as in bench tools such
 * as likwid's. */
#ifndef AC_HOST_PEAK_H
#define AC_HOST_PEAK_H
#include "base/ctx.h"
#include "ir/lower/target.h"

enum { AC_PEAK_SIZES = 28 }; /* of working sets: up to 384 MiB */

typedef enum ac_peak_kind { AC_PEAK_F32, AC_PEAK_BYTES } ac_peak_kind;

typedef struct ac_peak {
    void *library;
    double macs[2];              /* by kind, for each ms; 0: not yet measured */
    int tries[2];                /* by kind, how often that was measured */
    double bytes[AC_PEAK_SIZES]; /* by working set, for each ms */
} ac_peak;

bool ac_peak_fits(const ac_target *t); /* are there loops for its vectors? */
int ac_peak_open(ac_peak *p, ac_ctx *cx, const ac_target *t);
/* For each ms; 0: the target has no such instruction. least: a rate that was seen before; a lower figure is measured
 * again, a few times, since another process had the processor. */
double ac_peak_macs(ac_peak *p, ac_peak_kind kind, double least);
double ac_peak_bytes(ac_peak *p, int64_t set); /* read and written for each ms, in a working set of `set` bytes */
void ac_peak_close(ac_peak *p);

#endif
