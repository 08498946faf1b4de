/* Text that others wrote: which of its bytes are UTF-8. */
#ifndef SUPPORT_TEXT_H
#define SUPPORT_TEXT_H

#include <stddef.h>

/* Bytes of the character that `text` begins with, 1 to 4; 0 where its bytes are no UTF-8 (RFC 3629). */
size_t utf8_length(const char *text);

#endif
