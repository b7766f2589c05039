/* printer.h - the internal interface of the C printer: the file being printed, the function being printed, one value.
 *
 *     function.c        a loop function as a C function: statements, names, layout
 *     function_head.c   the beginning of it: comment, parameters, arrays
 *     call_pieces.c     loops of it that are separate functions
 *     inline_values.c   selects values to insert into the expressions that use them
 *     scalar_ops.c      an instruction with one lane as an expression
 *     scalar_casts.c    its conversions
 *     scaled.c          the product of requantisation as one function; firmware
 *     vector_ops.c      an instruction with several lanes; vector types
 *     paired.c          two halves or four bytes in a word of 32 bits, if the machine works on those
 *     vector_casts.c    conversions between vector types
 *     scalar_helpers.c  functions on scalars that C99 has no operator for (square root, rounding, half floats)
 *     strict_helpers.c  variants of them for firmware
 *     vector_helpers.c  functions on vectors that C has no operator for
 *     split_vectors.c   vectors wider than a register become several
 *     headers.c         headers of C that the printed words need
 *     identifiers.h     names of C
 *     dialect.h         the differences between C and CUDA
 *
 * How values print. A bool is an int with value 0 or 1, or, in strict code (below), a bool; integers narrower than int
 * are computed in int and cast to their type when they are named or stored; f16 and bf16 are uint16_t. A vector is a
 * GNU vector type named like the text form (f32x16); a vector of bool is an integer vector with lanes 0 or -1, as wide
 * as the compared type (`mask` bits).
 *
 * Memory: the context's region. Errors: E0901 for programs the printer cannot print. */
#ifndef AC_CODEGEN_C_PRINTER_H
#define AC_CODEGEN_C_PRINTER_H
#include "codegen/c/expr.h"
#include "codegen/c/identifiers.h"
#include "ir/loop/loop.h"
#include "codegen/share_pieces.h"
#include "ir/lower/target.h"

/* One file, with the types and helpers that its functions have needed so far */
typedef struct ac_cfile {
    ac_ctx *cx;
    ac_region *region;
    const struct ac_dialect *dialect;
    const ac_target *target;
    ac_share_price share;       /* of pieces */
    const char *prefix, *upper; /* "kws", "KWS" */
    ac_sink types;              /* vector types, in order of first use */
    ac_sink helpers;            /* small static functions, each before its first use */
    AC_VEC(const char *) have;  /* interned names of everything in `types` and `helpers` */
} ac_cfile;

void ac_cfile_open(ac_cfile *F, ac_ctx *cx, const struct ac_dialect *dialect, const ac_target *target,
                   const char *prefix);
/* Code for firmware follows MISRA C:2012 with the deviations of docs/misra.md: truth values are `bool`, and results of
 * operators are converted to another kind of number by a function, not by a cast. */
static inline bool ac_c_strict(const ac_cfile *F)
{
    return F->target->firmware;
}
bool ac_c_have(ac_cfile *F, const char *name); /* true if already printed; else marks it as printed */

typedef struct ac_cval {
    ac_cexpr e;   /* a name, a number, or an expression to insert at the use */
    ac_cexpr one; /* vectors of equal lanes: one lane, and e.text may still be NULL (see ac_c_vec); others: NULL */
    int32_t mask; /* vectors of bool: bits of a lane */
    bool narrow;  /* vectors of i64: every lane fits in 32 signed bits */
} ac_cval;

typedef struct ac_cuse {
    bool live;    /* it is needed */
    bool join;    /* its text may be inserted at its use: it has one use, and nothing between could change it */
    bool unnamed; /* a loop whose index no printed text names */
    int32_t loop; /* the FOR around it, 0: none */
    int32_t at;   /* the instruction whose statement contains its text */
} ac_cuse;

/* inline_values.c: one entry for each instruction. row: ac_c_find_rows. */
struct ac_rows;
ac_cuse *ac_c_inline_plan(const ac_loop_fn *fn, const ac_target *t, struct ac_rows **row, ac_region *r);

