/* simulated.h - for tests of runs without processes and without training: backend "simulated", whose results are a
   function of the candidate, and which notes what it is asked for; executor "simulated", which answers when and how the
   test wants; and an empty folder for each test. */
#ifndef SIMULATED_H
#define SIMULATED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <tutti/tutti.h>

enum { SIMULATED_MOST = 256 };

/* What a backend or an executor is to do, and what it was asked for; the test clears it. */
struct simulated {
  /* Of the backend: how it trains the trial of this number, and the jobs that it got, in their order. */
  enum tutti_status (*train)(tutti_context *context, const struct tutti_job *job, struct tutti_outcome *outcome);
  size_t capacity;
  struct simulated_job {
    uint64_t trial, seed, run_seed;
    double x;
    char train[32], validation[32];
    size_t train_rows, validation_rows, together; /* together: jobs of the same call */
    float first_target, first_validation;         /* of the first row */
  } jobs[SIMULATED_MOST];
  size_t job_count;
  bool queue; /* recipes name backend simulated-queue, whose first job trains until all that come after it are done */
  size_t wanted;   /* how many these are */
  bool lost;       /* it then loses its device */
  uint32_t epochs; /* that are reported */
  float variance;  /* of predictions, in standardised units */
  /* Of the executor: what it was made with, what it got, and what it does when it is waited for. */
  size_t workers;
  double trial_timeout;
  uint64_t memory_limit;
  char command[4][256];
  uint64_t trials[SIMULATED_MOST];
  char *requests[SIMULATED_MOST];
  size_t submitted, answered, waits;
  enum tutti_status (*wait)(tutti_context *context, struct tutti_reply *reply);
};
extern struct simulated simulated;

/* The mean that the backend predicts for all rows of a split, in standardised units: with hyperparameter x, it is right
   where x is. Splits differ, so that none can be taken for another. */
float simulated_mean(double x, const char *split);

/* A folder of its own and a context with both plugins, for cmocka; simulated is cleared. */
int simulated_begin(void **state);
int simulated_end(void **state);
/* Make both plugins known to simulated_context, where a test has made another one. */
void simulated_register(void);
extern tutti_context *simulated_context;

void simulated_write(const char *path, const char *text);
/* A table of 24 rows, x and y, in table.csv; y is far from 0 and not of unit variance. Rows 0 to 11 are for training,
   12 to 17 for validation, 18 to 23 for the test. */
void simulated_table(void);
/* A recipe of these plugins on the table, or without data; `more` is put after it. */
const char *simulated_recipe(bool data, const char *more);
tutti_recipe *simulated_load(const char *text);
/* A reply as a worker gives it, of a trial without data. */
char *simulated_reply(tutti_context *context, double loss);
#define SIMULATED_OK(expression) simulated_ok((expression), #expression, __FILE__, __LINE__)
void simulated_ok(enum tutti_status status, const char *what, const char *file, int line);

#endif
