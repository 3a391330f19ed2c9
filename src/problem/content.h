/* problem/content.h - the content of arrays: numbers, fills, variations, modules (array.c, fill.c, vary.c, module.c).
 */
#ifndef CLT_PROBLEM_CONTENT_H
#define CLT_PROBLEM_CONTENT_H

#include "problem/parts.h"

/* Stores a number as an element's base type, saturated to its range. */
void clt_store_number(void *at, clt_element_base base, double number);
double clt_load_number(const void *at, clt_element_base base);

/* Fills a logical array. call has the arrays and scalars that a module's function may read. */
int clt_fill_array(const clt_instance *instance, const clt_fill *fill, const clt_array *array, void *data,
                   const clt_recipe *recipe, const clt_module_call *call, clt_error *error);
/* Reads the content of an argument from a file of exactly this size. */
int clt_fill_raw(void *data, size_t bytes, const char *path, const char *argument, clt_error *error);
bool clt_fill_is_drawn(const clt_fill *fill); /* random numbers of a stated range, not stated numbers */

/* Changes the file's own content of an array to what a recipe asks for (vary.c). drawn: the content is random between 0
 * and bound, with another seed already. mild: only values of the declared range. Returns CLT_OK or CLT_E_MEMORY. */
int clt_vary_array(const clt_array *array, void *data, const clt_recipe *recipe, bool drawn, double bound, bool mild,
                   clt_rng *rng);
/* Changes real numbers that are no integers by rounding errors, towards 0 so that they keep to their range. */
void clt_shake_array(const clt_array *array, void *data);
/* The value of a scalar that the file states as a number. index: among these scalars. */
double clt_vary_scalar(double value, bool is_real, const clt_recipe *recipe, size_t index, clt_rng *rng);

/* Finds a function of a module. A module in C is compiled first. Modules stay loaded (module.c). */
int clt_module_find_function(clt_module_function *out, const char *path, const char *function, clt_error *error);
/* Compiles a module in C for machines without a compiler: into the folder that is installed as libexec/clatune/modules. */
int clt_module_ship(const char *path, const char *folder, clt_error *error);

#endif
