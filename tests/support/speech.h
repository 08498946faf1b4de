/* Of the programs that speak with --prompt: chapters 07 and 08. */
#ifndef SUPPORT_SPEECH_H
#define SUPPORT_SPEECH_H

#include <cjson/cJSON.h>

#define TINY_FILE TEST_ROOT "/tests/data/tiny_model/tiny.bin" /* committed; speaks nonsense */
#define REAL_FILE TEST_ROOT "/models/SmolLM2-135M-Instruct.Q4_1.bin"

/* Runs `program` on a model with `prompt` as one argument and the options in `line`; verified. The JSON object. */
cJSON *speech_of(const char *program, const char *model, const char *prompt, const char *line, double timeout_s);

/* The ids of an answer with a blank between. */
char *ids_of(const cJSON *json);

/* The real model's file: what the variable names, else REAL_FILE; a test that has none is skipped, and says so. */
const char *real_model(const char *variable);

/* A copy of the tiny model that takes so many tokens, in the test's scratch directory. */
const char *tiny_model_with_context(unsigned positions);

#endif
