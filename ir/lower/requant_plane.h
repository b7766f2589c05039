/* requant_plane.h - adds two bytes of different scales by two products of words, proven equal to the reference.
 *
 * The stored result of ADD or SUB is a function of 65,536 pairs. If (y * a + z * b + c) >> post, clamped to lo..hi,
 * agrees with all of them, it replaces the sum: y and z are stored values, c holds zero points and rounding, and every
 * sum fits a word. Halves that the reference rounds away from zero are matched by a slightly larger slope.
 *
 *     ac_plane p;
 *     if (ac_plane_find(&f, &p)) ...
 *
 * a and b are the nearest multipliers, or those whose interval for c is widest (it is concave in both); every pair is
 * compared. Cost: a millisecond. */
#ifndef AC_IR_LOWER_REQUANT_PLANE_H
#define AC_IR_LOWER_REQUANT_PLANE_H
#include "ir/lower/arithmetic.h"

/* The reference. */
typedef struct ac_pairs {
    int32_t least[2];     /* of the types of y and z */
    int32_t zero[2];      /* zero points of y and z */
    double slope[2];      /* of the result in y and z, nearly */
    const int16_t *value; /* 65,536, clamped: that of y and z at 256 * (y - least[0]) + z - least[1] */
    int32_t lo, hi, out;  /* clamp and zero point of the result */
} ac_pairs;

typedef struct ac_plane {
    int32_t a, b, c, post;
} ac_plane;

/* tmp: working memory. */
bool ac_plane_find(const ac_pairs *f, ac_region *tmp, ac_plane *p);
/* Not yet clamped. */
int32_t ac_plane_at(const ac_plane *p, int32_t y, int32_t z);

/* requant_loops.c: the same as loops, y and z of type i32. */
ac_x ac_lo_requant_plane(ac_lower *L, const ac_plane *p, ac_x y, ac_x z);

#endif
