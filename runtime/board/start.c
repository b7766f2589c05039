/* start.c - start-up, output and counters of a bare-metal program on QEMU's Cortex-M and RV32 boards.
 *
 * Run QEMU with `-icount shift=0`, where an instruction takes a nanosecond of the board's time, and with semihosting.
 * RV32 counts instructions in minstret. Cortex-M counts them with SysTick: a tick is TICK_INSNS / TICK_PARTS
 * instructions, and the rest of a tick is found by a loop of known length that runs until the next one. When main
 * returns this prints lines "board insns N", "board stack N", "board step I N" (hexadecimal) and leaves QEMU with the
 * status of main. A fault prints "board fault" and leaves with 97. */
#include "board.h"

#include <stddef.h>

#ifndef TICK_INSNS
#define TICK_INSNS 1u
#define TICK_PARTS 1u
#endif

int main(void);
void board_reset(void);
void board_fault(void);
void board_tick(void);

extern uint32_t board_data_from[], board_data[], board_data_end[], board_bss[], board_bss_end[];
extern uint32_t board_stack[], board_stack_end[];

/* ------------------------------------------------------------------ semihosting */

enum { SYS_WRITE0 = 0x04, SYS_EXIT_EXTENDED = 0x20, APPLICATION_EXIT = 0x20026, FAULT_STATUS = 97 };

