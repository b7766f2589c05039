/* replay.h - replays a certificate of generated code: loops, offsets and constants, as arenac prove -o writes them.
 *
 *     read_code(text)           the whole file: functions, memories, calls (replay_text.c, replay_function.c)
 *     replay_call(c)            runs the loops of a call with numbers for what loops count and intervals for data
 *     check_code(path)          all of it; the exit status (replay.c)
 *
 * Shares nothing with the prover (folder prove): it has no unknowns and finds no invariants. Loops run as the code
 * would run; a value that depends on data is an interval of all its values. docs/prove.md lists the claims and the
 * lines of the file, and explains why this is a proof.
 *
 * Cost: as many steps as the code has, so seconds for a small model and minutes for a large one. Memory: 64 bytes for
 * each element of a call's arguments. Errors: refuse() ends the program. */
#ifndef REPLAY_H
#define REPLAY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef __int128 whole; /* integers of 64 bits, signed or not, and their sums and products */

enum { MAX_LANES = 1024, MAX_ARGS = 128 };

typedef enum opcode {
#define OPS(X)                                                                                                     \
    X(const) X(constv) X(var) X(get) X(set) X(load) X(store) X(prefetch) X(add) X(sub) X(mul) X(div) X(mod) X(min)    \
    X(max) X(neg) X(abs) X(sqrt) X(floor) X(ceil) X(trunc) X(rint) X(and) X(or) X(xor) X(not) X(shl) X(shr) X(eq)     \
    X(ne) X(lt) X(le) X(select) X(cast) X(satcast) X(bitcast) X(fma) X(dot4) X(dot2) X(mma) X(tile) X(requant)        \
    X(splat) X(lane) X(shuffle) X(sumlanes) X(maxlanes) X(for) X(if) X(else) X(end) X(break_if) X(fail_if)
#define OP(name) OP_##name,
    OPS(OP) N_OPS
#undef OP
} opcode;

typedef enum type { BOOL, I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32, F64, N_TYPES } type;
typedef enum role { IN, OUT, INOUT, CONSTANT, SCRATCH, LOCAL, N_ROLES } role;

/* The range of a value, of one lane; also of an element in memory. */
typedef struct range {
    whole lo, hi;          /* integers and bool */
    double least, most;    /* floats */
    int64_t low, low_most; /* of 64 bits, if `words`: the range of its lower 32, unsigned */
    int32_t name;          /* of an unknown element: equal names are equal values; 0: none */
    int32_t over;          /* names of values that it is at least (a set of replay_names.c); 0: none */
    bool words;
    bool nan;     /* it may be NaN */
    bool one_of;  /* it equals one of `over` */
    bool written; /* elements: stored there, and not overwritten by another argument since */
    int16_t
        lost; /* elements that are not written: which argument has overwritten it, + 1; negative: perhaps; 0: none */
} range;

/* TILE and REQUANT (replay_tiles.c): fields besides operands; x, w, acc, y and table are buffers. */
typedef enum tile_form {
#define FORMS(X)      \
    X(PAIRS, pairs)   \
    X(BYTES, bytes)   \
    X(EACH, each)     \
    X(SPREAD, spread) \
    X(ROW, row) X(OUTER, outer) X(LANES, lanes) X(UNSIGNED, unsigned) X(MATRIX, matrix) X(WORDS, words)
#define FORM(name, text) TILE_##name,
    FORMS(FORM) N_TILES
#undef FORM
} tile_form;

typedef struct tile {
    tile_form form;
    int32_t rows, channels, x, w, acc, pitch, shift, depth, stride;
} tile;

typedef struct requant {
    int32_t lanes, y, acc, row, table, lo, hi;
    bool away;
} requant;

typedef struct instruction {
    opcode op;
    type type;
    int32_t lanes;
    int32_t a, b, c; /* instructions; GET, SET: aux is the variable; LOAD, STORE: the buffer */
    int32_t aux;
    tile *tile;
    requant *requant;
    int64_t k;     /* CONST; step of FOR */
    double f;      /* CONST of floats */
    int64_t *pool; /* CONSTV, SHUFFLE */
    double *reals; /* CONSTV of floats */
    bool wrap, aligned;
    bool narrow;               /* of load: its values are claimed to be in -64 .. 64 */
    bool parallel;             /* of FOR: iterations may run at the same time */
    int32_t end, other, scope; /* FOR, IF: END; IF: ELSE, or 0 */
    range *value;              /* lanes of them */
} instruction;

typedef struct buffer {
    char *name;
    role role;
    type type;
    int64_t count;
    int32_t align;
    bool restricted;
} buffer;

typedef struct function {
    char *name;
    buffer *buf;
    int32_t n_buf, n_params;
    instruction *code; /* code[0] is unused */
    int32_t n;
} function;

/* Elements of a constant: each by itself, or one range for all. */
typedef struct constant {
    type type;
    int64_t count;
    range *value;
    bool all_alike;
} constant;

typedef enum place { AT_MEMORY, AT_CONSTANT, AT_TASK } place;

typedef struct argument {
    place place;
    int32_t index;         /* memory or constant */
    int64_t offset, count; /* bytes; elements */
    int32_t tensor;        /* 0: scratch */
    int64_t begin, bytes;  /* of the tensor: where it begins in the one it is a part of */
    bool made;             /* the call writes the tensor first, before it reads it */
} argument;

