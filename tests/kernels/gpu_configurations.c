/* gpu-configurations PROBLEM N nvidia|amd: the input that clatune would hand the compiler of such a GPU, as JSON: the
 * default configuration, N sampled ones (fewer if the space has fewer) and the reference's kernel, each with its source
 * and build options. Asks no device: it is made up of the limits that the drivers of these GPUs state. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "problem/plan.h"
#include "space/space.h"

static clt_device_info describe_gpu(bool nvidia) {
  clt_device_info d = {.type = CLT_DEVICE_GPU,
                       .available = true,
                       .images = true,
                       .little_endian = true,
                       .compute_units = nvidia ? 132 : 104,
                       .address_bits = 64,
                       .max_work_group_size = nvidia ? 1024 : 256,
                       .max_work_item_sizes = {1024, 1024, nvidia ? 64 : 1024},
                       .local_memory_bytes = nvidia ? 49152 : 65536,
                       .local_memory_dedicated = true,
                       .global_memory_bytes = (uint64_t)1 << 36,
                       .max_allocation_bytes = (uint64_t)1 << 34,
                       .max_constant_bytes = nvidia ? 65536 : (uint64_t)1 << 34,
                       .max_parameter_bytes = nvidia ? 4352 : 1024,
                       .image1d_buffer_max_width = nvidia ? 268435456 : 134217728,
                       .image2d_max_width = nvidia ? 32768 : 16384,
                       .image2d_max_height = nvidia ? 32768 : 16384,
                       .image3d_max_width = nvidia ? 16384 : 2048,
                       .image3d_max_height = nvidia ? 16384 : 2048,
                       .image3d_max_depth = nvidia ? 16384 : 2048,
                       .base_address_align_bits = nvidia ? 4096 : 1024,
                       .preferred_vector_width_float = 1,
                       .warp_size = nvidia ? 32 : 64,
                       .preferred_work_group_multiple = nvidia ? 32 : 64,
                       .timer_resolution_s = nvidia ? 1e-6 : 1e-9};
  strcpy(d.platform_name, nvidia ? "NVIDIA CUDA" : "AMD Accelerated Parallel Processing");
  strcpy(d.vendor, nvidia ? "NVIDIA Corporation" : "Advanced Micro Devices, Inc.");
  strcpy(d.name, nvidia ? "NVIDIA H100 PCIe" : "gfx90a:sramecc+:xnack-");
  strcpy(d.opencl_c_version, nvidia ? "OpenCL C 1.2" : "OpenCL C 2.0");
  strcpy(d.extensions, nvidia ? "cl_khr_global_int32_base_atomics cl_khr_fp64 cl_khr_byte_addressable_store "
                                "cl_khr_3d_image_writes cl_nv_compiler_options cl_nv_device_attribute_query"
                              : "cl_khr_fp64 cl_khr_fp16 cl_khr_global_int32_base_atomics cl_khr_byte_addressable_store "
                                "cl_khr_3d_image_writes cl_khr_subgroups cl_amd_device_attribute_query");
  return d;
}

static void append_plan(json_t *list, const clt_plan *plan, const char *text) {
  json_array_append_new(
      list, json_pack("{s:s, s:s, s:s}", "configuration", text, "options", plan->options, "source", plan->source));
}

static int append_configuration(json_t *list, const clt_instance *instance, clt_config config, clt_error *error) {
  clt_plan *plan = NULL;
  char text[1024];
  const int rc = clt_plan_new(&plan, instance, config, error);
  if (rc != CLT_OK) return rc;
  clt_config_print(text, sizeof text, clt_instance_space(instance), config);
  append_plan(list, plan, text);
  clt_plan_free(plan);
  return CLT_OK;
}

static int append_all(json_t *list, const clt_instance *instance, size_t n, clt_error *error) {
  const clt_space *space = clt_instance_space(instance);
  clt_config *configs = malloc(n * sizeof *configs);
  clt_plan *reference = NULL;
  clt_rng rng;
  clt_rng_init(&rng, 20);
  const int64_t got = configs ? clt_space_sample(configs, space, &rng, n, error) : CLT_E_MEMORY;
  int rc = got < 0 ? (int)got : CLT_OK;
  if (rc == CLT_OK && clt_space_contains(space, clt_instance_default(instance)))
    rc = append_configuration(list, instance, clt_instance_default(instance), error);
  for (int64_t i = 0; rc == CLT_OK && i < got; i++) rc = append_configuration(list, instance, configs[i], error);
  free(configs);
  if (rc != CLT_OK) return rc;
  rc = clt_plan_new_reference(&reference, instance, error);
  if (rc == CLT_OK) append_plan(list, reference, "reference");
  clt_plan_free(reference);
  return rc == CLT_E_NOT_FOUND ? CLT_OK : rc;
}

int main(int argc, char **argv) {
  const bool nvidia = argc == 4 && strcmp(argv[3], "nvidia") == 0;
  const long n = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
  if (n < 1 || (!nvidia && strcmp(argv[3], "amd") != 0))
    return fprintf(stderr, "usage: %s PROBLEM N nvidia|amd\n", argv[0]), 2;
  const clt_device_info device = describe_gpu(nvidia);
  clt_problem *problem = NULL;
  clt_instance *instance = NULL;
  clt_error error = {0};
  json_t *list = json_array();
  int rc = clt_problem_new(&problem, argv[1], &error);
  if (rc == CLT_OK) rc = clt_instance_new(&instance, problem, NULL, 0, &device, &error);
  if (rc == CLT_OK) rc = append_all(list, instance, (size_t)n, &error);
  if (rc == CLT_OK) json_dumpf(list, stdout, JSON_COMPACT);
  if (rc != CLT_OK) fprintf(stderr, "%s: %s\n", argv[1], error.message);
  json_decref(list);
  clt_instance_free(instance);
  clt_problem_free(problem);
  return rc != CLT_OK;
}