/* Aligned, so that the three instructions of a RISC-V semihosting call are in one page. */
__attribute__((noinline, aligned(16))) static void host_call(uint32_t number, const void *argument)
{
#if defined(__arm__)
    register uint32_t r0 __asm__("r0") = number;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
#else
    register uint32_t a0 __asm__("a0") = number;
    register const void *a1 __asm__("a1") = argument;
    __asm__ volatile(".option push\n.option norvc\nslli zero, zero, 31\nebreak\nsrai zero, zero, 7\n.option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
#endif
}

void board_say(const char *text)
{
    host_call(SYS_WRITE0, text);
}

static void say_number(uint64_t x)
{
    char text[17];
    size_t at = sizeof text - 1;
    text[at] = '\0';
    do {
        text[--at] = "0123456789abcdef"[x & 15u];
        x >>= 4;
    } while (x);
    board_say(" ");
    board_say(text + at);
}

static void leave(uint32_t status)
{
    uint32_t block[2];
    block[0] = APPLICATION_EXIT;
    block[1] = status;
    for (;;)
        host_call(SYS_EXIT_EXTENDED, block);
}

/* ------------------------------------------------------------------ instructions */

static volatile uint32_t wraps;

/* A reading of the clock; insns_at converts it to instructions. */
typedef struct reading {
    uint32_t high, low, rounds;
} reading;

#if defined(__arm__)
static volatile uint32_t *const SYSTICK = (volatile uint32_t *)(uintptr_t)0xe000e010u; /* control, reload, value */
enum { SYSTICK_ON = 7, SYSTICK_TOP = 0xffffff, LOOP_INSNS = 4 };

static void start_clock(void)
{
    SYSTICK[1] = SYSTICK_TOP;
    SYSTICK[2] = 0;
    SYSTICK[0] = SYSTICK_ON;
}

/* Inline, and without multiplications, which are calls on some cores: a measured region's stack is not touched. */
__attribute__((always_inline)) static inline void read_clock(reading *r)
{
    uint32_t before, value, rounds, first;
    do {
        before = wraps;
        rounds = 0;
        first = SYSTICK[2];
        __asm__ volatile(".syntax unified\n"
                         "1: ldr %0, [%2]\n\tadds %1, %1, #1\n\tcmp %0, %3\n\tbeq 1b"
                         : "=&l"(value), "+l"(rounds)
                         : "l"(SYSTICK + 2), "l"(first)
                         : "cc");
    } while (before != wraps);
    r->high = before;
    r->low = value;
    r->rounds = rounds;
}

/* Instructions until then, less those spent in waiting for the next tick. */
static uint64_t insns_at(const reading *r)
{
    const uint64_t ticks = ((uint64_t)r->high << 24) + (SYSTICK_TOP - r->low);
    return ticks * TICK_INSNS / TICK_PARTS - (uint64_t)r->rounds * LOOP_INSNS;
}
#else
static void start_clock(void) {}

__attribute__((always_inline)) static inline void read_clock(reading *r)
{
    uint32_t high, low, again;
    do {
        __asm__ volatile(".option push\n.option arch, +zicsr\n"
                         "csrr %0, minstreth\ncsrr %1, minstret\ncsrr %2, minstreth\n.option pop"
                         : "=r"(high), "=r"(low), "=r"(again));
    } while (high != again);
    r->high = high;
    r->low = low;
}

static uint64_t insns_at(const reading *r)
{
    return ((uint64_t)r->high << 32) | r->low;
}
#endif

void board_tick(void)
{
    wraps = wraps + 1u;
}

/* ------------------------------------------------------------------ regions */

static const uint32_t PAINT = 0xa5c3e187u;

static reading started, ended, step_started, step_ended;
static uint64_t empty, insns, step_empty, step_insns[BOARD_STEPS + 1];
static uint32_t wraps_before, regions, steps;
static uintptr_t deepest, from;
static uint8_t interrupted, silent; /* silent: a second pass, for the stack alone */

void board_begin(uintptr_t sp)
{
    const uintptr_t end = board_stack_pointer();
    for (volatile uint32_t *p = board_stack; (uintptr_t)p < end; p++)
        *p = PAINT;
    from = sp;
    wraps_before = wraps;
    read_clock(&started);
}

void board_end(void)
{
    read_clock(&ended);
    const volatile uint32_t *p = board_stack;
    while ((uintptr_t)p < from && *p == PAINT)
        p++;
    if (wraps != wraps_before)
        interrupted = 1; /* the interrupt's frame is on this stack */
    else if (from - (uintptr_t)p > deepest)
        deepest = from - (uintptr_t)p;
    const uint64_t taken = insns_at(&ended) - insns_at(&started);
    if (regions++ == 0 && !silent)
        insns = taken > empty ? taken - empty : 0;
}

void board_step_begin(uint32_t step)
{
    (void)step;
    read_clock(&step_started);
}

void board_step_end(uint32_t step)
{
    read_clock(&step_ended);
    const uint64_t taken = insns_at(&step_ended) - insns_at(&step_started);
    const uint32_t at = step < BOARD_STEPS ? step : BOARD_STEPS;
    if (regions == 0 && !silent)
        step_insns[at] += taken > step_empty ? taken - step_empty : 0;
    steps = at >= steps ? at + 1 : steps;
}

/* Measures the overhead of measuring. */
static void calibrate(void)
{
    board_begin(board_stack_pointer());
    board_end();
    empty = insns;
    regions = 0;
    deepest = 0;
    board_step_begin(0);
    board_step_end(0);
    step_empty = step_insns[0];
    step_insns[0] = 0;
    steps = 0;
}

static void report(void)
{
    board_say("board insns");
    say_number(insns);
    board_say("\nboard stack");
    say_number(deepest);
    board_say("\n");
    for (uint32_t i = 0; i < steps; i++) {
        board_say("board step");
        say_number(i);
        say_number(step_insns[i]);
        board_say("\n");
    }
}

/* ------------------------------------------------------------------ start */

__attribute__((noreturn)) static void start(void)
{
    const uint32_t *load = board_data_from;
    for (volatile uint32_t *p = board_data; p < board_data_end; p++)
        *p = *load++;
    for (volatile uint32_t *p = board_bss; p < board_bss_end; p++)
        *p = 0;
    start_clock();
    calibrate();
    int status = main();
    if (interrupted && !status) { /* again without interrupts, for the stack */
#if defined(__arm__)
        __asm__ volatile("cpsid i" ::: "memory");
#endif
        silent = 1;
        status = main();
    }
    report();
    leave((uint32_t)status);
    for (;;) {
    }
}

__attribute__((aligned(4))) void board_fault(void)
{
    board_say("board fault\n");
    leave(FAULT_STATUS);
}

#if defined(__arm__)
void board_reset(void)
{
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
    *(volatile uint32_t *)(uintptr_t)0xe000ed88u |= 0xf00000u; /* CPACR: coprocessors 10 and 11, the FPU and MVE */
    __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
#if defined(__ARM_FEATURE_MVE)
    *(volatile uint32_t *)(uintptr_t)0xe000ed14u |= 0x80000u; /* CCR.LOB: loops without branches */
    __asm__ volatile("dsb\n\tisb\n\tmov r0, #0x40000\n\tvmsr fpscr, r0" ::: "r0", "memory"); /* LTPSIZE: no tail */
#endif
    start();
}

__attribute__((section(".boot"), used)) static const struct {
    uint32_t *stack;
    void (*handler[15])(void);
} VECTORS = {board_stack_end,
             {board_reset, board_fault, board_fault, board_fault, board_fault, board_fault, board_fault, NULL, NULL,
              NULL, board_fault, board_fault, NULL, board_fault, board_tick}};
#else
__attribute__((naked, section(".boot"), used)) void board_reset(void)
{
    __asm__ volatile(".option arch, +zicsr\n\tla sp, board_stack_end\n\tla t0, board_fault\n\tcsrw mtvec, t0\n\t"
                     "li t0, 0x6600\n\tcsrs mstatus, t0\n\tj %0" ::"i"(start));
}
#endif
