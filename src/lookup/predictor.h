/* lookup/predictor.h - models of a kernel on a device, fitted on what a store holds of it at all sizes.
 *
 * A predictor answers for sizes that nobody has measured. `clatune train` fits one and keeps it beside the store;
 * clt_catalog_lookup and `clatune predict` find it there. It is for one kernel (its text, input and reference), device
 * and driver. */
#ifndef CLT_LOOKUP_PREDICTOR_H
#define CLT_LOOKUP_PREDICTOR_H

#include <clatune/model.h>
#include <clatune/store.h>

/* What a store holds of a kernel: the newest measurement of each configuration, by size. */
typedef struct clt_history clt_history;

/* Reads everything that was measured of this instance's kernel, as its text is now, on its device with its driver: at
 * every size, or (own_size) at the instance's alone. The instance's own size comes first, without rows where there are
 * none; the others in the order in which they were first measured. The instance is borrowed until clt_history_free. */
int clt_history_read(clt_history **out, clt_store *store, const clt_instance *instance, bool own_size,
                     clt_error *error);
void clt_history_free(clt_history *history);
size_t clt_history_n_rows(const clt_history *history);
size_t clt_history_n_sizes(const clt_history *history); /* with rows */

/* Fits a model ("auto", "ensemble", "trees", "average") on a history and binds it to the history's own instance.
 * CLT_E_MODEL with fewer than 5 correct rows. */
int clt_history_fit(clt_model **out, const clt_history *history, const char *type, const clt_setting *settings,
                    size_t n_settings, uint64_t seed, unsigned threads, clt_error *error);

/* Where the predictor of an instance's kernel and device lies: a file in the folder STORE.models; store_path NULL:
 * beside the standard store. *out is malloc'ed; nothing is made. */
int clt_predictor_path(char **out, const char *store_path, const clt_instance *instance, clt_error *error);

/* Keeps a model as the kernel's predictor, and finds it again, bound to the instance: CLT_E_NOT_FOUND where there is
 * none. */
int clt_predictor_save(const clt_model *model, const char *store_path, const clt_instance *instance, clt_error *error);
int clt_predictor_load(clt_model **out, const char *store_path, const clt_instance *instance, clt_error *error);

#endif
