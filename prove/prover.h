/* prover.h - the state of a proof about one call, for the files of this folder.
 *
 * The code is followed once from the first instruction to the last (follow.c); every value gets an interval and, if it
 * is an integer, a sum of unknowns (values.c). A loop whose variables change is followed beforehand, without claims
 * (`dry`), to find what holds at the start of every iteration. */
#ifndef AC_PROVE_PROVER_H
#define AC_PROVE_PROVER_H
#include "prove/domain/affine.h"
#include "prove/prove.h"

/* What is known of a value, of each of its lanes. */
typedef struct ac_pvalue {
    ac_interval in; /* integers and bool */
    double least, most;
    bool maybe_nan; /* floats */
    ac_affine form; /* integers */
    bool words;     /* word_lanes.c: of 32-bit lanes, or of the words of 64-bit lanes, ... */
    ac_interval even, odd;
} ac_pvalue;

/* A loop that is being followed: for break_if. */
typedef struct ac_pframe {
    const ac_x *var; /* variables of outside that it sets */
    int32_t n_var;
    ac_pvalue *broken; /* by var: at break_if */
    bool breaks;
    struct ac_pframe *up;
} ac_pframe;

/* Variables from before a loop or a branch that it sets. */
typedef struct ac_pset {
    ac_x *var, to; /* up to there */
    int32_t n;
} ac_pset;

/* Floats of a constant. */
typedef struct ac_ptable {
    double least, most;
    bool known, maybe_nan;
} ac_ptable;

/* between.c: what was stored to a tensor without a root, or to views of it. */
typedef struct ac_left {
    const ac_tensor *root;
    ac_dtype dtype;
    ac_interval in;
    bool any, anything; /* something was stored; it may hold all that its type has */
} ac_left;

typedef struct ac_between {
    ac_region *region;
    AC_VEC(ac_left) left;
} ac_between;

/* tables.c - integers that a call stores to a buffer: all of them; those that are put there, and, where what was loaded
 * of the buffer and something more is stored, all that is added together. */
typedef struct ac_pstored {
    ac_interval all, put, added;
    bool any, any_put, any_added;
} ac_pstored;

