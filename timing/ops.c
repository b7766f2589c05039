/* ops.c - kinds and names of operations, from ops.def. */
#include "timing/insn.h"

const uint8_t ac_op_kind_of[AC_T_COUNT] = {
#define OP(id, name, kind) AC_K_##kind,
#include "timing/ops.def"
#undef OP
};

const char *const ac_op_name[AC_T_COUNT] = {
#define OP(id, name, kind) name,
#include "timing/ops.def"
#undef OP
};
