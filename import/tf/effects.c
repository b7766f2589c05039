/* effects.c - which nodes change variables, themselves or in functions that they run. Nobody reads the results of such
 * nodes, so that following results does not find them. */
#include "import/tf/nodedefs.h"
#include "import/tf/variables.h"

#include <string.h>

typedef struct func {
    ac_span name;
} func;

typedef struct list {
    ac_pb_list funcs;
} list;

static const ac_pb_field FUNC[] = {{1, AC_PB_BYTES, offsetof(func, name)}, {0, AC_PB_INT, 0}};
static const ac_pb_field LIST[] = {{9, AC_PB_MANY, offsetof(list, funcs)}, {0, AC_PB_INT, 0}};

static bool function_changes(ac_tf *r, ac_tf_body *body)
{
    if (!body || body->broken)
        return false;
    if (body->changes == AC_TF_UNKNOWN) {
        body->changes = AC_TF_NO; /* while it is looked at: a cycle adds nothing */
        for (int32_t i = 0; i < body->node.n && body->changes == AC_TF_NO; i++)
            if (ac_tf_changes(r, &body->node.item[i]))
                body->changes = AC_TF_YES;
    }
    return body->changes == AC_TF_YES;
}

static bool named_changes(ac_tf *r, ac_span message)
{
    func f = {{0}};
    const char *name = ac_pb_read(&r->pb, message, FUNC, &f) ? ac_pb_name(&r->pb, f.name) : NULL;
    return name && function_changes(r, ac_tf_function(r, name));
}

bool ac_tf_changes(ac_tf *r, ac_tf_node *n)
{
    if (!r->variable.n || n->argument || !ac_pb_spend(&r->pb, 1))
        return false;
    if (!strncmp(n->op, "Assign", 6) || !strncmp(n->op, "ResourceScatter", 15))
        return true;
    if (!n->row)
        return function_changes(r, ac_tf_function(r, n->op));
    if (!(n->row->flags & TF_RUNS) || ac_tf_attrs(r, n) != AC_OK)
        return false;
    for (int32_t i = 0; i < n->n_attr; i++) {
        list l = {.funcs = {.n = 0}};
        ac_span one;
        if (n->attr[i].func.p && named_changes(r, n->attr[i].func))
            return true;
        if (n->attr[i].list.p && !ac_pb_read(&r->pb, n->attr[i].list, LIST, &l))
            return false;
        while (ac_pb_next(&r->pb, &l.funcs, &one))
            if (named_changes(r, one))
                return true;
    }
    return false;
}
