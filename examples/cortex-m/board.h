/* board.h - what startup.c gives a program: text to the debugger (semihosting; on a board of your own, a UART). */
#ifndef BOARD_H
#define BOARD_H
void board_say(const char *text);
#endif