/* A value whose range is cut into parts: lo[i] .. hi[i]. */
typedef struct cut {
    int32_t at, n;
    int64_t *lo, *hi;
} cut;

typedef struct call {
    int32_t fn, tasks;
    bool keeps;    /* tasks run one after the other, and scratch persists in between */
    int32_t given; /* a buffer whose last `n_given` elements the caller writes before each task */
    int64_t n_given;
    argument *arg;
    int32_t n_args;
    cut *cut;
    int32_t n_cuts;
    const char *open; /* after replay_call: why the call is not proven; NULL: it is */
} call;

/* Bytes of a memory that hold bytes of a tensor: inputs before the first call, outputs after the last. */
typedef struct holding {
    int32_t memory, tensor;
    int64_t offset, begin, bytes;
} holding;

/* Bytes from .. to of a memory are those of a tensor from `begin` on. */
typedef struct held {
    int64_t from, to, begin;
    int32_t tensor;
} held;

typedef struct memory {
    char *name;
    int64_t bytes, align;
    held *held; /* in order, apart */
    size_t n_held;
} memory;

typedef struct program {
    char (*written)[65]; /* SHA-256 of files that the code is in */
    int32_t n_written;
    memory *memory;
    constant *constant;
    function *fn;
    call *call;
    holding *before, *after;
    int32_t n_memories, n_constants, n_fns, n_calls, n_before, n_after;
} program;

/* replay_text.c */
extern const char *const op_name[N_OPS];
void read_code(char *text, program *c);
int64_t type_bytes(type t);
bool is_real(type t);
whole type_lo(type t);
whole type_hi(type t);

/* replay_values.c: the result of an instruction that works lane by lane; a claim that is not shown ends the call. */
range of_type(type t);
range number(whole k);
range wrapped(range r, type t); /* wrapped to the bits of the type */
void compute(instruction *code, instruction *x, int32_t lane);
void narrow(instruction *code, int32_t condition, bool truth); /* narrows the operands of a condition */

/* replay_floats.c: NaN ends: any float. */
range real_between(double least, double most, bool nan);
double real_as(type t, double v);                                   /* v rounded to t */
range real_rounded(type t, range r);                                /* ends that a rounding to t cannot pass */
range real_of_four(type t, double p, double q, double r, double s); /* least and most of them, rounded to t */
range real_result(const instruction *x, const range *a, const range *b, const range *c); /* NULL: missing operand */

/* replay_call.c */
void replay_call(program *c, int32_t step);
typedef struct counts {
    int64_t accesses, arithmetic, shifts, loops, written;
} counts;
extern counts shown;
/* The claim about the present instruction fails: the call is abandoned. `surely`: it is false; the program ends. */
void not_shown(bool surely, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
bool all_certain(void);                   /* nothing that led here depends on data */
range element_of(int32_t buf, int64_t i); /* inside, and written */
void put_element(int32_t buf, int64_t i, range to);
void spend(int64_t n); /* steps that the instruction at work takes; too many of them end the call */

/* replay_tiles.c */
void run_tile(const instruction *code, const instruction *i);
void run_requant(const instruction *code, const instruction *i);

/* replay_parts.c: parts of a run (branches, cuts, cases) that are joined. Everything that a part changes goes through
 * change(), and end_part() takes it back.
 *
 *     join j = begin_join();  run one part;  end_part(&j);  run the other;  end_part(&j);  end_join(&j);
 */
typedef struct entry {
    range *at, value;
} entry;
typedef struct join {
    entry *item; /* by address: the join of the parts so far */
    size_t n, mark;
    int32_t parts;
} join;
void begin_run(void); /* a call begins: no names, no changes to undo */
bool has_parts(void); /* true while a part runs */
join begin_join(void);
void end_part(join *j);
void end_join(join *j); /* sets the join of all parts */
void change(range *at, range to);
range joined(range a, const range *b); /* the join of both */

/* replay_names.c: sets of names, of elements that a value is not less than. */
void forget_names(void);
bool is_over(int32_t set, int32_t name);                    /* true if the name is in the set */
int32_t over_both(const range *a, const range *b);          /* the names of both; 0: none, or too many */
int32_t list_names(int32_t set, int32_t *to, int32_t most); /* how many; 0: more than `most` */

/* replay_left.c: values that calls have left in tensors. */
void left_before(int32_t tensor);          /* inputs and state; they are unknown */
void left_unknown(int32_t tensor, type t); /* by a call or its caller, as elements of t */
void left_stored(int32_t tensor, type t, const range *cell, int64_t n);
bool left_at_all(int32_t tensor); /* true if a call has stored to it */
range left_in(int32_t tensor,
              type t); /* the range of its elements, read as t; bools: 0 .. 255 if they may be other bytes */

/* replay_holds.c: tensors whose bytes are in a memory, between calls. */
void hold(memory *m, int64_t from, int64_t bytes, int32_t tensor, int64_t begin); /* tensor 0: unknown */
void expect_held(const program *c, const holding *h, int32_t step);               /* or refuse() */
bool share_bytes(const program *c, const call *k, int32_t i, int32_t j);          /* two arguments of the call */
void check_places(const program *c, int32_t step);
void hold_results(program *c, int32_t step, range *const *cell); /* of a call; cell NULL: it is not proven */

/* replay_hash.c: SHA-256 of a file, in lower case */
void hash_file(const char *path, char hex[65]);

/* replay.c */
void *room(void *old, size_t n, size_t size); /* realloc that does not fail */
void refuse(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