/* scaled.c: x is the high word of a * b + add (0: of a * b), or the high word of a * b and `sum` added, or `inside` of
 * such a product and printed by it, or a value that several of them use: it has a name */
typedef struct ac_cscaled {
    ac_x a, b, add, sum;
    bool inside, named;
} ac_cscaled;

/* One function being printed */
typedef struct ac_cfn {
    ac_cfile *file;
    const ac_loop_fn *fn;
    ac_sink *to;
    ac_cval *val; /* of each instruction */
    const ac_cuse *use;
    struct ac_rows **row; /* of each instruction, see ac_c_find_rows */
    ac_cscaled *scaled;   /* of each instruction, in strict code; NULL elsewhere */
    const char **buf;     /* name of each buffer */
    ac_cnames names;
    int32_t depth; /* of indentation */
    const struct ac_csig *sig;
    const ac_pieces *pieces; /* printed already, */
    const char **piece_name; /* ... under these names; */
    int32_t called;          /* so many calls of them are printed */
} ac_cfn;

static inline const ac_ins *c_ins(const ac_cfn *f, ac_x x)
{
    return &f->fn->code.item[x];
}
static inline bool c_is_const(const ac_cfn *f, ac_x x)
{
    return c_ins(f, x)->op == AC_L_CONST;
}

/* scalar_ops.c */
ac_cexpr ac_c_scalar(ac_cfn *f, ac_x x); /* the instruction as an expression; .text NULL: E0901 given */
ac_cexpr ac_c_const(ac_cfile *F, ac_dtype d, const ac_ins *in);       /* one lane of a CONST */
ac_dtype ac_c_unsigned(int32_t bits);                                 /* the integer of so many bits */
bool ac_c_is_small(ac_dtype d);                                       /* computed in int: 8 and 16 bits, bool */
int ac_c_refuse(ac_cfile *F, const ac_loop_fn *fn, const char *what); /* E0901, AC_FAIL */

/* scalar_casts.c. ac_c_converted: in strict code by a function, if e has several operators. */
ac_cexpr ac_c_scalar_cast(ac_cfn *f, ac_x x); /* a CAST, SATCAST or BITCAST as an expression */
ac_cexpr ac_c_converted(ac_cfile *F, ac_dtype to, ac_dtype from, ac_cexpr e);
ac_cexpr ac_c_as_unsigned(const ac_cfn *f, ac_x x, ac_dtype u); /* a value converted to the unsigned type u */
ac_cexpr ac_c_exact(ac_cfile *F, ac_cexpr e, ac_dtype d);       /* cast if the C type is not that of d */

/* scaled.c */
void ac_c_find_scaled(ac_cfn *f);
ac_cexpr ac_c_scaled(ac_cfn *f, ac_x x); /* of an instruction with f->scaled[x].a */

/* vector_ops.c */
bool ac_c_vec_ok(const ac_target *t, ac_dtype d, int32_t lanes);   /* can the type be printed? */
const char *ac_c_vec_type(ac_cfile *F, ac_dtype d, int32_t lanes); /* "f32x16"; bool: never */
ac_dtype ac_c_mask_type(int32_t bits);                             /* the signed integer of a mask's lanes */
ac_cval ac_c_vector(ac_cfn *f, ac_x x);                            /* .e.text and .one.text NULL: cannot */
ac_cexpr ac_c_vec(ac_cfn *f, ac_x x);                              /* the text of a value with several lanes */
ac_cexpr ac_c_mask_as(ac_cfn *f, ac_x x, int32_t bits);            /* a vector of bool as a mask with lanes of `bits` */
void ac_c_vec_store(ac_cfn *f, ac_x store);                        /* the statement */
ac_cexpr ac_c_vec_as(ac_cfile *F, ac_cexpr e, ac_dtype d, int32_t lanes); /* the same bits as another type */

