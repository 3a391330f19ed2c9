/* Sampled and extreme configurations of a shipped problem, on every OpenCL device: all give the reference's result, on
 * sizes that no tile divides, on sizes that tiles divide, and others that matter. The arguments are a problem's name,
 * or that of a folder of them, and how many are sampled of each size, if not as many as below (then all is tried on all
 * sizes; otherwise each extreme, and each problem of which one is sampled, is tried on one, in turn); 77: there is no
 * device. Work-items stay under 65,536 loop iterations, because llvmpipe silently ends all loops there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/executor.h"

enum { MAX_SIZES = 12, MAX_EXTREMES = 6, MAX_TRIED = 6, MAX_DEVICES = 16 };

typedef struct trial {
  const char *name;
  clt_size sizes[MAX_TRIED][MAX_SIZES]; /* up to the first without a name */
  size_t n_sizes;
  size_t n_sampled; /* of each size */
  const char *extremes[MAX_EXTREMES];
  size_t turn; /* its place in the table */
} trial;

/* Those that rusticl takes. */
#define SMALL_GROUPS "row_x=2 row_y=8 row_tile=2 column_x=8 column_y=2 vec=1 unroll=2"

static const trial trials[] = {
    {"convolution",
     {{{"width", 100}, {"height", 61}}, {{"width", 128}, {"height", 256}}},
     2,
     2,
     {"wg_x=1 wg_y=1 ppt_x=128 ppt_y=64 use_image=0 use_local=1 pad=1 interleave=1 unroll=1",
      "wg_x=128 wg_y=1 ppt_x=1 ppt_y=64 use_image=1 use_local=1 pad=1 interleave=0 unroll=0",
      "wg_x=128 wg_y=2 ppt_x=1 ppt_y=32 use_image=0 use_local=1 pad=0 interleave=1 unroll=1",
      "wg_x=2 wg_y=64 ppt_x=64 ppt_y=1 use_image=1 use_local=0 pad=0 interleave=1 unroll=0",
      "wg_x=1 wg_y=1 ppt_x=1 ppt_y=1 use_image=0 use_local=1 pad=1 interleave=0 unroll=0"}},
    {"raycasting",
     {{{"width", 60}, {"height", 37}, {"volume_size", 50}}, {{"width", 64}, {"height", 64}, {"volume_size", 32}}},
     3,
     2,
     {"wg_x=1 wg_y=1 ppt_x=64 ppt_y=64 image_data=1 image_tf=1 local_tf=1 constant_tf=0 interleave=0 unroll=16",
      "wg_x=64 wg_y=4 ppt_x=1 ppt_y=16 image_data=0 image_tf=0 local_tf=1 constant_tf=1 interleave=1 unroll=8",
      "wg_x=1 wg_y=64 ppt_x=64 ppt_y=1 image_data=1 image_tf=0 local_tf=0 constant_tf=1 interleave=1 unroll=2",
      "wg_x=1 wg_y=1 ppt_x=1 ppt_y=1 image_data=0 image_tf=1 local_tf=0 constant_tf=1 interleave=0 unroll=1"}},
    {"stereo",
     {{{"width", 67}, {"height", 41}, {"disparities", 9}, {"window_radius", 3}},
      {{"width", 64}, {"height", 64}, {"disparities", 8}, {"window_radius", 2}}},
     4,
     2,
     {"wg_x=1 wg_y=1 ppt_x=64 ppt_y=8 image_left=0 image_right=0 local_left=1 local_right=1 unroll_disparity=1 "
      "unroll_dx=2 unroll_dy=1",
      "wg_x=1 wg_y=2 ppt_x=128 ppt_y=16 image_left=0 image_right=0 local_left=0 local_right=0 unroll_disparity=2 "
      "unroll_dx=4 unroll_dy=1",
      "wg_x=64 wg_y=2 ppt_x=2 ppt_y=4 image_left=1 image_right=0 local_left=1 local_right=0 unroll_disparity=1 "
      "unroll_dx=1 unroll_dy=4",
      "wg_x=1 wg_y=1 ppt_x=1 ppt_y=1 image_left=0 image_right=1 local_left=0 local_right=1 unroll_disparity=8 "
      "unroll_dx=1 unroll_dy=1",
      "wg_x=4 wg_y=4 ppt_x=16 ppt_y=1 image_left=1 image_right=1 local_left=0 local_right=0 unroll_disparity=1 "
      "unroll_dx=1 unroll_dy=1"}},
    {"filterbank",
     {{{"height", 37}, {"width", 45}, {"depth", 5}, {"n_filters", 20}, {"filter_height", 4}, {"filter_width", 7}},
      {{"height", 34}, {"width", 34}, {"depth", 8}, {"n_filters", 16}, {"filter_height", 3}, {"filter_width", 3}},
      {{"height", 24}, {"width", 29}, {"depth", 1}, {"n_filters", 1}, {"filter_height", 11}, {"filter_width", 11}},
      {{"height", 19}, {"width", 80}, {"depth", 33}, {"n_filters", 3}, {"filter_height", 3}, {"filter_width", 5}},
      {{"height", 21}, {"width", 13}, {"depth", 1}, {"n_filters", 38}, {"filter_height", 1}, {"filter_width", 2}},
      {{"height", 12}, {"width", 12}, {"depth", 64}, {"n_filters", 2}, {"filter_height", 11}, {"filter_width", 11}}},
     6,
     2,
     {"block_h=4 block_w=4 n_filter_rows=2 n_output_4s=2 spill=1 imul_fast=1 pad_shared=1 use_tex1d=1 "
      "maxrreg=unlimited fast_math=1",
      "block_h=4 block_w=4 n_filter_rows=1 n_output_4s=1 spill=1 imul_fast=0 pad_shared=0 use_tex1d=0 "
      "maxrreg=unlimited fast_math=0",
      "block_h=16 block_w=64 n_filter_rows=all n_output_4s=all spill=1 imul_fast=0 pad_shared=1 use_tex1d=0 "
      "maxrreg=unlimited fast_math=0",
      "block_h=8 block_w=8 n_filter_rows=1 n_output_4s=all spill=0 imul_fast=1 pad_shared=1 use_tex1d=1 "
      "maxrreg=unlimited fast_math=0",
      "block_h=4 block_w=32 n_filter_rows=2 n_output_4s=2 spill=0 imul_fast=1 pad_shared=0 use_tex1d=0 "
      "maxrreg=unlimited fast_math=1"}},
    {"gemm",
     {{{"m", 37}, {"n", 45}, {"k", 29}}, {{"m", 64}, {"n", 64}, {"k", 64}}, {{"m", 1}, {"n", 1}, {"k", 1}}},
     3,
     2,
     {"wg_x=4 wg_y=4 rows=4 vectors=2 vec=4 vec_a=4 tile_k=16 unroll=4 stage_a=1 stage_b=1 buffers=2 pad=1 "
      "interleave_x=1 "
      "interleave_y=1",
      "wg_x=2 wg_y=8 rows=2 vectors=4 vec=2 vec_a=2 tile_k=8 unroll=2 stage_a=1 stage_b=0 buffers=2 pad=4 "
      "interleave_x=0 "
      "interleave_y=0",
      "wg_x=8 wg_y=2 rows=8 vectors=1 vec=16 vec_a=1 tile_k=32 unroll=8 stage_a=0 stage_b=1 buffers=1 pad=0 "
      "interleave_x=0 "
      "interleave_y=1",
      "wg_x=1 wg_y=1 rows=16 vectors=1 vec=8 vec_a=1 tile_k=16 unroll=1 stage_a=0 stage_b=0 buffers=1 pad=0 "
      "interleave_x=0 "
      "interleave_y=0"}},
    {"convolution_wide",
     {{{"width", 101}, {"height", 61}}, {{"width", 128}, {"height", 64}}, {{"width", 1}, {"height", 1}}},
     2,
     2,
     {"wg_x=4 wg_y=4 vec=4 vectors=2 rows=4 use_local=1 pad=1 window=1 reuse_rows=1 unroll=1",
      "wg_x=8 wg_y=2 vec=8 vectors=1 rows=8 use_local=0 pad=1 window=0 reuse_rows=1 unroll=0",
      "wg_x=1 wg_y=16 vec=16 vectors=4 rows=1 use_local=0 pad=0 window=1 reuse_rows=0 unroll=0",
      "wg_x=2 wg_y=2 vec=2 vectors=4 rows=2 use_local=1 pad=0 window=0 reuse_rows=0 unroll=1"}},
    /* Rows of a length that vectors of all lengths divide, and of one that none does. */
    {"polybench/gemm", {{{"ni", 37}, {"nj", 48}, {"nk", 29}}, {{"ni", 23}, {"nj", 19}, {"nk", 31}}}, 3, 1, {0}},
    {"polybench/2mm",
     {{{"ni", 37}, {"nj", 48}, {"nk", 29}, {"nl", 80}}, {{"ni", 19}, {"nj", 21}, {"nk", 23}, {"nl", 25}}},
     4,
     1,
     {0}},
    {"polybench/3mm",
     {{{"ni", 37}, {"nj", 48}, {"nk", 29}, {"nl", 80}, {"nm", 21}},
      {{"ni", 19}, {"nj", 21}, {"nk", 23}, {"nl", 25}, {"nm", 27}}},
     5,
     1,
     {0}},
    {"polybench/syrk", {{{"n", 48}, {"m", 29}}, {{"n", 37}, {"m", 41}}}, 2, 1, {0}},
    {"polybench/syr2k", {{{"n", 48}, {"m", 29}}, {{"n", 37}, {"m", 41}}}, 2, 1, {0}},
    {"polybench/correlation", {{{"n", 37}, {"m", 48}}, {{"n", 29}, {"m", 21}}}, 2, 1, {0}},
    {"polybench/covariance", {{{"n", 37}, {"m", 48}}, {{"n", 29}, {"m", 21}}}, 2, 1, {0}},
    {"polybench/atax", {{{"m", 37}, {"n", 80}}, {{"m", 83}, {"n", 71}}}, 2, 1, {SMALL_GROUPS}},
    {"polybench/bicg", {{{"m", 37}, {"n", 80}}, {{"m", 83}, {"n", 71}}}, 2, 1, {SMALL_GROUPS}},
    {"polybench/mvt", {{{"n", 80}}, {{"n", 71}}}, 1, 1, {SMALL_GROUPS}},
    {"polybench/gesummv", {{{"n", 80}}, {{"n", 71}}}, 1, 1, {"row_x=2 row_y=8 row_tile=2 vec=1 unroll=2"}},
    {"polybench/gemver", {{{"n", 80}}, {{"n", 71}}}, 1, 1, {SMALL_GROUPS}},
    {"polybench/2dconv", {{{"width", 80}, {"height", 37}}, {{"width", 71}, {"height", 83}}}, 2, 1, {0}},
    {"polybench/3dconv",
     {{{"width", 48}, {"height", 27}, {"depth", 5}}, {{"width", 21}, {"height", 37}, {"depth", 3}}},
     3,
     1,
     {0}},
    {"polybench/jacobi-2d",
     {{{"width", 80}, {"height", 37}, {"steps", 3}}, {{"width", 71}, {"height", 83}, {"steps", 2}}},
     3,
     1,
     {0}},
    {"polybench/fdtd-2d", {{{"nx", 37}, {"ny", 80}, {"steps", 3}}, {{"nx", 83}, {"ny", 71}, {"steps", 2}}}, 3, 1, {0}},
    /* Numbers that follow from the other sizes (count, in the modules) come after them. Work-groups of 16 are those
     * that rusticl takes. */
    {"families/spmv/csr_scalar",
     {{{"kind", 0}, {"n", 203}, {"degree", 7}, {"nonzeros", 1203}},
      {{"kind", 4}, {"n", 203}, {"degree", 5}, {"nonzeros", 803}}},
     4,
     2,
     {"wg=16 rows=4 interleave=1 sums=4 unroll=2", "wg=16 rows=1 interleave=0 sums=1 unroll=1"}},
    {"families/spmv/csr_vector",
     {{{"kind", 0}, {"n", 203}, {"degree", 7}, {"nonzeros", 1203}},
      {{"kind", 4}, {"n", 203}, {"degree", 5}, {"nonzeros", 803}}},
     4,
     2,
     {"wg=16 lanes=4 rows=2 vec=2 tree=1", "wg=16 lanes=16 rows=1 vec=8 tree=0"}},
    {"families/spmv/ell",
     {{{"kind", 0}, {"n", 203}, {"degree", 7}, {"longest_row", 7}},
      {{"kind", 3}, {"n", 200}, {"degree", 3}, {"longest_row", 21}}},
     4,
     2,
     {"wg=16 vec=4 rows=2 interleave=1 unroll=2 stop=1", "wg=16 vec=1 rows=1 interleave=0 unroll=1 stop=0"}},
    {"families/spmv/dia",
     {{{"kind", 0}, {"n", 203}, {"degree", 7}, {"n_diagonals", 7}},
      {{"kind", 2}, {"n", 331}, {"degree", 6}, {"n_diagonals", 6}}},
     4,
     2,
     {"wg=16 vec=4 rows=2 interleave=1 unroll=2 pad_x=1 constant_offsets=1",
      "wg=16 vec=2 rows=1 interleave=0 unroll=1 pad_x=0 constant_offsets=0"}},
    {"families/spmv/sell",
     {{{"kind", 0}, {"n", 203}, {"degree", 7}, {"sell_elements", 12468}},
      {{"kind", 4}, {"n", 203}, {"degree", 5}, {"sell_elements", 12396}}},
     4,
     2,
     {"chunk=4 sigma=256 wg=16 vec=4 unroll=2 stop=1", "chunk=16 sigma=1 wg=16 vec=1 unroll=1 stop=0"}},
#define HISTOGRAM_SIZES                                       \
  {{{"kind", 0}, {"n", 20011}, {"bins", 300}, {"spread", 1}}, \
   {{"kind", 5}, {"n", 9000}, {"bins", 5}, {"spread", 7}},    \
   {{"kind", 1}, {"n", 9999}, {"bins", 1}, {"spread", 3}}},   \
      4, 1
    {"families/histogram/global_even", HISTOGRAM_SIZES, {"wg=16 items=8 vec=2 groups=16 combine=1 copies=4"}},
    {"families/histogram/global_dynamic", HISTOGRAM_SIZES, {"wg=16 items=8 vec=2 groups=16 combine=1 copies=4"}},
    {"families/histogram/local_even", HISTOGRAM_SIZES, {"wg=16 items=8 vec=2 groups=16 combine=1 copies=4"}},
    {"families/histogram/local_dynamic", HISTOGRAM_SIZES, {"wg=16 items=8 vec=2 groups=16 combine=1 copies=4"}},
    {"families/histogram/sorted_even", HISTOGRAM_SIZES, {"wg=16 items=8 radix_bits=3 groups=16 local_sums=1"}},
    {"families/histogram/sorted_dynamic", HISTOGRAM_SIZES, {"wg=16 items=8 radix_bits=3 groups=16 local_sums=1"}},
/* One, two and several passes of merging, nothing to do, and something to do in some places. */
#define SORT_SIZES                                                 \
  {{{"kind", 0}, {"n", 20011}, {"key_bits", 32}, {"disorder", 0}}, \
   {{"kind", 4}, {"n", 10007}, {"key_bits", 64}, {"disorder", 3}}, \
   {{"kind", 6}, {"n", 9000}, {"key_bits", 17}, {"disorder", 9}}}, \
      4, 1
    {"families/sort/merge",
     SORT_SIZES,
     {"wg=16 items=8 network=1 merge_wg=16 merge_items=4 merge_local=0",
      "wg=16 items=32 network=0 merge_wg=32 merge_items=16 merge_local=1"}},
    {"families/sort/locality",
     SORT_SIZES,
     {"wg=16 items=8 network=1 merge_wg=16 merge_items=4 merge_local=0",
      "wg=16 items=32 network=0 merge_wg=32 merge_items=16 merge_local=1"}},
    {"families/sort/radix",
     SORT_SIZES,
     {"wg=16 items=8 radix_bits=5 groups=16 staged=1", "wg=16 items=8 radix_bits=8 groups=4 staged=0"}},
#define TRANSPOSE_SIZES(rows_a, columns_a, divisor_a, rows_b, columns_b, divisor_b) \
  {{{"rows", rows_a}, {"columns", columns_a}, {"divisor", divisor_a}},              \
   {{"rows", rows_b}, {"columns", columns_b}, {"divisor", divisor_b}}},             \
      3, 1
    {"families/transpose/c2r",
     TRANSPOSE_SIZES(60, 84, 12, 101, 37, 1),
     {"wg=16 groups=8 width=4 row_local=1 column_local=1 fast_division=1 unroll=1"}},
    {"families/transpose/r2c",
     TRANSPOSE_SIZES(48, 70, 2, 61, 33, 1),
     {"wg=16 groups=8 width=4 row_local=1 column_local=1 fast_division=1 unroll=1"}},
    {"families/transpose/wide",
     TRANSPOSE_SIZES(24, 300, 12, 1, 70, 1),
     {"wg=16 items=2 rows_at_once=1 column_local=1 fast_division=1 unroll=1"}},
    {"families/transpose/tall",
     TRANSPOSE_SIZES(500, 24, 4, 211, 37, 1),
     {"wg=16 items=2 rows_at_once=4 column_local=1 fast_division=1 unroll=1"}},
#define GRAPH(kind, degree, vertices, edges, levels, origin)                                                  \
  {                                                                                                           \
    {"kind", kind}, {"size", 100}, {"degree", degree}, {"seed", 7}, {"vertices", vertices}, {"edges", edges}, \
        {"levels", levels}, {                                                                                 \
      "origin", origin                                                                                        \
    }                                                                                                         \
  }
#define R_MAT GRAPH(0, 6, 128, 466, 4, 0)
#define ERDOS_RENYI GRAPH(1, 4, 100, 394, 6, 50)
#define ROADS GRAPH(2, 5, 96, 242, 12, 8)
#define POWER_LAW GRAPH(3, 7, 100, 590, 4, 92)
#define STENCIL GRAPH(4, 8, 90, 1366, 5, 19)
    {"families/bfs/expand_contract", {R_MAT, ROADS}, 8, 1, {"wg=16 groups=2 items=2 team=4 local_queue=1 peek=1"}},
    {"families/bfs/contract_expand",
     {ERDOS_RENYI, POWER_LAW},
     8,
     1,
     {"wg=16 groups=2 items=2 team=4 history=64 peek=1"}},
    {"families/bfs/two_phase",
     {ROADS, STENCIL},
     8,
     1,
     {"wg=16 groups=2 items=2 team=4 local_queue=1 history=256 peek=1"}},
    {"families/bfs/iterative", {POWER_LAW, R_MAT}, 8, 1, {"wg=16 items=2 team=4 pull=1 interleave=1"}},
    {"families/bfs/fused", {STENCIL, ERDOS_RENYI}, 8, 1, {"wg=16 team=4 queue_local=256 peek=1"}},
#define SYSTEM(kind, unknowns, nonzeros)                                                          \
  {"kind", kind}, {"size", 203}, {"spread", 2}, {"dominance", 300}, {"contrast", 1}, {"seed", 7}, \
      {"unknowns", unknowns}, {                                                                   \
    "nonzeros", nonzeros                                                                          \
  }
#define PLANE SYSTEM(0, 196, 924)
#define BAND SYSTEM(2, 203, 1025)
#define BLOCKS SYSTEM(3, 196, 5776)
#define ONE_WAY_BAND SYSTEM(5, 203, 1025)
#define IN_BLOCKS(method, two, four, eight) \
  {method "_2", two}, {method "_4", four}, { method "_8", eight }
#define SMALL_SOLVER "wg=16 groups=4 team=4 unroll=2 chunked=1"
    {"families/solvers/cg_jacobi", {{PLANE, {"cg_jacobi", 13}}, {BLOCKS, {"cg_jacobi", 10}}}, 9, 1, {SMALL_SOLVER}},
    {"families/solvers/cg_blocks",
     {{BAND, IN_BLOCKS("cg_block", 11, 11, 10)}, {BLOCKS, IN_BLOCKS("cg_block", 10, 8, 8)}},
     11,
     1,
     {SMALL_SOLVER " block=8"}},
    {"families/solvers/cg_inverse", {{PLANE, {"cg_inverse", 7}}, {BAND, {"cg_inverse", 6}}}, 9, 1, {SMALL_SOLVER}},
    {"families/solvers/bicgstab_jacobi",
     {{PLANE, {"bicgstab_jacobi", 9}}, {ONE_WAY_BAND, {"bicgstab_jacobi", 8}}},
     9,
     1,
     {SMALL_SOLVER}},
    {"families/solvers/bicgstab_blocks",
     {{BLOCKS, IN_BLOCKS("bicgstab_block", 7, 5, 5)}, {ONE_WAY_BAND, IN_BLOCKS("bicgstab_block", 8, 8, 7)}},
     11,
     1,
     {SMALL_SOLVER " block=8"}},
    {"families/solvers/bicgstab_inverse",
     {{PLANE, {"bicgstab_inverse", 4}}, {ONE_WAY_BAND, {"bicgstab_inverse", 4}}},
     9,
     1,
     {SMALL_SOLVER}},
};

