/* space/hash.h - what tells spaces apart. */
#ifndef CLT_SPACE_HASH_H
#define CLT_SPACE_HASH_H

#include <clatune/space.h>

#include "base/hash.h"

/* Adds the names and values of the parameters. Constraints are no part of it. */
void clt_space_hash(clt_hasher *hasher, const clt_space *space);

#endif
