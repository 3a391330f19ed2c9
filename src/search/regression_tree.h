/* search/regression_tree.h - a tree that splits the space by measured time: CART (Breiman, Friedman, Olshen and Stone,
 * "Classification and regression trees", 1984, chapter 8). Each split divides the values of one parameter, in the order
 * in which they are listed, so that the sum of squares falls the most. */
#ifndef CLT_SEARCH_REGRESSION_TREE_H
#define CLT_SEARCH_REGRESSION_TREE_H

#include <clatune/space.h>

typedef struct clt_regression_tree clt_regression_tree;

/* A tree over n configurations and their targets (finite), n > 0; leaves have at least min_leaf of them (>= 1). */
int clt_regression_tree_new(clt_regression_tree **out, const clt_space *space, const clt_config *configs,
                            const double *targets, size_t n, size_t min_leaf, clt_error *error);
void clt_regression_tree_free(clt_regression_tree *tree);

/* The mean target of the leaf in which a configuration lies. */
double clt_regression_tree_predict(const clt_regression_tree *tree, clt_config config);
size_t clt_regression_tree_n_leaves(const clt_regression_tree *tree);

#endif
