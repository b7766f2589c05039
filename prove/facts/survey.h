/* survey.h - notes by instruction that passes leave for later passes: ranges of values, and claims that hold in all
 * cases. Written by prove/retry.c and strategies that retry; p->survey is NULL until a claim about a value fails. */
#ifndef AC_PROVE_FACTS_SURVEY_H
#define AC_PROVE_FACTS_SURVEY_H
#include "prove/facts/prover.h"

typedef struct ac_survey {
    ac_interval *refined; /* all values that the instruction ever has */
    bool *fine;           /* its claims hold, by cases */
    /* of the pass at work; NULL: no notes are taken */
    bool *failed; /* a claim failed */
    bool *was_seen;
    ac_interval *seen; /* values */
    ac_x split;        /* this instruction's value is within `part`; 0: none */
    ac_interval part;
} ac_survey;

/* The value of x, narrowed by earlier passes; noted for later ones. */
void ac_p_survey_value(ac_prover *p, ac_x x);

#endif
