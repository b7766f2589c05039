/* builders.h - declares the functions of builders.def, which rows of operators use instead of adapters
 * (ac_operator.build). */
#ifndef AC_IMPORT_BUILD_BUILDERS_H
#define AC_IMPORT_BUILD_BUILDERS_H
#include "import/build/row.h"

#define BUILDER(name, formula) ac_builder ac_built_##name;
#include "import/build/builders.def"
#undef BUILDER

#endif
