/* kinds.h - for tests of the kinds' wrappers: a host with the running test's plugins, and what all of them need. */
#ifndef KINDS_H
#define KINDS_H

#include "toy.h"

/* The host of the running test. */
extern struct toy toy;

/* A plugin of the test without parameters; `self` is the setup it was created with, behind one pointer. */
#define KINDS_PLUGIN(kind_, name_, ops_)                                                                               \
  {                                                                                                                    \
    TUTTI_DESCRIPTOR_HEAD(kind_, name_), .version = "1", .summary = "a test's", .source = "", .licence = "Apache-2.0", \
                                         .params = TUTTI_NO_PARAMS, .create = kinds_create, .destroy = tutti_free,     \
                                         .ops = ops_                                                                   \
  }
enum tutti_status kinds_create(tutti_context *context, const void *config, const void *setup, void **self);

/* Open the host with these plugins and a space of graphs (kinds_close ends it). */
void kinds_open(const struct tutti_descriptor *plugins, size_t count);
int kinds_close(void **state);

/* The candidate of the toy's space with this depth; the caller's. */
tutti_candidate *kinds_candidate(int depth);

/* Fail the running test unless `status` is `expected` and the message has `message` in it. */
void kinds_must_fail(enum tutti_status status, enum tutti_status expected, const char *message);

#endif
