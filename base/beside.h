/* beside.h - opens files that a model names: external weights, tables. A model is untrusted, so the file has to be a
 * regular file in the model's own folder, after following links: devices and pipes are never opened.
 *
 *     ac_file f = {0};                                        as for ac_file_open
 *     const ac_beside found = ac_file_beside(cx, "m/net.onnx", "net.data", &f);          m/net.data
 *     if (found != AC_BESIDE_OK)
 *         return ac_error(cx, at, E0301, "'%s' %s", name, ac_beside_why(found));
 *     ac_file_close(&f);                                      or ac_file_keep(cx, &f)
 *
 * A model from standard input has the current folder. */
#ifndef AC_BASE_BESIDE_H
#define AC_BASE_BESIDE_H
#include "base/file.h"

typedef enum ac_beside {
    AC_BESIDE_OK,
    AC_BESIDE_OUTSIDE, /* absolute, with a step up, or through a link */
    AC_BESIDE_MISSING,
    AC_BESIDE_SPECIAL, /* no regular file */
    AC_BESIDE_REFUSED, /* by the system */
} ac_beside;

ac_beside ac_file_beside(ac_ctx *cx, const char *model, const char *name, ac_file *f);
const char *ac_beside_why(ac_beside found); /* "is not there" */

#endif
