/* memory.h - the memory that this process may use.
 *
 *     size_t most = ac_memory_here("");              0: nothing is known
 *
 * The least of the machine's memory, the limits of its control groups (versions 1 and 2, each with those above it) and
 * of its address space (RLIMIT_AS). root: a prefix of the paths in /proc and /sys, for tests. Cost: a few small files
 * are read. */
#ifndef AC_DRIVER_REQUEST_MEMORY_H
#define AC_DRIVER_REQUEST_MEMORY_H
#include <stddef.h>

size_t ac_memory_here(const char *root);

#endif
