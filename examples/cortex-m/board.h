/* board.h - output for programs, by startup.c: text to the debugger (semihosting; on your own board, a UART). */
#ifndef BOARD_H
#define BOARD_H
void board_say(const char *text);
#endif
