/* Pages in a browser without a window (browser.pl), for tests. Without Chromium the running test is skipped. */
#ifndef EXPLORER_BROWSER_H
#define EXPLORER_BROWSER_H

#include <cjson/cJSON.h>

/* What `make explorer` makes, of this build. */
#define EXPLORER_PAGE TEST_BUILD "/explorer/explorer.html"

/*
 * Opens a page (a path, #hash after it if need be), does the actions and returns the array of what eval: gave, freed
 * by the caller. `options` are browser.pl's, separated by spaces. The test fails if the page asked for any address or
 * wrote a warning, an error or an exception to the console.
 */
cJSON *browse(const char *options, const char *page, const char *const actions[]);

/* Element i of the results. */
double result_number(const cJSON *results, int i);
const char *result_string(const cJSON *results, int i);

#endif