typedef struct ac_prover {
    ac_ctx *cx;
    ac_region *keep, *tmp; /* of this call; of a pass over its code */
    const ac_module *m;
    int32_t step;
    const ac_call *call;
    const ac_loop_fn *fn;
    ac_verdict *out;
    ac_knowledge know;
    ac_pvalue *value; /* by instruction; VAR: the variable's present value */
    ac_x *end;        /* by FOR, IF and ELSE: its END; IF: its ELSE, if there is one */
    ac_pset *set;     /* by FOR and IF */
    bool *schedule;   /* by FOR: schedule.c; NULL: not asked yet */
    ac_pframe *frame;
    bool dry;  /* a pass that looks for invariants */
    bool mute; /* a pass that looks for what is stored */
    /* By instruction: arithmetic that may wrap does so for all that is known; it was taken not to while invariants were
     * looked for. `deceived`: both of one instruction. */
    bool *wraps, *trusted;
    bool deceived;
    int32_t chunk; /* of a step that is done in several calls: the one that is followed; -1: any */
    /* By IF: each side is followed with the rest of the block, where that shows what is written; how many are open. */
    bool *apart;
    int32_t sides;
    int32_t uncertain;    /* above 0: the code here may not be run, or not with all values of the loops around it */
    int64_t *count;       /* by buffer: elements that the call's argument has */
    ac_interval *content; /* by buffer: integers that this call has put there; scratch and locals */
    ac_pstored *stored;   /* ... while following */
    int64_t times;        /* that the code here is run at most, in one pass over it */
    ac_ptable *table;     /* by buffer */
    /* split.c; by instruction: values that there are at all, ones that were chosen, claims that hold in all parts, and,
     * of the pass at work, claims that failed and values that were met */
    ac_interval *refined, *seen;
    bool *was_split, *fine, *failed, *was_seen;
    ac_x *halved; /* by instruction: the last claim for which its parts were halved; 0: none */
    ac_x split;   /* its values are of `part` only */
    ac_interval part;
    struct ac_extremes *extremes; /* extremes.c */
    struct ac_groups *groups;     /* groups.c; NULL: not asked yet */
    ac_x witness;                 /* a load that gives witness_value */
    ac_affine witness_value;
    struct ac_cover *cover, *results; /* written.c */
    int64_t marks;                    /* written_each.c */
    int64_t walk_steps;               /* instructions that may still be followed for places of walks (walks.c) */
    uint8_t *walked;                  /* walked.c; by buffer; NULL: not asked yet */
    ac_between *between;
    bool *made;        /* by buffer: bytes.h */
    ac_interval *left; /* by buffer: integers that all calls of the step have stored */
    bool *left_any;
    struct ac_touches *touches;     /* order.c */
    struct ac_arrays *arrays;       /* arrays.c; NULL: nothing was stored yet */
    ac_x *array_loop;               /* ... by buffer: the loop that writes it; 0: not asked yet */
    struct ac_row_numbers *numbers; /* numbers.c; by buffer; NULL: nothing is kept between calls of the step */
    ac_x at_turn;                   /* the loop that is followed as a schedule, schedule.c; ... */
    bool leaving;                   /* ... and is being left, */
    int32_t certain;                /* `uncertain` where it began */
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

/* The innermost FOR that x is in, or is; 0: none. */
static inline ac_x ac_p_loop_around(const ac_prover *p, ac_x x)
{
    ac_x loop = x;
    while (loop > 0 && (ac_p_ins(p, loop)->op != AC_L_FOR || p->end[loop] < x))
        loop--;
    return loop;
}

/* The innermost FOR, IF or ELSE that x is in; 0: none. */
static inline ac_x ac_p_block_around(const ac_prover *p, ac_x x)
{
    for (ac_x b = x - 1; b > 0; b--) {
        const ac_lop op = (ac_lop)ac_p_ins(p, b)->op;
        if ((op == AC_L_FOR || op == AC_L_IF || op == AC_L_ELSE) && p->end[b] > x)
            return b;
    }
    return 0;
}

/* A loop over the threads of a block of a GPU. */
static inline bool ac_p_is_phase(const ac_prover *p, ac_x x)
{
    return ac_p_ins(p, x)->op == AC_L_FOR && ac_p_ins(p, x)->aux == AC_MARK_BLOCK;
}

/* The one that x is in; 0: none. */
static inline ac_x ac_p_phase_around(const ac_prover *p, ac_x x)
{
    do
        x = ac_p_block_around(p, x);
    while (x > 0 && !ac_p_is_phase(p, x));
    return x;
}

/* A sum or product that is printed as C has it: a claim says that it fits its type. */
static inline bool ac_p_promises(const ac_ins *i)
{
    return (i->op == AC_L_ADD || i->op == AC_L_SUB || i->op == AC_L_MUL || i->op == AC_L_NEG) &&
           ac_dtype_is_signed((ac_dtype)i->dtype) && !(i->flags & AC_F_WRAP);
}

/* numbers.c: counters that a step keeps from one of its calls to the next. */
void ac_p_numbers_begin(ac_prover *p); /* before the first call: none is known */
bool ac_p_has_numbers(const ac_prover *p, int32_t buf);
void ac_p_number_stored(ac_prover *p, ac_x x);
bool ac_p_number_loaded(const ac_prover *p, const ac_ins *i, int64_t *v);
/* A loop that is no schedule may store any of them: what instructions from .. to - 1 store is known no more. */
void ac_p_numbers_forget(ac_prover *p, ac_x from, ac_x to);

/* arrays.c: elements of local arrays that one loop writes. */
void ac_p_array_stored(ac_prover *p, ac_x x);
bool ac_p_array_loaded(ac_prover *p, ac_x x, ac_pvalue *v); /* false: nobody knows */

/* follow.c */
void ac_p_follow(ac_prover *p, ac_x from, ac_x to);
/* Adds facts of the condition x, which is true or false here. Do they say all that it says? */
bool ac_p_assume(ac_prover *p, ac_x x, bool truth);
/* `in`, narrowed by the facts that are about the sum and nothing else. */
ac_interval ac_p_by_facts(const ac_prover *p, const ac_affine *form, ac_interval in);
ac_pvalue ac_p_join(ac_prover *p, const ac_pvalue *a, const ac_pvalue *b, ac_dtype d);

/* Variables declared before x that the instructions from x up to `to` set; their values now. */
const ac_x *ac_p_set_between(ac_prover *p, ac_x x, ac_x to, int32_t *n);
ac_pvalue *ac_p_values_of(ac_prover *p, const ac_x *var, int32_t n);
void ac_p_set_values(ac_prover *p, const ac_x *var, int32_t n, const ac_pvalue *v);

/* May an instruction from .. to - 1 store to the buffer? */
bool ac_p_stores_between(const ac_prover *p, ac_x from, ac_x to, int32_t buf);

/* loops.c */
void ac_p_loop(ac_prover *p, ac_x x);
bool ac_p_breaks_off(const ac_prover *p, ac_x loop); /* May it end before its last iteration? */

/* walks.c: is the variable a place in tables that depends on nothing else that the loop changes? */
bool ac_p_is_walk(ac_prover *p, ac_x loop, ac_x var);

/* schedule.c: the loop at x is followed iteration by iteration, if it is a schedule (else false). */
bool ac_p_follow_schedule(ac_prover *p, ac_x x, ac_interval first, ac_interval trips, int64_t step);

/* prove.c: follows the whole function. */
void ac_p_follow_all(ac_prover *p);

/* split.c: looks for proofs by cases of what is doubtful, for the pass that makes the claims. */
void ac_p_split(ac_prover *p);

/* values.c */
void ac_p_value(ac_prover *p, ac_x x); /* instruction x makes a value */
ac_pvalue ac_p_unknown(ac_prover *p, ac_dtype d, ac_interval in);
ac_interval ac_p_range(ac_dtype d); /* of an integer type */

/* arithmetic.c: the integer operators. */
void ac_p_integer(ac_prover *p, ac_x x);

/* word_lanes.c: the value of x where it takes words of 64-bit lanes apart, or puts them together; else false. */
bool ac_p_word_lanes(ac_prover *p, ac_x x);

/* floats.c */
void ac_p_float(ac_prover *p, ac_x x);
void ac_p_float_to_int(ac_prover *p, ac_x x);

/* accesses.c */
void ac_p_access(ac_prover *p, ac_x x);

/* tables.c: the constant that buffer `buf` is, or NULL. */
ac_const *ac_p_constant(const ac_prover *p, int32_t buf);
/* Integers that a load of `lanes` elements from `index` on can give. */
ac_interval ac_p_loaded(ac_prover *p, int32_t buf, const ac_pvalue *index, int32_t lanes);
void ac_p_put(ac_prover *p, int32_t buf, ac_interval in);            /* integers that are stored */
void ac_p_stored(ac_prover *p, ac_x x);                              /* instruction x stores integers */
ac_interval ac_p_contents(ac_prover *p, int32_t buf);                /* what the call has stored to its own buffer */
void ac_p_loaded_float(ac_prover *p, const ac_ins *i, ac_pvalue *v); /* floats of a constant narrow v */

/* claims.c */
void ac_p_proven(ac_prover *p, ac_claim claim);
void ac_p_doubt(ac_prover *p, ac_x x, ac_claim claim, bool wrong, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Is some value of the form surely above / below the limit in a run of the code here? */
bool ac_p_surely_above(ac_prover *p, const ac_affine *form, int64_t limit);
bool ac_p_surely_below(ac_prover *p, const ac_affine *form, int64_t limit);

#endif
