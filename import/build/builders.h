/* builders.h - functions that rows of operators name instead of adapters (builders.def, ac_operator.build). */
#ifndef AC_IMPORT_BUILD_BUILDERS_H
#define AC_IMPORT_BUILD_BUILDERS_H
#include "import/build/row.h"

#define BUILDER(name, formula) ac_builder ac_built_##name;
#include "import/build/builders.def"
#undef BUILDER

#endif
