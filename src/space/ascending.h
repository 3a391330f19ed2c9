/* space/ascending.h - configurations in ascending order. */
#ifndef CLT_SPACE_ASCENDING_H
#define CLT_SPACE_ASCENDING_H

#include <clatune/space.h>

void clt_ascending_sort(clt_config *configs, size_t n);

/* Whether config is among the n ascending ones. *place (nullable): where, or where it would stand. */
bool clt_ascending_find(const clt_config *configs, size_t n, clt_config config, size_t *place);

#endif