/* The state for one size of one problem on one device. */
typedef struct bench {
  clt_executor *executor;
  clt_instance *instance;
  clt_data *usual, *further; /* inputs of seeds 1 and 2 */
  size_t right, wrong, refused, n_trials;
  bool tried[MAX_EXTREMES];
} bench;

/* Only known once it is built: how large a work-group the driver can run the kernel in. That is no mistake of the
 * kernel. */
static void count(bench *b, clt_config config, const clt_measurement *m, const char *what) {
  char text[512];
  if (clt_measurement_correct(m)) return;
  if (m->reason == CLT_REASON_KERNEL_LIMIT) {
    b->refused++;
    return;
  }
  b->wrong++;
  clt_config_print(text, sizeof text, clt_instance_space(b->instance), config);
  fprintf(stderr, "%s: %s: %s, largest error %g\n  %s\n", clt_executor_device(b->executor)->name, what,
          clt_reason_name(m->reason), m->max_abs_error, text);
  if (m->log) fprintf(stderr, "  %.2000s\n", m->log);
}

/* Runs one configuration on both inputs. */
static int run(bench *b, clt_config config, clt_error *error) {
  clt_plan *plan = NULL;
  clt_prepared *prepared = NULL;
  clt_measurement m;
  clt_measurement_init(&m, config);
  int rc = clt_plan_new(&plan, b->instance, config, error);
  if (rc == CLT_OK) rc = clt_executor_prepare(b->executor, &prepared, plan, b->usual, &m, error);
  if (rc == CLT_OK) count(b, config, &m, "first input");
  if (rc == CLT_OK && clt_measurement_correct(&m)) {
    rc = clt_executor_verify(b->executor, prepared, b->further, true, &m, error);
    if (rc == CLT_OK) count(b, config, &m, "second input");
    b->right += rc == CLT_OK && clt_measurement_correct(&m);
  }
  clt_prepared_free(prepared);
  clt_plan_free(plan);
  clt_measurement_release(&m);
  return rc;
}

