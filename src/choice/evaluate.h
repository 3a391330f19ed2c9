/* How models choose. This file is compiled into the library, and export.c copies it into exported files, so that both
 * give the same answers. It must be C99 and C++, and uses no names of the library. */

/* Scales features to the model's inputs. scales[n][5]: the smallest and the largest value of the training, an offset
 * (t = log(x + offset); negative: t = x), a centre and a factor. Returns the first feature outside of its range, or -1.
 */
static inline int FAMILY(scale)(float *inputs, const double *features, const double (*scales)[5], int n) {
  for (int i = 0; i < n; i++) {
    const double *s = scales[i];
    if (!(features[i] >= s[0] && features[i] <= s[1])) return i;
    inputs[i] = (float)(((s[2] < 0 ? features[i] : log(features[i] + s[2])) - s[3]) * s[4]);
  }
  return -1;
}

/* Predicts log times of at most 64 arms. values has one block per arm, for its difference from the mean of all arms,
 * and a last one for that mean. Each is a linear model plus n_units hyperbolic tangents (a multiple of 4, at most 64),
 * which are the units of all its networks: weights[n_inputs][n_units], biases[n_units], factors[n_units], a constant,
 * slopes[n_inputs]. The blocks are done together, step by step: in one block alone, each operation would wait for the
 * one before. */
static inline void FAMILY(time)(double *scores, const float *x, const float *values, int n_inputs, int n_arms,
                                int n_units) {
  float z[65 * 64];
  const size_t block = (size_t)(n_units * (n_inputs + 2) + 1 + n_inputs);
  const int n = (n_arms + 1) * n_units;
  double mean = 0;
  for (int arm = 0; arm <= n_arms; arm++) {
    const float *w = values + (size_t)arm * block, *bias = w + n_inputs * n_units;
    float *own = z + arm * n_units;
    int k = 0;
    for (int u = 0; u < n_units; u++) own[u] = bias[u];
    for (; k + 4 <= n_inputs; k += 4, w += 4 * n_units)
      for (int u = 0; u < n_units; u++)
        own[u] +=
            (w[u] * x[k] + w[n_units + u] * x[k + 1]) + (w[2 * n_units + u] * x[k + 2] + w[3 * n_units + u] * x[k + 3]);
    for (; k < n_inputs; k++, w += n_units)
      for (int u = 0; u < n_units; u++) own[u] += w[u] * x[k];
  }
  for (int u = 0; u < n; u++) z[u] = z[u] < -4.97f ? -4.97f : z[u];
  for (int u = 0; u < n; u++) z[u] = z[u] > 4.97f ? 4.97f : z[u];
  for (int u = 0; u < n; u++) { /* Lambert's continued fraction: 1e-4 from the tangent; alone it vectorises */
    const float q = z[u] * z[u];
    z[u] = z[u] * (135135.0f + q * (17325.0f + q * (378.0f + q))) /
           (135135.0f + q * (62370.0f + q * (3150.0f + q * 28.0f)));
  }
  for (int arm = n_arms; arm >= 0; arm--) {
    const float *factor = values + (size_t)arm * block + (n_inputs + 1) * n_units, *line = factor + n_units,
                *own = z + arm * n_units;
    float sum[4] = {line[0], 0, 0, 0};
    for (int k = 0; k < n_inputs; k++) sum[k % 4] += line[1 + k] * x[k];
    for (int u = 0; u < n_units; u += 4)
      for (int k = 0; k < 4; k++) sum[k] += factor[u + k] * own[u + k];
    const double sum_of_all = (double)((sum[0] + sum[1]) + (sum[2] + sum[3]));
    if (arm == n_arms)
      mean = sum_of_all;
    else
      scores[arm] = mean + sum_of_all;
  }
}

/* For each pair of arms n_trees trees say by which factor the first takes longer (a logarithm); beyond a tenth it is a
 * whole vote. values: the roots of each pair's trees, then nodes: input (negative: a leaf), number, node to the right.
 */
static inline void FAMILY(pairwise)(double *scores, const float *x, const float *values, int n_inputs, int n_arms,
                                    int n_trees) {
  const float *root = values, *nodes = values + n_arms * (n_arms - 1) / 2 * n_trees;
  (void)n_inputs;
  for (int a = 0; a < n_arms; a++) scores[a] = 0;
  for (int a = 0; a < n_arms; a++)
    for (int b = a + 1; b < n_arms; b++) {
      double sum = 0;
      for (int t = 0; t < n_trees; t++, root++) {
        const float *node = nodes + 3 * (size_t)*root;
        while (node[0] >= 0) node = x[(int)node[0]] <= node[1] ? node + 3 : nodes + 3 * (size_t)node[2];
        sum += (double)node[1];
      }
      sum /= n_trees;
      if (sum > 0.1) sum = 0.1;
      if (sum < -0.1) sum = -0.1;
      scores[a] += sum;
      scores[b] -= sum;
    }
}

/* Votes of a support-vector machine with radial basis functions, a class against another. values: gamma, the number of
 * vectors; by class its arm, its number of vectors; by pair of classes rho; coefficients[n_classes - 1][vector];
 * vectors[vector][n_inputs]. */
static inline void FAMILY(svm)(double *scores, const float *x, const float *values, int n_inputs, int n_arms,
                               int n_classes) {
  const int n_vectors = (int)values[1], n_pairs = n_classes * (n_classes - 1) / 2;
  const float *arm = values + 2, *count = arm + n_classes, *rho = count + n_classes, *coefficient = rho + n_pairs,
              *vector = coefficient + (n_classes - 1) * n_vectors;
  double sums[64 * 63 / 2];
  for (int a = 0; a < n_arms; a++) scores[a] = 0;
  for (int p = 0; p < n_pairs; p++) sums[p] = -(double)rho[p];
  for (int own = 0, v = 0; own < n_classes; own++)
    for (int end = v + (int)count[own]; v < end; v++, vector += n_inputs) {
      double squares = 0;
      for (int k = 0; k < n_inputs; k++) squares += (double)((x[k] - vector[k]) * (x[k] - vector[k]));
      const double kernel = exp(-(double)values[0] * squares);
      for (int other = 0; other < n_classes; other++) {
        if (other == own) continue;
        const int i = own < other ? own : other, j = own < other ? other : own;
        const int pair = i * n_classes - i * (i + 1) / 2 + j - i - 1, row = own < other ? other - 1 : other;
        sums[pair] += (double)coefficient[row * n_vectors + v] * kernel;
      }
    }
  for (int i = 0, pair = 0; i < n_classes; i++)
    for (int j = i + 1; j < n_classes; j++, pair++) scores[(int)arm[sums[pair] > 0 ? i : j]] -= 1;
  if (n_classes == 1) scores[(int)arm[0]] -= 1;
}
