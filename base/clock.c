/* clock.c - the monotonic clock of the system. */
#include "base/clock.h"

#include "base/sys/sys.h"

double ac_now_ms(void)
{
    return ac_sys_now_ms();
}
