/* strategies.c - the table of strategies as text, and the set that `prove --without` switches off. */
#include "prove/strategies.h"

#include "prove/strategy/strategies.h"

#include <string.h>

static const char *const NAME[AC_STRATEGIES] = {
#define STRATEGY(id, name, point, applies, function, file, needed_by, proves) [AC_STRATEGY_##id] = (name),
#include "prove/strategies.def"
#undef STRATEGY
};

const char *ac_proof_strategy_name(int32_t i)
{
    return i < AC_STRATEGIES ? NAME[i] : NULL;
}

int ac_proof_without(ac_ctx *cx, const char *const *name, int32_t n, const bool **without)
{
    bool *off = AC_NEW_N(cx->region, bool, AC_STRATEGIES);
    *without = off;
    for (int32_t k = 0; k < n; k++) {
        int32_t i = 0;
        while (i < AC_STRATEGIES && strcmp(NAME[i], name[k]) != 0)
            i++;
        if (i < AC_STRATEGIES) {
            off[i] = true;
            continue;
        }
        const char *all = NAME[0];
        for (i = 1; i < AC_STRATEGIES; i++)
            all = ac_strf(cx->region, "%s, %s", all, NAME[i]);
        ac_error(cx, (ac_place){.file = "arenac"}, E0501, "--without: unknown proof strategy '%s'", name[k]);
        ac_help(cx, "the strategies are %s", all);
        return AC_FAIL;
    }
    return AC_OK;
}