static int run_sampled(bench *b, size_t n, uint64_t seed, clt_error *error) {
  clt_rng rng;
  clt_rng_init(&rng, seed);
  clt_config *configs = malloc(n * sizeof *configs);
  if (!configs) return CLT_E_MEMORY;
  const int64_t got = clt_space_sample(configs, clt_instance_space(b->instance), &rng, n, error);
  int rc = got < 0 ? (int)got : CLT_OK;
  for (int64_t i = 0; rc == CLT_OK && i < got; i++) rc = run(b, configs[i], error);
  free(configs);
  return rc;
}

/* Extremes that this device or this size does not allow are left out. In turn: each on one size alone, the first from
 * its place on that allows it. */
static int run_extremes(bench *b, const trial *t, size_t which, bool in_turn, clt_error *error) {
  const clt_space *space = clt_instance_space(b->instance);
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < MAX_EXTREMES && t->extremes[i]; i++) {
    clt_config config;
    if (in_turn && (b->tried[i] || which < i % b->n_trials)) continue;
    rc = clt_config_parse(&config, space, t->extremes[i], error);
    b->tried[i] = rc == CLT_OK && clt_space_contains(space, config);
    if (b->tried[i]) rc = run(b, config, error);
  }
  return rc;
}

static int run_size(bench *b, const trial *t, const clt_problem *problem, size_t which, bool in_turn,
                    clt_error *error) {
  int rc =
      clt_instance_new(&b->instance, problem, t->sizes[which], t->n_sizes, clt_executor_device(b->executor), error);
  if (rc == CLT_OK) rc = clt_data_new(&b->usual, b->instance, &clt_own_inputs, error);
  if (rc == CLT_OK)
    rc = clt_data_new(&b->further, b->instance, &(clt_recipe){CLT_INPUTS_OTHER, .stays = CLT_STAYS_STATED}, error);
  if (rc == CLT_OK) rc = run_sampled(b, t->n_sampled, t->n_sampled > 1 ? 7 : 7 + which, error);
  /* Builds take long. If one configuration is sampled, the others are those of small work-groups. */
  if (rc == CLT_OK && (t->n_sampled > 1 || b->refused > 0))
    rc = run_extremes(b, t, which, in_turn && t->n_sampled > 1, error);
  clt_executor_forget(b->executor, NULL);
  clt_data_free(b->further);
  clt_data_free(b->usual);
  clt_instance_free(b->instance);
  b->instance = NULL;
  b->usual = b->further = NULL;
  return rc;
}

