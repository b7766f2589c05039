#include "planner/live.h"

int32_t ac_order_keep(const ac_graph *g, ac_node **order)
{
    int32_t n = 0;
    for (int32_t i = 0; i < g->node.n; i++)
        if (!g->node.item[i]->view)
            order[n++] = g->node.item[i];
    return n;
}
