/* layers.h - the table of Caffe layers in C, and its adapters. Only adapters include it.
 *
 * An adapter creates the canonical nodes of one layer and sets its results with ac_caf_result. Before it is called, the
 * number of bottoms and tops has been checked and every bottom exists, is f32, and has known dimensions. It must read
 * every field of the messages that it uses. */
#ifndef AC_IMPORT_CAFFE_LAYERS_H
#define AC_IMPORT_CAFFE_LAYERS_H
#include "import/caffe/caffe.h"

typedef int ac_caf_fn(ac_caf_layer *l);

#define CAF(type, imin, imax, omin, omax, fn, op) ac_caf_fn ac_caf_do_##fn;
#define CAFB(...)
#define WHY(type, why)
#include "import/caffe/layers.def"
#undef CAF
#undef CAFB
#undef WHY

#endif
