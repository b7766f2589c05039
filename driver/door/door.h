/* door.h - the handle of arenac.h: one compilation, whose options and request it fills in, or several. Nothing else of
 * the driver is changed from outside. */
#ifndef AC_DRIVER_DOOR_H
#define AC_DRIVER_DOOR_H
#include "driver/request/work.h"

struct arenac {
    ac_work work;
    struct ac_several *several; /* after read, of several models; NULL: one */
};

#endif
