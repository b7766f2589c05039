/* board.c - the same without an operating system, on the MPS2 board with a Cortex-M7: weights in flash, what a step
 * needs in fast memory, the caches in the PSRAM. fw.h is what prints. */
#include "fw.h"
#include "generate.h"

static _Alignas(LM_SRAM_ALIGN) uint8_t sram[LM_SRAM_BYTES];

static void put(int token)
{
    const char text[2] = {(char)(' ' + token), 0};
    fw_puts(text);
}

int main(void)
{
    const lm_mem m = {.sram = sram, .state = (void *)LM_STATE_ADDR};
    fw_begin();
    const int status = generate(&m, 'O' - ' ', 48, put);
    fw_puts("\n");
    fw_end("tokens");
    return status;
}
