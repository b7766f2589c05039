/* loop.h - the loop IR: a function over flat buffers, as typed instructions in structured blocks.
 *
 * This is the one form between operators and targets: lowerings build it, the evaluator runs it, the C, LLVM and CUDA
 * printers print it; none of these depends on operators.
 *
 * A function has buffers (parameters first, then locals) and code: a flat array of instructions. A value is named by
 * the index of its instruction; it can be used after it inside the same or an inner block (FOR .. END, IF .. ELSE ..
 * END). Values never change; state that changes during a loop is in variables (VAR / GET / SET): accumulators are
 * variables. Evaluation order is the order of the code: a LOAD reads memory at its position, before all later stores. A
 * value has lanes: 1 = scalar. Printers turn more lanes into vector types; the legaliser turns them into scalars.
 *
 *     %1 = const i32 0   %2 = const i32 196
 *     %3 = for i32 %1 .. %2 step 16
 *     %4 =   load f32x16 x[%3]
 *     %5 =   load f32x16 y[%3]
 *     %6 =   add f32x16 %4 %5
 *            store out[%3] %6
 *          end
 *
 * The builder (lb_*) appends instructions; it folds constants and trivial identities (x+0, x*1, cast to the same type),
 * and reuses an equal pure instruction that is still in scope. So lowerings may be written naively.
 *
 * Memory: all in the region given to ac_lb_open. An operation that does not exist for a type is recorded, and the
 * function is then invalid: check ac_lb_missing before ac_lb_close. Other errors of the builder are programming errors
 * (assert); ac_loop_verify reports E0901. Index values are i32: no buffer has more than 2^31-1 elements. */
#ifndef AC_IR_LOOP_LOOP_H
#define AC_IR_LOOP_LOOP_H
#include "base/sink.h"
#include "base/vec.h"
#include "ir/dtype/dtype.h"

typedef int32_t ac_x; /* a value: index of an instruction; 0: no value */

typedef enum ac_lop {
    AC_L_NONE,
#define LOP(id) AC_L_##id,
#include "ir/loop/loop_ids.def"
#undef LOP
    AC_L_COUNT
} ac_lop;

static inline bool ac_lop_has_buffer(ac_lop op)
{
    return op == AC_L_LOAD || op == AC_L_STORE || op == AC_L_PREFETCH || op == AC_L_MMA || op == AC_L_TILE ||
           op == AC_L_REQUANT;
} /* aux */
static inline bool ac_lop_stores(ac_lop op)
{
    return op == AC_L_STORE || op == AC_L_REQUANT;
} /* to buffer aux from element a on */

enum { AC_MAX_LANES = 1024 }; /* of one value */
/* flags. ALIGNED: the address is a multiple of lanes * element size. SHAPE: a CONST that the builder never folds, see
 * ac_lb_shape. NARROW: a load of i8 constants that all are in -AC_NARROW .. AC_NARROW. */
/* LATE: a store of a GPU that need not have arrived before the wait of its phase, see ac_lb_store_late. */
enum { AC_F_WRAP = 1, AC_F_ALIGNED = 2, AC_F_SHAPE = 4, AC_F_NARROW = 8, AC_F_LATE = 16, AC_NARROW = 64 };
typedef enum ac_mark {
    AC_MARK_SERIAL,
    AC_MARK_UNROLL,
    AC_MARK_APART,
    AC_MARK_NEST, /* codegen/nests.h */
    AC_MARK_PARALLEL,
    AC_MARK_GRID,
    AC_MARK_CLUSTER,
    AC_MARK_BLOCK
} ac_mark;

