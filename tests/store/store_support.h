/* Common parts of the store's tests: small spaces, keys, scratch folders, and a visitor that collects. Include after
 * cmocka.h. */
#ifndef STORE_SUPPORT_H
#define STORE_SUPPORT_H

#include <clatune/store.h>

/* Parameters as name, values, name, values ..., NULL; a last name "where" has a constraint for its values. */
clt_space *make_space(const char *name, ...);

clt_store_key make_key(const char *problem);

/* A folder of its own, removed with remove_folder. */
char *make_folder(void);
void remove_folder(char *folder);

/* Whether a test can have stores of a type. Those in a private PostgreSQL come from tests/farm/test_store.py, which gives
 * the superuser's URLs in CLATUNE_TEST_DATABASE, with blanks between. */
bool has_stores(const char *type);
/* The place of a test's i-th store (from 0) of the type; it is empty. */
#define PLACE_BYTES 600
char *make_place(char out[PLACE_BYTES], const char *type, const char *folder, int i);

void write_text(const char *folder, const char *name, const char *text);

/* The problem "add" in folder/add.json: a size n (64), a parameter block (8, 16), a kernel of its own. */
clt_problem *make_add_problem(const char *folder);
/* A CPU by PoCL, with limits. */
clt_device_info make_device(void);

/* A correct measurement with two runs. */
clt_measurement make_measurement(clt_config config, double time_s);

typedef struct collected {
  clt_record_kind kinds[2048];
  clt_measurement measurements[2048];
  size_t n;
} collected;
collected *collect(clt_store *store, const clt_store_key *key, const clt_space *space, size_t *n_foreign);
void free_collected(collected *c);

#endif
