/* pending.c - a list of outputs that are not yet written; see pending.h. */
#include "driver/request/pending.h"

void ac_pending_put(ac_pending *p, ac_sink *filled, const char *path)
{
    ac_push(p->cx->region, &p->list, ((ac_output){filled, ac_strdup(p->cx->region, path)}));
}

ac_sink *ac_pending_add(ac_pending *p, const char *path)
{
    ac_sink *to = AC_NEW(p->cx->region, ac_sink);
    ac_sink_open(to, p->cx);
    ac_pending_put(p, to, path);
    return to;
}
