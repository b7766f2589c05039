/* board.h - the interface of start.c for a program measured on one of QEMU's boards: instructions and stack of a
 * region.
 *
 *     board_begin(board_stack_pointer());     begins the measured region
 *     net_run(&m);
 *     board_end();                            adds to the figures that start.c prints when main returns
 *     board_step_begin(3); ... board_step_end(3);     within: instructions of step 3, summed
 *
 * The first region gives the count; the deepest of all gives the stack, from the caller's stack pointer down. */
#ifndef BOARD_H
#define BOARD_H
#include <stdint.h>

enum { BOARD_STEPS = 2048 }; /* steps above are counted together */

void board_begin(uintptr_t sp);
void board_end(void);
void board_step_begin(uint32_t step);
void board_step_end(uint32_t step);
void board_say(const char *text); /* to QEMU's standard output; no end of line is added */

static inline uintptr_t board_stack_pointer(void)
{
    uintptr_t sp;
#if defined(__arm__)
    __asm__ volatile("mov %0, sp" : "=r"(sp));
#else
    __asm__ volatile("mv %0, sp" : "=r"(sp));
#endif
    return sp;
}

#endif
