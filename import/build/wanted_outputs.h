/* wanted_outputs.h - the outputs of a graph: what the file or --outputs NAME,NAME names.
 *
 *     ac_name_list asked;
 *     AC_TRY(ac_outputs_asked(r, &asked));              n == 0: the file decides
 *     for (int32_t i = 0; i < asked.n; i++) {
 *         blob *b = find(asked.item[i]);
 *         if (!b)
 *             b = find(ac_outputs_named(r, "net has no blob", asked.item[i], names));    by a part of its name
 *         if (b)
 *             ac_outputs_add(r->g, b->t, b->name);
 *     } */
#ifndef AC_IMPORT_BUILD_WANTED_OUTPUTS_H
#define AC_IMPORT_BUILD_WANTED_OUTPUTS_H
#include "import/build/reading.h"

typedef struct ac_name_list {
    const char **item;
    int32_t n, cap;
} ac_name_list;

/* Interned, blanks round a name dropped. E0501: the option is there, but names nothing. */
int ac_outputs_asked(ac_reading *r, ac_name_list *out);
/* The known name that `name` is a part of (base/text/named.h); else E0501 with the nearest names, and NULL. what: "net
 * has no blob" */
const char *ac_outputs_named(ac_reading *r, const char *what, const char *name, ac_name_list known);
/* t becomes the next output of the graph: t itself, or a copy under `name` when t is an input, a constant or an output
 * already, since two outputs never share their bytes. Returns the output. */
ac_tensor *ac_outputs_add(ac_graph *g, ac_tensor *t, const char *name /* interned */);
/* For formats whose outputs are tensors by name: those of --outputs replace the file's. */
int ac_outputs_take(ac_reading *r);

#endif