typedef struct ac_ins {
    uint8_t op;    /* ac_lop */
    uint8_t dtype; /* of the value; of the stored value for STORE */
    uint8_t flags;
    uint8_t groups; /* FOR marked block: see ac_lb_groups */
    uint16_t lanes;
    ac_x a, b, c;
    int32_t aux; /* variable, buffer (ac_lop_has_buffer), pool start, lane, mark or status: see loop.def */
    union {
        int64_t i;
        double f;
    } k; /* CONST (f for float types); FOR: step; MMA: buffer of the fragments; TILE and REQUANT: tiles.h, requants.h */
    /* Loop variables and variables: as loop nests call them ("oy", "c0_1"; docs/loop-ir.md); else NULL. */
    const char *name;
} ac_ins;

typedef enum ac_role { AC_BUF_IN, AC_BUF_OUT, AC_BUF_INOUT, AC_BUF_CONST, AC_BUF_SCRATCH, AC_BUF_LOCAL } ac_role;

/* The memory of a LOCAL on a GPU; elsewhere all are arrays on the stack. SHARED: one for a block. THREAD: registers of
 * the threads of a block; element k of thread t is k * threads + t. A thread stores only its own elements, and loads
 * those or a neighbour's from an earlier phase, with an index of that form (ac_thread_element). SPREAD: shared memory
 * of the blocks of a cluster, equal parts in their order; every block reads and writes all of it.
 *
 * In a cluster loop r over n blocks, contents of SHARED are lost at its end, and so are those of THREAD, unless
 * threads of all blocks have elements of their own: element k of thread t in block r is then k * (n * threads) + (r *
 * threads + t). */
typedef enum ac_where { AC_WHERE_STACK, AC_WHERE_SHARED, AC_WHERE_THREAD, AC_WHERE_SPREAD } ac_where;

typedef struct ac_buf {
    const char *name; /* C identifier, unique in the function */
    ac_dtype dtype;
    int64_t count;    /* elements */
    ac_role role;     /* LOCAL: an array on the stack (small, at most 4 KiB); all others are parameters */
    int32_t align;    /* of the base address, bytes; the caller guarantees it */
    const char *note; /* for the comment: "input x i8 [1,49,10,1]"; may be NULL */
    ac_where where;   /* LOCAL */
    bool fresh;       /* LOCAL: every position of the result (a row, a column) writes it before it reads it */
    bool copied; /* SCRATCH: a constant is copied there before anything reads it, and nothing else is stored there */
} ac_buf;

/* Its elements do not change while they are read: a constant, or a copy of one. */
static inline bool ac_buf_is_fixed(const ac_buf *b)
{
    return b->role == AC_BUF_CONST || b->copied;
}

typedef struct ac_loop_fn {
    const char *name;       /* C identifier without the model's prefix: "conv_2d_3" */
    const char *note;       /* comment above the function */
    AC_VEC(ac_buf) buf;     /* parameters first, in order, then locals */
    AC_VEC(ac_ins) code;    /* code.item[0] is unused */
    AC_VEC(int64_t) pool;   /* lanes of CONSTV, patterns of SHUFFLE */
    bool fails;             /* contains FAIL_IF: returns int instead of void */
    struct ac_extern *call; /* extern.h: the function of the user that runs instead of the code; NULL: none */
    struct ac_plane *plane; /* plane.h: the convolution that the code is as a whole; NULL: not one, or not known */
} ac_loop_fn;

/* A builder; one at a time per function */
typedef struct ac_lb {
    ac_region *region;
    ac_loop_fn *fn;
    AC_VEC(int32_t) open; /* FOR / IF instructions not yet closed */
    struct ac_lb_cse *cse;
    /* The first operation that does not exist, with its result and operand type; op 0: none */
    struct {
        uint8_t op, type, from;
    } missing;
} ac_lb;

ac_loop_fn *ac_lb_open(ac_lb *b, ac_region *region, const char *name, const char *note);
/* A buffer; all parameters before the first local. Returns its number. The name becomes a unique C identifier. */
int32_t ac_lb_buf(ac_lb *b, const char *name, ac_dtype dtype, int64_t count, ac_role role, int32_t align,
                  const char *note);

