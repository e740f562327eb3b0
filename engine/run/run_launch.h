/* run_launch.h - was this process started together with others, by mpirun or srun? */
#ifndef TUTTI_RUN_LAUNCH_H
#define TUTTI_RUN_LAUNCH_H

struct tutti_launch {
  const char *by; /* the program that did so */
  int rank, size; /* this one is `rank` of `size`, from 0 */
};

/* By what Open MPI, MPICH and SLURM leave in the environment; size is 1 where a process is alone. */
struct tutti_launch tutti_launch_look(void);

#endif
