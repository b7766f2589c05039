/* check_code.h - the door of the replay of code: reads a certificate, prints its verdict, gives the exit status (0
 * valid, 1 refused, 2 cannot be read, 3 incomplete: steps that it does not show). */
#ifndef CHECK_CODE_H
#define CHECK_CODE_H

int check_code(const char *path);

#endif
