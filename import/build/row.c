/* row.c - looks up an operator in the table of its format. */
#include "import/build/row.h"

#include <string.h>

static bool named(const ac_operator *row, const char *domain, const char *name)
{
    return row->name && *row->name == *name && !strcmp(row->name, name) &&
           !strcmp(row->domain ? row->domain : "", domain);
}

const ac_operator *ac_operator_find(const ac_operators *t, const char *domain, const char *name, int64_t version)
{
    for (const ac_operator *row = t->row; row < t->row + t->n; row++)
        if ((row->run || row->build) && named(row, domain, name) &&
            (!row->until || (version >= row->since && version <= row->until)))
            return row;
    return NULL;
}

const ac_operator *ac_operator_why(const ac_operators *t, const char *domain, const char *name)
{
    for (const ac_operator *row = t->row; row < t->row + t->n; row++)
        if (row->reason && named(row, domain, name))
            return row;
    return NULL;
}

ac_operator *ac_operator_custom(ac_ctx *cx, const ac_custom *c, const char *name, ac_adapter *run)
{
    ac_operator *row = AC_NEW(cx->region, ac_operator);
    *row = (ac_operator){.name = name,
                         .min_in = ac_custom_least(c),
                         .max_in = ac_custom_most(c),
                         .max_out = c->out.n,
                         .run = run,
                         .op = AC_OP_CUSTOM,
                         .options = c};
    return row;
}