static int run_device(const trial *t, const clt_problem *problem, clt_executor *executor, bool in_turn, size_t *wrong,
                      clt_error *error) {
  bench b = {.executor = executor};
  int rc = CLT_OK;
  while (b.n_trials < MAX_TRIED && t->sizes[b.n_trials][0].name) b.n_trials++;
  for (size_t which = 0; rc == CLT_OK && which < b.n_trials; which++)
    if (!in_turn || t->n_sampled > 1 || which == t->turn % b.n_trials)
      rc = run_size(&b, t, problem, which, in_turn, error);
  clt_executor_reset(executor);
  printf("%s on %s: %zu right, %zu wrong, %zu refused by the driver\n", t->name, clt_executor_device(executor)->name,
         b.right, b.wrong, b.refused);
  *wrong += b.wrong + (2 * b.right < t->n_sampled); /* llvmpipe refuses five of six of raycasting */
  return rc;
}

static int run_problem(const trial *t, clt_executor *const *executors, size_t n_devices, bool in_turn, size_t *wrong,
                       clt_error *error) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.json", KERNELS_FOLDER, t->name);
  clt_problem *problem = NULL;
  int rc = clt_problem_new(&problem, path, error);
  for (size_t i = 0; rc == CLT_OK && i < n_devices; i++)
    rc = run_device(t, problem, executors[i], in_turn, wrong, error);
  clt_problem_free(problem);
  return rc;
}

