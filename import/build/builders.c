/* builders.c - defines the functions of builders.def. */
#include "import/build/builders.h"
#include "import/build/counted.h"

#define MAKER b
#include "ir/make/formula.h"

#define BUILDER(name, formula)                                                                  \
    ac_tensor *ac_built_##name(const ac_maker *b, ac_op op, ac_tensor *const *in, int32_t n_in) \
    {                                                                                           \
        ac_tensor *x = in[0], *y = n_in > 1 ? in[1] : NULL, *z = n_in > 2 ? in[2] : NULL;       \
        (void)b, (void)op, (void)x, (void)y, (void)z;                                           \
        return formula;                                                                         \
    }
#include "import/build/builders.def"
