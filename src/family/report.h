/* family/report.h - common parts of the files of 'clatune family'. */
#ifndef CLT_FAMILY_REPORT_H
#define CLT_FAMILY_REPORT_H

#include "cli/cli.h"
#include "family/train.h"

/* A family, a device and the store. */
typedef struct family_subject {
  clt_family *family;
  cli_subject subject; /* of the first variant's problem: for the device */
  clt_store *store;
  clt_family_table table;
  clt_family_training training;
  size_t portfolio;
  double uses;
  clt_family_devices devices; /* of --sources */
  clt_family_across across;   /* train --sources */
} family_subject;

/* report: compares the choosers on the device's own measurements, and prints a table. With --sources: judges, for each
 * device, a model trained on the others. Return an exit code. */
int family_report(const family_subject *subject, const cli_arguments *arguments);
int family_report_across(const family_subject *subject, const cli_arguments *arguments);

/* Prints the device features that the model uses, and the nearest other device. */
void family_print_across(const family_subject *subject, size_t device);

#endif
