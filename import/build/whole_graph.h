/* whole_graph.h - what importers that settle nodes one by one (build.h) do with a graph as a whole. */
#ifndef AC_IMPORT_BUILD_WHOLE_GRAPH_H
#define AC_IMPORT_BUILD_WHOLE_GRAPH_H
#include "base/file.h"
#include "import/build/build.h"
#include "import/import.h"
#include "import/build/refuse.h"

/* A dimension of an input is not a number yet, or even the number of dimensions is unknown. */
bool ac_graph_is_open(const ac_graph *g);
/* What a reader was called with, for ac_graph.expand, which reads the file again. */
typedef struct ac_reading {
    ac_file file, second;
    ac_import_options opt; /* opt.second: NULL or &second */
} ac_reading;
ac_reading *ac_reading_keep(ac_ctx *cx, const ac_file *f, const ac_import_options *opt);
/* A graph with the same inputs and nothing else, whose nodes `expand` makes once they are pinned: it is called with the
 * graph and the ac_reading of f and opt. */
ac_graph *ac_graph_later(const ac_graph *g, int (*expand)(ac_graph *g, void *reading), const ac_file *f,
                         const ac_import_options *opt);
/* The end of a reading: reports everything that was refused. AC_OK: neither `rc` nor the list is against it; AC_FAIL never
 * comes without a diagnostic. */
int ac_graph_conclude(ac_ctx *cx, ac_refusals *refused, const char *file, int rc);
/* t becomes the next output of the graph: t itself, or a copy under `name` when t is an input, a constant or an output already,
 * since two outputs never share their bytes. Returns the output. */
ac_tensor *ac_graph_add_output(ac_graph *g, ac_tensor *t, const char *name /* interned */);
/* Every tensor gets a name of its own; inputs and outputs keep theirs. */
void ac_graph_settle_names(ac_graph *g);

#endif
