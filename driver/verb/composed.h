/* composed.h - finds what an ONNX operator that becomes several canonical operators takes, by trying: models of that
 * one node are read, and their nodes are lowered. So `arenac ops Conv` agrees with the code, as probe.h does for
 * canonical operators. Omitted: operators that need attributes, and those with more than four unlike operands.
 *
 *     ac_composed c;
 *     ac_composed_probe(cx, &row, target, &c);     c.types >> AC_F32 & 1
 *
 * Cost: at most some thousand models of one node. Memory: contexts of its own, freed again. */
#ifndef AC_DRIVER_VERB_COMPOSED_H
#define AC_DRIVER_VERB_COMPOSED_H
#include "import/build/row.h"
#include "ir/lower/target.h"

typedef struct ac_composed {
    uint32_t types;            /* bit d: element type d of the first operand; 0: no trial succeeded */
    uint32_t ranks;            /* bit r: rank r of the first operand */
    bool op[AC_OP_COUNT];      /* the canonical operators that the trials created */
    AC_VEC(const char *) attr; /* that the adapter read, with defaults ("group=1"), by name; in the caller's region */
} ac_composed;

/* row: of the ONNX table, supported. cx: the caller's; it reports out of memory if an allocation fails here. */
void ac_composed_probe(ac_ctx *cx, const ac_operator *row, const ac_target *target, ac_composed *out);

#endif
