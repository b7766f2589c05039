/* custom.h - functions of the user that a module calls (operators of --custom), on this machine.
 *
 *     AC_TRY(ac_customs_open(m, &c));         opens their libraries; before code that calls them is loaded
 *     ac_custom_run(&c, fn, arg);
 *     ac_customs_close(&c);                   also of a zeroed one
 *
 * Memory: the context's region. Errors: E0305 for a function or a library that is missing. */
#ifndef AC_HOST_CUSTOM_H
#define AC_HOST_CUSTOM_H
#include "codegen/module.h"
#include "runtime/arn_custom.h"

typedef void ac_custom_fn(const void *const *in, void *const *out, void *scratch, const arn_custom *node);

/* A function of the module that calls one of the user. */
typedef struct ac_custom_call {
    void *library;
    ac_custom_fn *run; /* NULL: the function calls none */
    const arn_custom *node;
} ac_custom_call;

typedef struct ac_custom_calls {
    const ac_module *module;
    ac_custom_call *call; /* by function of the module; NULL: not open */
} ac_custom_calls;

int ac_customs_open(const ac_module *m, ac_custom_calls *c);
bool ac_custom_is_call(const ac_custom_calls *c, int32_t fn);
/* Calls it; arg: the addresses of the parameters of function fn. */
void ac_custom_run(const ac_custom_calls *c, int32_t fn, void *const *arg);
void ac_customs_close(ac_custom_calls *c);

#endif