/* paired.c: the form of ac_loop_halves. */
ac_cexpr ac_c_word(ac_cfn *f, ac_x x);       /* a word (of type uint32_t), or a scalar from words; .text NULL: cannot */
void ac_c_word_store(ac_cfn *f, ac_x store); /* the statement */
ac_cexpr ac_c_clamped(ac_cfn *f, ac_x x);    /* MIN of a MAX as one call; .text NULL: not such a MIN */

/* scalar_helpers.c, vector_helpers.c: the name of a helper; its text is put into the file at the first call. */
const char *ac_c_helper(ac_cfile *F, const char *name);
const char *ac_c_strict_helper(const char *name); /* strict_helpers.c: its text in strict code; NULL: the same */
const char *ac_c_sat_helper(ac_cfile *F, ac_dtype to, ac_dtype from); /* float to integer */
/* Firmware: i32 to i8 or u8, as one instruction if the target has one; `shifts`: of x >> n, n a constant. */
const char *ac_c_sat_byte_helper(ac_cfile *F, ac_dtype to, bool shifts);
bool ac_c_sat_is_call(const ac_loop_fn *fn, const ac_target *t, const ac_ins *in);             /* is it that one? */
const char *ac_c_vec_helper(ac_cfile *F, ac_lop op, ac_dtype d, int32_t lanes, ac_dtype from); /* from: of operand a */
/* DOT4 of bytes of at most 127 (ir/loop/seven_bits.c) to i32 lanes; NULL: no special form. */
const char *ac_c_vec_dot4_seven(ac_cfile *F, int32_t lanes);
const char *ac_c_vec_wide_mul(ac_cfile *F, int32_t lanes); /* i64 product of lanes that fit in 32 bits; NULL: none */

/* vector_casts.c */
const char *ac_c_vec_convert(ac_cfile *F, ac_dtype from, ac_dtype to, int32_t lanes); /* a helper; no half floats */
ac_cval ac_c_vec_cast(ac_cfn *f, const ac_ins *in);
/* y if x is the cast of rint(y) to i32 that one instruction does, else 0. */
ac_x ac_c_rounded(const ac_loop_fn *fn, const ac_target *t, ac_x x);
ac_cexpr ac_c_vec_satcast(ac_cfn *f, const ac_ins *in);
ac_cexpr ac_c_vec_bitcast(ac_cfn *f, const ac_ins *in);

/* tile.c: the statement of a TILE; its function is added to the file at the first one. */
void ac_c_tile(ac_cfn *f, const ac_ins *in);
const char *ac_c_place(ac_cfn *f, int32_t buf, ac_x index); /* "x + index" */
void ac_c_asm_lines(ac_sink *to, const char *text);         /* lines of an assembler text as strings of C */
/* "#if" and a function that is assembly alone: basic asm, which GCC and Clang take at every level. They may neither
 * inline it nor conclude from its body, which they do not read, that it leaves registers or arguments alone. */
void ac_c_put_naked(ac_cfile *F, const char *condition, const char *name, const char *params, const char *text);
/* The loops that are printed as one call, by instruction; NULL: none. The one whose call is printed at x, its END, or
 * NULL. The call. */
struct ac_rows **ac_c_find_rows(ac_cfile *F, const ac_loop_fn *fn);
const struct ac_rows *ac_c_rows_at(struct ac_rows *const *row, ac_x x);
void ac_c_rows(ac_cfn *f, const struct ac_rows *r);
const char *ac_c_rows_place(ac_cfn *f, const struct ac_rows *r, int32_t pixel); /* of y */
/* riscv.c: the same of two pixels in a word; a TILE WORDS */
void ac_c_words_rows(ac_cfn *f, const struct ac_rows *r);
void ac_c_words(ac_cfn *f, const ac_ins *in);
/* Prints the call for fn->plane, up to "#else": true; the loops and "#endif" follow. */
bool ac_c_plane(ac_cfn *f, const ac_loop_fn *fn);
/* After #if: GCC compiles for a processor with `feature`, optimises, and NO_ASM is not defined; `more`: "" or "X &&
 * ". */
