/* fuzz_nodes.h - the second half of reading, for fuzz targets: creates the nodes of a model and verifies the graph. */
#ifndef TESTS_FUZZ_FUZZ_NODES_H
#define TESTS_FUZZ_FUZZ_NODES_H
#include "import/import.h"

/* Unknown dimensions are taken as 2, unknown ranks as 0; then all nodes are created, and the resulting graph is
 * verified. */
static int fuzz_nodes(ac_ctx *cx, ac_imported *m)
{
    for (int32_t i = 0; i < m->graph->tensor.n; i++) {
        ac_tensor *t = m->graph->tensor.item[i];
        t->any_rank = false;
        for (int32_t d = 0; d < t->rank; d++)
            if ((t->input || t->state) && t->dim[d] < 0)
                t->dim[d] = 2;
    }
    AC_TRY(ac_import_nodes(cx, m, NULL, 0));
    return ac_graph_verify(m->graph);
}

#endif
