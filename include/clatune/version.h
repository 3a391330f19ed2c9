/* clatune/version.h - the version of the library, at compile time and at run time.
 *
 * Within a soversion (libclatune.so.0), functions and members are only added. For the preprocessor:
 *
 *     #if CLT_VERSION_NUMBER >= 200 // from 0.2.0 on
 */
#ifndef CLATUNE_VERSION_H
#define CLATUNE_VERSION_H

#define CLT_VERSION "0.2.0"
#define CLT_VERSION_NUMBER 200 /* 10000 * major + 100 * minor + patch */

#ifdef __cplusplus
extern "C" {
#endif
const char *clt_version(void); /* CLT_VERSION of the library that the program runs with */
#ifdef __cplusplus
}
#endif
#endif