const char *ac_c_asm_condition(ac_cfile *F, const char *feature, const char *more);
/* mve.c, riscv.c: the function of a tile that is not of pairs; mve.c: the statement of a REQUANT. */
struct ac_tile;
struct ac_requants;
const char *ac_c_mve_tile(ac_cfile *F, const struct ac_tile *t);
const char *ac_c_rvv_tile(ac_cfile *F, const struct ac_tile *t);
void ac_c_requant(ac_cfn *f, const ac_ins *in);
struct ac_nest;
void ac_c_nest(ac_cfn *f, const struct ac_nest *n); /* nests.c: its statement */
/* riscv.c: the operands that its texts name, and the text of REQUANT up to "#else". */
void ac_c_rvv_clobbers(ac_cfile *F);
const char *ac_c_rvv_static(ac_cfile *F); /* called functions: the call costs little compared with many lanes */
void ac_c_rvv_requant(ac_cfile *F, const struct ac_requants *q);

/* split_vectors.c: the same program with no vector wider than `bytes`; fn itself if it has none. NULL: cannot. */
const ac_loop_fn *ac_c_split(ac_ctx *cx, const ac_loop_fn *fn, int32_t bytes);

/* expr.c: a line, indented, with its newline. */
void ac_c_line(ac_cfn *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* function.c */
typedef struct ac_csig {
    const char *name;       /* of the C function */
    const char *comment;    /* lines between the note and the buffers, each starting with " *"; may be NULL */
    const bool *restricted; /* per parameter; NULL: none */
    const char *section;    /* macro before `static`, or NULL */
    const char *first;      /* kernels: the line before all others, or NULL */
    int32_t threads;        /* kernels: of a block */
    /* kernels: by shared buffer, its place in the block's dynamic memory; NULL: static arrays */
    const int64_t *shared_at;
    int64_t cluster; /* kernels: blocks of a cluster, which are an iteration of the grid loop; 0: no clusters */
    struct ac_cuda_mails *mail; /* kernels of clusters: see codegen/cuda/mail.c */
    bool flat;                  /* kernels: iterations of the grid loop are threads; else they are blocks */
} ac_csig;
int ac_c_print_fn(ac_cfile *F, const ac_loop_fn *fn, const ac_csig *sig, ac_sink *to);
/* function_head.c */
enum { C_READ = 1, C_WRITTEN = 2 };
/* Of each buffer: C_READ, C_WRITTEN, both or 0. row: NULL, or ac_c_find_rows. */
uint8_t *ac_c_buffer_uses(const ac_loop_fn *fn, struct ac_rows **row, ac_region *r);
void ac_c_print_head(ac_cfn *f, const uint8_t *uses);                 /* up to the first statement */
void ac_c_put_wrapped(ac_sink *to, const char *list, int32_t indent); /* arguments, broken at commas into lines */
/* call_pieces.c: the functions of f->pieces; the statement of the next call; the function's buffers that pieces use.
 */
int ac_c_print_pieces(ac_cfn *f, const ac_csig *sig);
void ac_c_call_piece(ac_cfn *f);
void ac_c_add_uses(const ac_pieces *pieces, ac_region *r, uint8_t *uses);
/* headers.c: marks the needs of the words in a text, outside of comments and strings; their #include lines; #error if
 * the compiler's int, double or options do not do. */
enum { AC_C_STDBOOL, AC_C_STRING, AC_C_FLOATS, AC_C_DOUBLES, AC_C_HEADERS };
void ac_c_find_headers(const char *text, size_t n, bool need[AC_C_HEADERS]);
const char *ac_c_includes(ac_region *r, const bool need[AC_C_HEADERS]);
const char *ac_c_demands(ac_region *r, const bool need[AC_C_HEADERS]);

/* custom_call.c: the function fn, which has fn->call. */
int ac_c_print_custom(ac_cfile *F, const ac_loop_fn *fn, const ac_csig *sig, ac_sink *to);

/* function.c: intrinsics, macros and types the functions need, known once they are printed: goes before them. */
void ac_c_print_prologue(ac_cfile *F, ac_sink *to);

#endif
