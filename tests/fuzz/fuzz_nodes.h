/* fuzz_nodes.h - the second half of reading: what fuzz targets do with a model that has been read. */
#ifndef TESTS_FUZZ_FUZZ_NODES_H
#define TESTS_FUZZ_FUZZ_NODES_H
#include "import/import.h"

/* Unknown dimensions are taken as 2, unknown ranks as 0; then all nodes are made, and what has been let through is
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
