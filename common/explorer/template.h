/*
 * The page of --explain and of `make explorer`: page.html with its style and its scripts put in (assemble.py). The
 * data of a run, one JSON object, goes between the two parts.
 */
#ifndef EXPLORER_TEMPLATE_H
#define EXPLORER_TEMPLATE_H

extern const char explorer_template[], explorer_template_data[], explorer_template_end[];

#endif
