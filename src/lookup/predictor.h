/* lookup/predictor.h - models of a kernel on a device, fitted on what a store holds of it at all sizes.
 *
 * A predictor answers for sizes that nobody has measured. `clatune train` fits one and keeps it beside the store;
 * clt_catalog_lookup and `clatune predict` find it there. It is for one kernel (its text, input and reference), device
 * and driver. */
#ifndef CLT_LOOKUP_PREDICTOR_H
#define CLT_LOOKUP_PREDICTOR_H

#include <clatune/model.h>
#include <clatune/store.h>

/* Fits a model ("auto", "ensemble", "trees", "average") on everything that a store holds of this instance's kernel, as
 * its text is now, on its device with its driver: at every size, or (own_size) at the instance's alone. It is bound to
 * the instance. *n_sizes: sizes with measurements. CLT_E_NOT_FOUND where there are none, CLT_E_MODEL with fewer than 5
 * correct ones. */
int clt_predictor_fit(clt_model **out, size_t *n_sizes, clt_store *store, const clt_instance *instance, bool own_size,
                      const char *type, const clt_setting *settings, size_t n_settings, uint64_t seed, unsigned threads,
                      clt_error *error);

/* Where the predictor of an instance's kernel and device lies: a file in the folder STORE.models; store_path NULL:
 * beside the standard store. *out is malloc'ed; nothing is made. */
int clt_predictor_path(char **out, const char *store_path, const clt_instance *instance, clt_error *error);

/* Keeps a model as the kernel's predictor, and finds it again, bound to the instance: CLT_E_NOT_FOUND where there is
 * none. */
int clt_predictor_save(const clt_model *model, const char *store_path, const clt_instance *instance, clt_error *error);
int clt_predictor_load(clt_model **out, const char *store_path, const clt_instance *instance, clt_error *error);

#endif
