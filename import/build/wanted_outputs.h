/* wanted_outputs.h - selects the outputs of a graph: those of the file, or those of --outputs NAME,NAME.
 *
 *     ac_name_list asked;
 *     AC_TRY(ac_outputs_asked(r, &asked));              n == 0: no --outputs, use those of the file
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

/* The names of --outputs, interned, without surrounding spaces. E0501: the option is given, but contains no name. */
int ac_outputs_asked(ac_reading *r, ac_name_list *out);
/* The known name that `name` selects (base/text/named.h); otherwise E0501 with the nearest names, and NULL. The message
 * contains `what`, "net has no blob". */
const char *ac_outputs_named(ac_reading *r, const char *what, const char *name, ac_name_list known);
/* Appends t to the outputs of the graph: t itself, or a copy called `name` if t is an input, a constant or already an
 * output, since two outputs never share their bytes. Returns the output. */
ac_tensor *ac_outputs_add(ac_graph *g, ac_tensor *t, const char *name /* interned */);
/* For formats whose outputs are named tensors: the tensors of --outputs replace the outputs of the file. */
int ac_outputs_take(ac_reading *r);

#endif