static bool is_asked(const trial *t, const char *name) {
  const size_t n = strlen(name);
  return strncmp(t->name, name, n) == 0 && (t->name[n] == '\0' || t->name[n] == '/');
}

int main(int argc, char **argv) {
  clt_error error = {0};
  clt_device_info *devices = NULL;
  size_t n_devices = 0, wrong = 0, n_tried = 0;
  clt_executor *executors[MAX_DEVICES] = {NULL}; /* for all problems, since PoCL reads its library again for each */
  int rc = clt_opencl_devices(&devices, &n_devices, &error);
  if (n_devices > MAX_DEVICES) n_devices = MAX_DEVICES;
  for (size_t i = 0; rc == CLT_OK && i < n_devices; i++)
    rc = clt_executor_new(&executors[i], devices[i].platform_index, devices[i].device_index, &error);
  for (size_t i = 0; rc == CLT_OK && argc > 1 && i < sizeof trials / sizeof *trials; i++) {
    trial t = trials[i];
    t.turn = i;
    if (!is_asked(&t, argv[1])) continue;
    if (argc > 2) t.n_sampled = strtoul(argv[2], NULL, 10);
    rc = run_problem(&t, executors, n_devices, argc <= 2, &wrong, &error);
    n_tried++;
  }
  if (rc != CLT_OK) fprintf(stderr, "%s\n", error.message);
  for (size_t i = 0; i < n_devices; i++) clt_executor_free(executors[i]);
  free(devices);
  if (rc == CLT_OK && n_tried == 0)
    return fprintf(stderr, "usage: %s convolution|raycasting|stereo|filterbank|polybench|families/NAME [N]\n", argv[0]),
           2;
  if (rc == CLT_OK && n_devices == 0) return 77;
  return rc != CLT_OK || wrong > 0;
}
