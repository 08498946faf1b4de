/* Which call device code is about to do. Apart from shared memory, whose alignment would make 256 bytes
 * of it. */
#include "program/program.h"

__thread const struct sim_site *sim_call_site __attribute__((tls_model("local-exec")));
