/* custom.c - modules that call functions of the user. */
#include "codegen/module.h"
#include "ir/loop/extern.h"

const ac_loop_fn *ac_module_custom(const ac_module *m)
{
    for (int32_t i = 0; i < m->n_fn; i++)
        if (m->fn[i]->call)
            return m->fn[i];
    return NULL;
}

int ac_module_without_custom(const ac_module *m, const char *what)
{
    const ac_loop_fn *fn = ac_module_custom(m);
    if (!fn)
        return AC_OK;
    ac_error(m->cx, (ac_place){.file = fn->call->defined}, E0502, "%s does not support custom operators", what);
    return ac_detail(m->cx, "'%s' calls %s, a function of yours", fn->call->name, fn->call->function);
}
