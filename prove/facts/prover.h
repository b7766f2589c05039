/* prover.h - the state of a proof about one call, in parts by owner.
 *
 * The code is walked from the first instruction to the last (prove/walk.c). Every value gets an interval and, if it is
 * an integer, a sum of unknowns. A loop whose variables change is walked several times without claims (`dry`), to find
 * what holds at the start of every iteration.
 *
 * A part has one owner, the only file that writes it: the call is constant; the program point belongs to the walk, and
 * everyone else reads it; the remaining parts are opaque, except to the file that is named. */
#ifndef AC_PROVE_FACTS_PROVER_H
#define AC_PROVE_FACTS_PROVER_H
#include "prove/domain/affine.h"
#include "prove/facts/verdict.h"

/* The abstract value of an instruction, the same for each of its lanes. */
typedef struct ac_pvalue {
    ac_interval in; /* integers and bool */
    double least, most;
    bool maybe_nan; /* floats */
    ac_affine form; /* integers */
    bool words;     /* even and odd are known: 32-bit lanes, or the words of 64-bit lanes (word_lanes.c) */
    ac_interval even, odd;
} ac_pvalue;

/* The program point that the walk is at. */
typedef struct ac_point {
    bool dry;          /* a walk that looks for invariants: no claims */
    bool mute;         /* a pass without claims: for the stores, or a survey */
    int32_t uncertain; /* > 0: the code here may not run, or not for all values of the loops around it */
    int64_t times;     /* how often the code here runs in one pass, at most */
    int32_t chunk;     /* of a step that takes several calls (threads, rows): the one that is walked; -1: any */
    ac_x witness;      /* a load that gives witness_value in this walk: extremes.h; 0: none */
    ac_affine witness_value;
} ac_point;

typedef struct ac_prover {
    const struct { /* the call; prove.c sets it once */
        ac_ctx *cx;
        ac_region *keep; /* until the call is proven */
        const ac_module *m;
        int32_t step;
        const ac_call *call;
        const ac_loop_fn *fn;
        const ac_x *end;      /* by FOR, IF and ELSE: its END; by IF with an ELSE: the ELSE */
        const int64_t *count; /* by buffer: elements of the call's argument */
        const bool *made;     /* by argument: ac_p_made_here */
        const bool *without;  /* by strategy: switched off */
        const ac_point *at;
    };
    ac_region *tmp;                 /* of one pass: pass.c opens it, */
    ac_knowledge know;              /* ... the unknowns */
    ac_pvalue *value;               /* ... and values by instruction; VAR: the variable's present value */
    ac_verdict *out;                /* claims.c */
    struct ac_walk *walk;           /* prove/walk.h */
    struct ac_survey *survey;       /* survey.h */
    struct ac_trust *trust;         /* arithmetic.c */
    struct ac_contents *contents;   /* contents.c */
    struct ac_set_lists *sets;      /* structure.c */
    struct ac_counters *counters;   /* strategy/counters.c */
    struct ac_arrays *arrays;       /* strategy/arrays.c */
    struct ac_extremes *extremes;   /* strategy/extremes.c */
    struct ac_groups *groups;       /* strategy/groups.c */
    struct ac_schedules *schedules; /* strategy/schedule.c */
    struct ac_cases *cases;         /* strategy/cases.c */
    struct ac_cover *cover;         /* strategy/pieces.h */
    struct ac_elements *elements;   /* strategy/element_walk.c */
    struct ac_overlap *overlap;     /* strategy/overlap.c */
} ac_prover;

static inline const ac_ins *ac_p_ins(const ac_prover *p, ac_x x)
{
    return &p->fn->code.item[x];
}

/* The END of a FOR, or of an IF with or without ELSE. */
static inline ac_x ac_p_end(const ac_prover *p, ac_x block)
{
    const ac_x middle = p->end[block];
    return ac_p_ins(p, middle)->op == AC_L_ELSE ? p->end[middle] : middle;
}

#endif
