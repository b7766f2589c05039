/* retry.h - the proof of one call. */
#ifndef AC_PROVE_RETRY_H
#define AC_PROVE_RETRY_H
#include "prove/facts/step_ranges.h"

/* Makes all claims about the call. `earlier`: integers that earlier steps have stored. */
void ac_p_retry(ac_prover *p, const ac_step_ranges *earlier);

#endif
