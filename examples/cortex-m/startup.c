/* startup.c - startup code of a Cortex-M: the vectors, copies .data from flash, clears .bss, enables the FPU. When main
 * returns, the debugger (or QEMU) gets its status. */
#include "board.h"

#include <stdint.h>

int main(void);
void reset(void);
void fault(void);

extern uint32_t stack_top[], data_from[], data_begin[], data_end[], bss_begin[], bss_end[];

/* The first words of flash: the stack, then the handlers of reset, NMI and the faults. */
__attribute__((section(".vectors"), used)) static const uintptr_t vectors[] = {
    (uintptr_t)stack_top, (uintptr_t)reset, (uintptr_t)fault, (uintptr_t)fault,
    (uintptr_t)fault,     (uintptr_t)fault, (uintptr_t)fault,
};

static void host_call(uint32_t number, const void *argument)
{
    register uint32_t r0 __asm__("r0") = number;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void board_say(const char *text)
{
    host_call(0x04, text); /* SYS_WRITE0 */
}

static void leave(uint32_t status)
{
    const uint32_t why[] = {0x20026, status}; /* ADP_Stopped_ApplicationExit */
    for (;;)
        host_call(0x20, why); /* SYS_EXIT_EXTENDED */
}

void fault(void)
{
    board_say("fault\n");
    leave(3);
}

void reset(void)
{
    const uint32_t *from = data_from;
    *(volatile uint32_t *)0xe000ed88 |= 0xfu << 20; /* CPACR: the FPU */
    __asm__ volatile("dsb\nisb");
    for (uint32_t *to = data_begin; to < data_end;)
        *to++ = *from++;
    for (uint32_t *to = bss_begin; to < bss_end;)
        *to++ = 0;
    leave((uint32_t)main());
}
