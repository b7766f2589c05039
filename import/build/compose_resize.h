/* compose_resize.h - resizing along one dimension as a product with a constant matrix (build.h). */
#ifndef AC_IMPORT_BUILD_COMPOSE_RESIZE_H
#define AC_IMPORT_BUILD_COMPOSE_RESIZE_H
#include "import/build/build.h"

/* matrix [out, x->dim[d]]: what each input adds to each result; kept by the graph. x is f32. */
ac_tensor *ac_build_resample(const ac_build *b, ac_tensor *x, int32_t d, int64_t out, const float *matrix);

#endif