ac_x ac_lb_int(ac_lb *b, ac_dtype d, int64_t v); /* integer or bool constant, one lane */
ac_x ac_lb_num(ac_lb *b, ac_dtype d, double v);  /* float constant (rounded to d), one lane */
ac_x ac_lb_i32(ac_lb *b, int64_t v);
/* An i32 constant that is never folded, so that functions for other values have the same instructions and can be merged
 * (codegen/share_kernels.c): extents, strides, pads. Each is an instruction of its own. */
ac_x ac_lb_shape(ac_lb *b, int64_t v);
ac_x ac_lb_shape_like(ac_lb *b, ac_x like, int64_t v); /* the same for each lane of `like` */
ac_x ac_lb_f32(ac_lb *b, double v);
ac_x ac_lb_constv(ac_lb *b, ac_dtype d, const int64_t *lane, int32_t lanes);
ac_x ac_lb_like(ac_lb *b, ac_x like, double v); /* v in the type and lanes of `like` (ints: v is integral) */
ac_x ac_lb_like_int(ac_lb *b, ac_x like, int64_t v);

/* Two operands of the same type; if exactly one of them has one lane it is splat. */
ac_x ac_lb_add(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_sub(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_mul(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_add_wrap(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_sub_wrap(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_mul_wrap(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_div(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_mod(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_min(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_max(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_and(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_or(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_xor(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_shl(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_shr(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_eq(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_ne(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_lt(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_le(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_gt(ac_lb *b, ac_x x, ac_x y); /* lt with operands swapped */
ac_x ac_lb_ge(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_neg(ac_lb *b, ac_x x);
ac_x ac_lb_abs(ac_lb *b, ac_x x);
ac_x ac_lb_not(ac_lb *b, ac_x x);
ac_x ac_lb_sqrt(ac_lb *b, ac_x x);
ac_x ac_lb_floor(ac_lb *b, ac_x x);
ac_x ac_lb_ceil(ac_lb *b, ac_x x);
ac_x ac_lb_trunc(ac_lb *b, ac_x x);
ac_x ac_lb_rint(ac_lb *b, ac_x x);
ac_x ac_lb_select(ac_lb *b, ac_x cond, ac_x x, ac_x y);
ac_x ac_lb_clamp(ac_lb *b, ac_x x, ac_x lo, ac_x hi); /* min(max(x, lo), hi) */
ac_x ac_lb_max_nan(ac_lb *b, ac_x x, ac_x y);         /* NaN if an operand is; one instruction if one is a constant */
ac_x ac_lb_min_nan(ac_lb *b, ac_x x, ac_x y);
ac_x ac_lb_cast(ac_lb *b, ac_x x, ac_dtype to);
ac_x ac_lb_satcast(ac_lb *b, ac_x x, ac_dtype to);
ac_x ac_lb_bitcast(ac_lb *b, ac_x x, ac_dtype to); /* lanes follow from the bits */
ac_x ac_lb_fma(ac_lb *b, ac_x x, ac_x y, ac_x z);  /* x * y + z, one rounding */
ac_x ac_lb_dot4(ac_lb *b, ac_x x, ac_x y, ac_x acc);
ac_x ac_lb_dot2(ac_lb *b, ac_x x, ac_x y, ac_x acc);
ac_x ac_lb_splat(ac_lb *b, ac_x x, int32_t lanes); /* lanes 1: x itself */
ac_x ac_lb_lane(ac_lb *b, ac_x x, int32_t lane);
/* The source of lane i when two vectors of `half` lanes are interleaved: a0 b0 a1 b1 .. */
static inline int32_t ac_zip_lane(int32_t i, int32_t half)
{
    return i % 2 * half + i / 2;
}
ac_x ac_lb_shuffle(ac_lb *b, ac_x x, ac_x y, const int64_t *pattern, int32_t lanes);
ac_x ac_lb_sumlanes(ac_lb *b, ac_x x);
ac_x ac_lb_maxlanes(ac_lb *b, ac_x x);

ac_x ac_lb_load(ac_lb *b, int32_t buf, ac_x index, int32_t lanes);
ac_x ac_lb_load_flags(ac_lb *b, int32_t buf, ac_x index, int32_t lanes, uint8_t flags);
void ac_lb_store(ac_lb *b, int32_t buf, ac_x index, ac_x value);
void ac_lb_store_flags(ac_lb *b, int32_t buf, ac_x index, ac_x value, uint8_t flags);
/* Late stores of a phase (the body of a block loop) copy elements of a parameter to shared memory: `value` is a load of
 * 4, 8 or 16 aligned bytes, or a select between one and zeros. They form a group; ac_lb_groups(b, phase, left): when
 * the phase ends, all groups but the last `left` have arrived, of all threads (AC_GROUPS_OPEN: none needs to). No
 * thread may use the elements between the store and its arrival. */
enum { AC_GROUPS_OPEN = 15 };
void ac_lb_store_late(ac_lb *b, int32_t buf, ac_x index, ac_x value);
void ac_lb_groups(ac_lb *b, ac_x phase, int32_t left);
/* True if i, a late store, copies element *from of buffer *buf, if *cond (0: always), else zeros. */
bool ac_late_copy(const ac_loop_fn *fn, const ac_ins *i, int32_t *buf, ac_x *from, ac_x *cond);
/* Threads of a block, between two of its phases: elements a.. of `acc` += product of fragments b.. and c.. of `words`
 * (mma.c). type: of the elements in words. */
void ac_lb_mma(ac_lb *b, ac_dtype type, int32_t acc, ac_x a, int32_t words, ac_x x, ac_x y);
void ac_lb_prefetch(ac_lb *b, int32_t buf, ac_x index); /* a hint; index may be out of range */
ac_x ac_lb_var(ac_lb *b, const char *name, ac_x init);  /* a handle for ac_lb_get / ac_lb_set */
ac_x ac_lb_get(ac_lb *b, ac_x var);
void ac_lb_set(ac_lb *b, ac_x var, ac_x value);
ac_x ac_lb_for(ac_lb *b, const char *name, ac_x lo, ac_x hi, int64_t step,
               ac_mark mark); /* the loop variable; constant bounds
                           with one iteration (serial, unroll, parallel): lo, and no loop is emitted */
ac_x ac_lb_for_n(ac_lb *b, const char *name,
                 int64_t n); /* 0 <= name < n, serial. n == 1: no loop is made, the variable is
                                                         the constant 0; ac_lb_end must be called all the same */
/* ac_lb_for_n, marked parallel: docs/loop-ir.md defines the promise. */
ac_x ac_lb_for_each(ac_lb *b, const char *name, int64_t n);
void ac_lb_if(ac_lb *b, ac_x cond);
void ac_lb_else(ac_lb *b);
void ac_lb_end(ac_lb *b);
void ac_lb_break_if(ac_lb *b, ac_x cond);
void ac_lb_fail_if(ac_lb *b, ac_x cond, int32_t status);
/* missing.c: "lt of bool; supported are i8 i16 i32 ..."; NULL: every operation exists. */
const char *ac_lb_missing(const ac_lb *b);
ac_loop_fn *ac_lb_close(ac_lb *b); /* asserts that every block is closed; drops unused pure values */

static inline ac_dtype ac_lb_dtype(const ac_lb *b, ac_x x)
{
    return (ac_dtype)b->fn->code.item[x].dtype;
}
static inline int32_t ac_lb_lane_count(const ac_lb *b, ac_x x)
{
    return b->fn->code.item[x].lanes;
}
bool ac_lb_const_int(const ac_lb *b, ac_x x, int64_t *v); /* is x an integer constant? */

/* gpu_places.c: true if `index` is an element of the thread itself, k * threads + t in the block loop t, or in all
 * blocks of a cluster; then k = *constant, or the value *k if that is not 0. threads: trips of the loop. Also true for
 * an element of its neighbour in the warp, with t xor mask in place of t, mask 1, 2, 4, 8 or 16. */
bool ac_thread_element(const ac_loop_fn *fn, ac_x index, int64_t *constant, ac_x *k, int32_t *mask);
/* Blocks whose threads have elements of their own in a THREAD buffer, by its first access; 1: those of one block. */
int64_t ac_thread_blocks(const ac_loop_fn *fn, int32_t buf);
int64_t ac_thread_blocks_at(const ac_loop_fn *fn, ac_x index); /* the same of one element */
/* Threads of a block that have elements in a THREAD buffer, by its first access. */
int64_t ac_thread_count(const ac_loop_fn *fn, int32_t buf);
/* A place in a SPREAD buffer: element `at` of the part of block `rank`. A value 0: the constant. */
typedef struct ac_spread_place {
    ac_x rank, at;
    int64_t rank_k, at_k;
    bool own; /* surely in the part of the block itself */
} ac_spread_place;
/* True if `index` is written as rank * share + at, where share is the elements of a part. Then 0 <= at < share is a
 * promise. */
bool ac_spread_place_of(const ac_loop_fn *fn, int32_t buf, ac_x index, ac_spread_place *p);
/* Blocks of a cluster: trips of the function's cluster loops; 0: it has none. */
int64_t ac_loop_cluster(const ac_loop_fn *fn);
/* gpu.c: checks the form of functions with grid, cluster and block loops; NULL, or a message. */
const char *ac_loop_gpu_fault(const ac_loop_fn *fn);

/* By instruction: the END of a FOR or IF, else 0. The array is from `region`. */
int32_t *ac_loop_ends(ac_region *region, const ac_loop_fn *fn);

/* same.c: true if two functions are equal except for names and notes; then their hashes are equal. */
uint64_t ac_fn_hash(const ac_loop_fn *fn);
bool ac_fn_same(const ac_loop_fn *a, const ac_loop_fn *b);
/* verify_loops.c: types, scopes, structure, constant indices inside buffers. E0901 for each fault. */
int ac_loop_verify(ac_ctx *cx, const ac_loop_fn *fn);
/* dump.c: text form, as in the example above; ac_loop_read parses it back (read(dump(f)) dumps the same). */
void ac_loop_dump(ac_sink *to, const ac_loop_fn *fn);
void ac_loop_dump_plain(ac_sink *to, const ac_loop_fn *fn); /* without nest and words, which only printers use */
int ac_loop_read(ac_ctx *cx, const char *file, const char *text, size_t n, ac_loop_fn **out);
/* legalise.c: the same program with at most one lane everywhere (vectors become scalars, reductions and dots their
 * defined sums; no hints), so that any program prints as plain C99. fma stays (the target decides). */
ac_loop_fn *ac_loop_scalar(ac_ctx *cx, const ac_loop_fn *fn);
/* seven_bits.c: true if the sum of two neighbouring products of a DOT4 of u8 and i8 fits in 16 bits. */
bool ac_ins_pairs_fit(const ac_loop_fn *fn, const ac_ins *dot);
/* narrowed.c: stores buffer i, of f32, in type as[i], f16 or bf16 (AC_NONE: unchanged): loads convert, stores round to
 * nearest even. */
ac_loop_fn *ac_loop_narrowed(ac_ctx *cx, ac_region *region, const ac_loop_fn *fn, const ac_dtype *as);
/* The same for machines that work on the halves of words: instructions that halves.h names are kept. */
ac_loop_fn *ac_loop_halves(ac_ctx *cx, const ac_loop_fn *fn);
/* The same for GPUs: aligned loads and stores of 8 and 16 bytes, and the values of late stores, are kept. */
ac_loop_fn *ac_loop_blocks(ac_ctx *cx, const ac_loop_fn *fn);
/* unroll.c: loops marked unroll with constant bounds are replaced by copies of their body. */
ac_loop_fn *ac_loop_unroll(ac_ctx *cx, const ac_loop_fn *fn);

#endif
