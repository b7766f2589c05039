/* whole_graph.h - what importers that settle nodes one by one (build.h) do with a graph as a whole. */
#ifndef AC_IMPORT_BUILD_WHOLE_GRAPH_H
#define AC_IMPORT_BUILD_WHOLE_GRAPH_H
#include "import/build/build.h"

/* A dimension of an input is not a number yet, or even the number of dimensions is unknown. */
bool ac_graph_is_open(const ac_graph *g);
/* t becomes the next output of the graph: t itself, or a copy under `name` when t is an input, a constant or an
 * output already, since two outputs never share their bytes. Returns the output. */
ac_tensor *ac_graph_add_output(ac_graph *g, ac_tensor *t, const char *name /* interned */);
/* --outputs NAME,NAME: these tensors become the outputs of g; NULL changes nothing. E0501. */
int ac_graph_take_outputs(ac_graph *g, const char *names);
/* Every tensor gets a name of its own; inputs and outputs keep theirs. */
void ac_graph_settle_names(ac_graph *g);

#endif
