/* check_code.h - replays a certificate of code and prints its verdict. `written`: a file that must be one of those that
 * the certificate names; NULL: none is compared. Returns the exit status: 0 valid, 1 refused, 2 cannot be read, 3
 * incomplete, as some steps are not shown. */
#ifndef CHECK_CODE_H
#define CHECK_CODE_H

int check_code(const char *path, const char *written);

#endif
