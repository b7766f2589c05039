/* builder.h - the internal interface of the builder's files; lowerings include only loop.h.
 *
 *     loop.c   functions, buffers, blocks, statements          cse.c    equal pure instructions and unique names
 *     arith.c  ac_lb_add and the other typed operations           folding.c   constants and identities
 *     missing.c  operations that do not exist for a type
 *     close.c  dead code, renumbering
 *
 * Passes that rewrite a function (legalise.c, unroll.c) build the new one through ac_lb_op, so their results are folded
 * too. Memory: the builder's region. */
#ifndef AC_IR_LOOP_BUILDER_H
#define AC_IR_LOOP_BUILDER_H
#include "ir/loop/loop.h"

#include <assert.h>

/* Inside the builder a FOR of one iteration stays in the code as a mark, so that a BREAK_IF can still make it a loop;
 * ac_lb_close drops it. Never visible outside. */
enum { AC_F_ONCE = 128 };

typedef struct ac_lb_entry {
    ac_x x;
    uint32_t hash;
    int32_t next;  /* in the bucket's chain: 1 + index, 0 ends */
    int64_t stamp; /* GET, LOAD: the time of the last change; equal instructions with different stamps are different
                    * values */
} ac_lb_entry;

struct ac_lb_cse {
    int32_t *bucket;            /* 1 + index of the newest entry, 0: empty */
    uint32_t cap;               /* buckets, a power of two */
    AC_VEC(ac_lb_entry) entry;  /* visible instructions, oldest first: leaving a block cuts the tail */
    AC_VEC(int32_t) mark;       /* entry.n when each open block began; parallel to ac_lb.open */
    int64_t clock;              /* counts SETs, STOREs and loop entries */
    int64_t loop_time;          /* of the newest loop entry */
    int64_t param_time;         /* of the newest store to a parameter; parameters may overlap */
    AC_VEC(int64_t) local_time; /* of the newest store, by buffer */
    struct ac_lb_name *name;    /* hash table of names in use */
    uint32_t n_names, cap_names;
};

/* cse.c */
struct ac_lb_cse *ac_lb_cse_new(ac_region *r);
ac_x ac_lb_pure(ac_lb *b, ac_ins ins, int64_t stamp); /* an equal visible instruction, or a new one */
void ac_lb_enter(ac_lb *b);                           /* a block begins */
void ac_lb_leave(ac_lb *b, bool pop);                 /* ... ends; pop false: only its additions become invisible */
/* `hint` as a C identifier. Never the name of a buffer, a variable or an enclosing loop; with `everywhere`, not of any
 * loop either. */
const char *ac_lb_unique(ac_lb *b, const char *hint, bool everywhere);
void ac_lb_release(ac_lb *b, const char *name); /* a loop ended: another may have its name */

/* loop.c */
ac_x ac_lb_append(ac_lb *b, ac_ins ins);
void ac_lb_written(ac_lb *b, int32_t buf); /* invalidates loads of it */
/* A value without side effects: folded, simplified, reused or appended. Types must be complete and operands splat.
 */
ac_x ac_lb_op(ac_lb *b, ac_ins ins);

/* missing.c: true if `op` exists; else records it. */
bool ac_lb_exists(ac_lb *b, ac_lop op, ac_dtype type, ac_dtype from);
/* After a missing operation, types need not match. */
static inline bool ac_lb_fits(const ac_lb *b, bool fit)
{
    return fit || b->missing.op;
}

/* folding.c: the value that `ins` is equal to, or 0. */
ac_x ac_lb_fold(ac_lb *b, const ac_ins *ins);
/* CONST if all lanes are equal, else CONSTV. lane[]: int64, or the bits of a double for floats. */
ac_x ac_lb_lanes(ac_lb *b, ac_dtype d, const int64_t *lane, int32_t lanes);
int64_t ac_lb_lane_of(const ac_loop_fn *fn, const ac_ins *k, int32_t lane); /* of a CONST or CONSTV */
static inline bool ac_ins_const(const ac_ins *i)
{
    return i->op == AC_L_CONST || i->op == AC_L_CONSTV;
}
/* A constant that may be folded. */
static inline bool ac_ins_known(const ac_ins *i)
{
    return ac_ins_const(i) && !(i->flags & AC_F_SHAPE);
}

/* Operands that are values (not GET's variable, which is in aux). */
int32_t ac_lop_arity(ac_lop op);
const char *ac_lop_text(ac_lop op);
char ac_lop_class(ac_lop op); /* 'V' 'S' 'O' 'C' 'E' */
bool ac_lop_pure(ac_lop op);  /* a value that depends on operands only: not GET, LOAD, FOR */

/* copy.c: appends a copy of another function's instruction. Operands (and GET's and SET's variable) must already be
 * numbers of the new function; buffers have the same numbers; lanes in the pool are those of `from`. Returns the new
 * value or variable. */
ac_x ac_lb_copy(ac_lb *b, const ac_loop_fn *from, const ac_ins *i);
/* A buffer as another function has it. */
int32_t ac_lb_buf_like(ac_lb *b, const ac_buf *like);
/* ac_lb_open with name, note and buffers of `from`. */
ac_loop_fn *ac_lb_open_like(ac_lb *b, ac_region *region, const ac_loop_fn *from);

/* hoist.c: pure instructions whose operands do not change in a loop are moved before it. For the evaluator; C compilers
 * do this themselves. The result is in `region`, working memory in `tmp` (they may be the same). */
ac_loop_fn *ac_loop_hoist(ac_region *region, ac_region *tmp, const ac_loop_fn *fn);

/* close.c */
void ac_lb_sweep(ac_loop_fn *fn, ac_region *region);
/* canonical.c */
void ac_lb_order(ac_loop_fn *fn, ac_region *region);

#endif
