/* use.h - the uses of a buffer by an instruction. */
#ifndef AC_PROVE_FACTS_USE_H
#define AC_PROVE_FACTS_USE_H

/* WRITE_SOME: writes an unknown subset of the elements. */
typedef enum ac_use { AC_USE_READ, AC_USE_WRITE, AC_USE_WRITE_SOME } ac_use;

#endif
