/* boards.h - boards by name: --board sets a target and memories. boards.def lists them.
 *
 *     const ac_board_row *b = ac_boards_find("nucleo-h743zi");          NULL: unknown
 *
 * Cost: a walk over the table. Memory: constant. */
#ifndef AC_DRIVER_REQUEST_BOARDS_H
#define AC_DRIVER_REQUEST_BOARDS_H
#include "base/ctx.h"

typedef struct ac_board_row {
    const char *name, *chip, *target;
    const char *memories; /* values of --mem, with a space between two */
    int32_t wait_states;  /* of its flash; -1: none */
    const char *source;
} ac_board_row;

const ac_board_row *ac_boards_at(int32_t i); /* NULL after the last */
const ac_board_row *ac_boards_find(const char *name);
const char *ac_boards_closest(ac_ctx *cx, const char *name); /* NULL: none is similar */
/* A word of the board's chip and the name's begin alike: "stm32f4" finds a board with an STM32F407; NULL: none. */
const ac_board_row *ac_boards_of_chip(const char *name);

#endif
