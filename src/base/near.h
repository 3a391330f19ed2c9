/* base/near.h - "did you mean": clt_nearest_name, which is public (clatune/sys/option.h). */
#ifndef CLT_BASE_NEAR_H
#define CLT_BASE_NEAR_H

#include <clatune/sys/option.h>

#endif
