/* excited_pays.h - whether a convolution should compute its gates (product.c). */
#ifndef AC_IR_LOWER_GPU_EXCITED_PAYS_H
#define AC_IR_LOWER_GPU_EXCITED_PAYS_H
#include "ir/lower/target.h"

struct ac_excite;
struct ac_expanded;

/* True if a convolution whose blocks compute the gates of squeeze-and-excitation (ac_gpu_excited_rows) takes less time
 * than a launch for the gates, by a model: `outputs` channels of the result, from sums of the tiles of d. */
bool ac_gpu_excited_pays(const ac_target *t, const struct ac_excite *e, int64_t outputs, const struct ac_expanded *d);

#endif
