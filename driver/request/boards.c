/* boards.c - the table of boards; see boards.h. */
#include "driver/request/boards.h"

#include "base/ascii.h"

#include <string.h>

static const ac_board_row ROWS[] = {
#define BOARD(name, chip, target, memories, wait_states, source) {name, chip, target, memories, wait_states, source},
#include "driver/request/boards.def"
#undef BOARD
};

enum { COUNT = sizeof ROWS / sizeof *ROWS };

const ac_board_row *ac_boards_at(int32_t i)
{
    return i >= 0 && i < COUNT ? &ROWS[i] : NULL;
}

const ac_board_row *ac_boards_find(const char *name)
{
    for (int32_t i = 0; i < COUNT; i++)
        if (!strcmp(ROWS[i].name, name))
            return &ROWS[i];
    return NULL;
}

const char *ac_boards_closest(ac_ctx *cx, const char *name)
{
    const char **names = AC_NEW_N(cx->region, const char *, COUNT);
    for (int32_t i = 0; i < COUNT; i++)
        names[i] = ROWS[i].name;
    return ac_closest(name, names, COUNT);
}

/* The letters and digits of both that are equal from the beginning, capital or not; '-' does not count. */
static size_t common(const char *chip, const char *name)
{
    for (size_t n = 0;; n++) {
        chip += *chip == '-';
        name += *name == '-';
        if (!ac_is_alnum(*chip) || ac_lower(*chip++) != ac_lower(*name++))
            return n;
    }
}

const ac_board_row *ac_boards_of_chip(const char *name)
{
    enum { LEAST = 6 }; /* "stm32f", "nrf528", "esp32" with its letter */
    const ac_board_row *best = NULL;
    size_t most = LEAST - 1;
    for (int32_t i = 0; i < COUNT; i++) {
        const size_t n = common(ROWS[i].chip, name);
        if (n > most) {
            most = n;
            best = &ROWS[i];
        }
    }
    return best;
}
