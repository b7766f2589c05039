/* build_graph.h - what importers that settle nodes one by one (build.h) do with a graph as a whole. */
#ifndef AC_IMPORT_BUILD_GRAPH_H
#define AC_IMPORT_BUILD_GRAPH_H
#include "base/file.h"
#include "import/build.h"

/* A dimension of an input is not a number yet, or even the number of dimensions is unknown. */
bool ac_graph_is_open(const ac_graph *g);
/* A graph with the same inputs and nothing else, whose nodes `expand` makes once they are pinned: it is called with the
 * graph and a copy of `with`. */
ac_graph *ac_graph_later(const ac_graph *g, int (*expand)(ac_graph *g, void *with), const void *with, size_t bytes);
/* t becomes the next output of the graph, under its name: t itself where it can, else a copy. */
void ac_graph_add_output(ac_graph *g, ac_tensor *t, const char *name /* interned */);
/* Every tensor gets a name of its own; inputs and outputs keep theirs. */
void ac_graph_settle_names(ac_graph *g);

#endif
