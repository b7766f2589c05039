/* by_channel.h - claims that hold because of what the constants are. */
#ifndef AC_PROVE_BY_CHANNEL_H
#define AC_PROVE_BY_CHANNEL_H
#include "prove/prover.h"

/* Looks at the sums and products that failed: of those that stay inside their type for every channel, p->fine is set,
 * and p->refined is narrowed to what they can be. Are there any? After a survey: p->refined holds for all of the
 * function. */
bool ac_p_by_channel(ac_prover *p, const bool *failed);

#endif
