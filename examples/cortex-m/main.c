/* main.c - a program on a Cortex-M4 without an operating system: recognises a digit of 8x8 pixels.
 *
 * The picture is drawn below, '.' for 0 and '9' for the brightest; the model takes i8, 0 as DIGITS_IN0_ZERO. */
#include "board.h"
#include "digits.h"

static const char picture[] = "00899000"
                              "07907900"
                              "00000980"
                              "00069900"
                              "00000890"
                              "00000790"
                              "08706900"
                              "01899200";

static _Alignas(DIGITS_ARENA_ALIGN) uint8_t arena[DIGITS_ARENA_BYTES];

int main(void)
{
    const digits_mem mem = {.arena = arena};
    char text[] = "this is a .\n";
    int best = 0;
    if (digits_init(&mem))
        return 1;
    int8_t *in = digits_in0(&mem);
    for (unsigned i = 0; i < DIGITS_IN0_COUNT; i++)
        in[i] = (int8_t)((picture[i] - '0') * 255 / 9 + DIGITS_IN0_ZERO);
    if (digits_run(&mem))
        return 2;
    const int8_t *out = digits_out0(&mem);
    for (int k = 1; k < (int)DIGITS_OUT0_COUNT; k++)
        if (out[k] > out[best])
            best = k;
    text[10] = (char)('0' + best);
    board_say(text);
    return 0;
}
