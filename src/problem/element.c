#include <string.h>

#include "problem/plan.h"

static const struct {
  const char *name;
  clt_element_base base;
} bases[] = {
    {"char", CLT_ELEMENT_CHAR},
    {"uchar", CLT_ELEMENT_UCHAR},
    {"short", CLT_ELEMENT_SHORT},
    {"ushort", CLT_ELEMENT_USHORT},
    {"int", CLT_ELEMENT_INT},
    {"uint", CLT_ELEMENT_UINT},
    {"long", CLT_ELEMENT_LONG},
    {"ulong", CLT_ELEMENT_ULONG},
    {"half", CLT_ELEMENT_HALF},
    {"float", CLT_ELEMENT_FLOAT},
    {"double", CLT_ELEMENT_DOUBLE},
    {"unsigned char", CLT_ELEMENT_UCHAR},
    {"unsigned short", CLT_ELEMENT_USHORT},
    {"unsigned int", CLT_ELEMENT_UINT},
    {"unsigned long", CLT_ELEMENT_ULONG},
};

static const char *const component_suffixes[] = {"", "2", "3", "4", "8", "16"};
static const int component_counts[] = {1, 2, 3, 4, 8, 16};

size_t clt_element_base_bytes(clt_element_base base) {
  switch (base) {
    case CLT_ELEMENT_CHAR:
    case CLT_ELEMENT_UCHAR: return 1;
    case CLT_ELEMENT_SHORT:
    case CLT_ELEMENT_USHORT:
    case CLT_ELEMENT_HALF: return 2;
    case CLT_ELEMENT_INT:
    case CLT_ELEMENT_UINT:
    case CLT_ELEMENT_FLOAT: return 4;
    case CLT_ELEMENT_LONG:
    case CLT_ELEMENT_ULONG:
    case CLT_ELEMENT_DOUBLE: return 8;
  }
  return 0;
}

static int components_of(const char *suffix) {
  for (size_t i = 0; i < sizeof component_counts / sizeof *component_counts; i++)
    if (strcmp(suffix, component_suffixes[i]) == 0) return component_counts[i];
  return 0;
}

int clt_element_parse(clt_element *out, const char *name) {
  for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
    size_t length = strlen(bases[i].name);
    if (strncmp(name, bases[i].name, length) != 0) continue;
    int components = components_of(name + length);
    if (components == 0) continue;
    size_t stored = components == 3 ? 4 : (size_t)components;
    *out = (clt_element){bases[i].base, components, stored * clt_element_base_bytes(bases[i].base)};
    return CLT_OK;
  }
  return CLT_E_FORMAT;
}
