/* What the suites of the simulated device share: where its programs are. */
#ifndef SUPPORT_SUITE_H
#define SUPPORT_SUITE_H

#include <stddef.h>

/* Names of the programs in tests/sim/<folder>: NAME.cu, or directories; sorted, NULL ends. */
char **list_programs(const char *folder);

#endif
