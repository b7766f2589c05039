/* clock.h - the time of measurements and time limits. */
#ifndef AC_BASE_CLOCK_H
#define AC_BASE_CLOCK_H

/* Milliseconds since a fixed, unspecified moment; never runs backwards. */
double ac_now_ms(void);

#endif
