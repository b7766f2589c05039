/* gpu_model.h - a model of the time of a launch, to rank launches and to find slow ones. Nothing is measured.
 *
 * The largest of five times, each of a part of the device that is fully used, and the start of the launch:
 *
 *     memory       bytes moved, each counted once, at the rate of the device's memory
 *     loads        bytes loaded and stored, at 64 a cycle for each multiprocessor with a block
 *     shared       passes over shared memory, one a cycle
 *     arithmetic   instructions of warps, four a cycle; products of tensor cores, at their rate
 *     one thread   its instructions, 4 cycles each, and its loads, 400 cycles for each 8
 *     start        2,000 ns; 800 if the kernel may start before the one before it ends
 *
 * Counted in the loops: arithmetic of floats, products of bytes, loads and stores. Arithmetic of addresses is not.
 * Devices are rows of gpu_model.c: one of each compute capability, of the specifications. */
#ifndef AC_DRIVER_FACTS_GPU_MODEL_H
#define AC_DRIVER_FACTS_GPU_MODEL_H
#include "codegen/cuda/cuda.h"
#include "ir/loop/access/banks.h"

/* Nanoseconds. moved, traffic: bytes; early: it may start before the kernel before it ends. */
int64_t ac_gpu_model_ns(const ac_target *t, const ac_cuda_kernel *k, const ac_banks *banks, int64_t moved,
                        int64_t traffic, bool early);

#endif
