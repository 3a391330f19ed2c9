#if __INCLUDE_LEVEL__ < 60
#include "bomb.h"
#include "bomb.h"
#endif
