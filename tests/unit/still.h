/* still.h - for tests of surrogates made of networks: a trainer that trains nothing. It notes what each job asks for,
   and its networks predict what the test says. */
#ifndef STILL_H
#define STILL_H

#include "toy.h"

#include <tutti/tutti.h>

enum { STILL_JOBS = 1200, STILL_ROWS = 16, STILL_LABELS = 8 };

/* What one training was asked for. */
struct still_job {
  const tutti_network *network; /* for as long as the surrogate keeps it */
  uint64_t seed;
  double l2; /* of the trainer's config */
  size_t rows;
  float inputs[STILL_ROWS], targets[STILL_ROWS]; /* the first feature of each row */
  bool boxed;
  float low, high;                 /* of the box, in the first feature */
  const struct still_job *initial; /* whose weights it starts from; NULL: they are drawn */
  const char *frozen[STILL_LABELS];
  size_t frozen_count;
};

struct still {
  size_t count;
  struct still_job jobs[STILL_JOBS];
  uint64_t refused; /* a job of this seed diverges; 0: none */
  float asked;      /* the first input of the last question */
  /* What the network of that job predicts at an input; NULL: its seed, modulo 1000. */
  double (*mean)(const struct still_job *job, float input);
};

/* Register the trainer in the toy's context, put it into the section "trainer", and begin to note. The variance that it
   predicts is 0.25; with dropout, the mean is 10 times the number of the draw more. */
struct still *still_put(struct toy *toy);

#endif
