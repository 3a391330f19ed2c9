"""Mutants of the shipped kernels: (problem, text, its replacement, the configuration in which it matters).

Races are barriers left out; the rest is off by one, stale or partial output, NaN, results that are slightly incorrect."""

LOCAL = {"use_local": 1, "wg_x": 8, "wg_y": 4, "ppt_x": 2, "ppt_y": 2}
PLAIN = {"wg_x": 8, "wg_y": 4, "ppt_x": 2, "ppt_y": 2}
PAD = {**PLAIN, "pad": 1}
INTERLEAVED = {**PLAIN, "interleave": 1}
TF = {**PLAIN, "local_tf": 1}
BOTH = {**PLAIN, "local_left": 1, "local_right": 1}

CONVOLUTION = [
    ("barrier(CLK_LOCAL_MEM_FENCE);", "", LOCAL),
    ("cx < CACHE_X && cy < CACHE_Y", "cx < CACHE_X - 1 && cy < CACHE_Y", LOCAL),
    ("cx < CACHE_X && cy < CACHE_Y", "cx < CACHE_X && cy < CACHE_Y - 1", LOCAL),
    ("y < CACHE_Y; y += wg_y", "y < CACHE_Y; y += 2 * wg_y", LOCAL),
    ("x < CACHE_X; x += wg_x", "x < CACHE_X - wg_x; x += wg_x", LOCAL),
    ("tile_x + cx - filter_radius", "tile_x + cx - filter_radius + 1", LOCAL),
    ("cache[((y) + filter_radius) * CACHE_X", "cache[((y) + filter_radius + 1) * CACHE_X", LOCAL),
    ("cache[cy * CACHE_X + cx] =", "if (cx != cy) cache[cy * CACHE_X + cx] =", LOCAL),
    ("dy = -filter_radius; dy <= filter_radius", "dy = -filter_radius; dy < filter_radius", PLAIN),
    ("dx = -filter_radius; dx <= filter_radius", "dx = -filter_radius + 1; dx <= filter_radius", PLAIN),
    ("i < ppt_x; i++", "i < ppt_x - 1; i++", PLAIN),
    ("j < ppt_y; j++", "j < ppt_y - 1; j++", PLAIN),
    ("i < ppt_x; i++", "i <= ppt_x; i += 2", PLAIN),
    ("((x) < width)", "((x) < width - 1)", PLAIN),
    ("((y) < height)", "((y) < height - 1)", PLAIN),
    ("((y) < height)", "((y) <= height)", PLAIN),
    ("clamp(column, 0, width - 1)", "clamp(column, 0, width - 2)", PLAIN),
    ("clamp(row, 0, height - 1)", "clamp(row, 1, height - 1)", PLAIN),
    ("(width + 2 * filter_radius) + (column) + filter_radius", "(width + 2 * filter_radius) + (column)", PAD),
    ("(local_x + (i)*wg_x)", "(local_x + (i)*ppt_x * wg_x)", INTERLEAVED),
    ("(local_y + (j)*wg_y)", "(local_y + (j))", INTERLEAVED),
    ("(local_x * ppt_x + (i))", "(local_x + (i))", PLAIN),
    ("1.0f / (FILTER * FILTER)", "1.01f / (FILTER * FILTER)", PLAIN),
    ("1.0f / (FILTER * FILTER)", "1.0f / (FILTER * FILTER) + 1e-5f", PLAIN),
    ("float sum = 0.0f;", "float sum = x == 3 && y == 2 ? NAN : 0.0f;", PLAIN),
    ("float sum = 0.0f;", "half_sum", PLAIN),  # does not compile
    ("= sum * (1.0f", "= convert_float(convert_int(sum * 100)) / 100 * (1.0f", PLAIN),
    ("output[(tile_y + y) * width + tile_x + x] =",
     "if (get_group_id(0) + get_group_id(1)) output[(tile_y + y) * width + tile_x + x] =", PLAIN),
    ("output[(tile_y + y) * width + tile_x + x] =", "output[(tile_y + y) * width + tile_x + x] +=", PLAIN),
    ("output[(tile_y + y) * width + tile_x + x] =", "output[(tile_y + y) * width + tile_x + x + 1] =", PLAIN),
]

RAYCASTING = [
    # Entries that are not written at all would hold the content from the run before: the same table.
    ("cache[i] = STORED_TF(i)", "cache[i] = STORED_TF(i < TF_ENTRIES / 2 ? i : 0)", TF),
    ("cache[i] = STORED_TF(i)", "cache[i] = STORED_TF(i + 1)", TF),
    ("cache[i] = STORED_TF(i)", "cache[i] = STORED_TF(i & ~1)", TF),
    ("cache[i] = STORED_TF(i)", "cache[i] = STORED_TF(i ^ 1)", TF),
    ("x >= width || y >= height", "x >= width - 1 || y >= height", PLAIN),
    ("x >= width || y >= height", "x >= width || y > height", PLAIN),
    ("int left = last - first + 1;", "int left = (last - first + 1) / 2;", PLAIN),
    ("at += first * step;", "at += (first + 1) * step;", PLAIN),
    ("1.0f - sample.w", "1.0f - 1.01f * sample.w", PLAIN),
    ("colour += through * sample;", "colour += 0.99f * through * sample;", PLAIN),
    ("for (; left > 0 && through > OPAQUE; left--) SAMPLE", "", {**PLAIN, "unroll": 8}),
    ("picture[y * width + x] = colour;", "picture[y * width + x].xyz = colour.xyz;", PLAIN),
    ("picture[y * width + x] = colour;", "if (y != 7) picture[y * width + x] = colour;", PLAIN),
    ("(slice)*volume_size + (row)", "(slice)*volume_size + (row) + 1", PLAIN),
]

STEREO = [
    ("barrier(CLK_LOCAL_MEM_FENCE);", "", BOTH),
    ("y < CACHE_Y; y += wg_y)\n    for (int x = local_x; x < LEFT_CACHE_X",
     "y < CACHE_Y - 1; y += wg_y)\n    for (int x = local_x; x < LEFT_CACHE_X", BOTH),
    ("x < RIGHT_CACHE_X; x += wg_x", "x < RIGHT_CACHE_X - wg_x; x += wg_x", BOTH),
    ("d < disparities; d++", "d < 1; d++", PLAIN),
    ("d < disparities; d++", "d < disparities; d += 2", PLAIN),
    ("int d = 0;", "int d = disparities / 2;", PLAIN),
    ("sum < least", "sum <= least", PLAIN),
    ("dy <= window_radius", "dy < window_radius", PLAIN),
    ("dx = -window_radius; dx <= window_radius", "dx = 1 - window_radius; dx <= window_radius", PLAIN),
    ("TO_SUMS(max(a, b) - min(a, b))", "TO_SUMS(a - b)", PLAIN),
    ("least = min(sum, least);", "", PLAIN),
    ("STORE(TO_PIXELS(best), target);", "if (d_last) STORE(TO_PIXELS(best), target);", PLAIN),  # does not compile
    ("STORE(TO_PIXELS(best), target);", "if (i) STORE(TO_PIXELS(best), target);", PLAIN),
    ("j < ppt_y; j++", "j < ppt_y / 2; j++", PLAIN),
]

MUTANTS = {"convolution": CONVOLUTION, "raycasting": RAYCASTING, "stereo": STEREO}
SIZES = {"convolution": {"width": 70, "height": 50}, "raycasting": {"width": 70, "height": 50, "volume_size": 32},
         "stereo": {"width": 72, "height": 50, "disparities": 8, "window_radius": 2}}
