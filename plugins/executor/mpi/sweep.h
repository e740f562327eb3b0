/* sweep.h - removes folders of agents, by descriptors: what others put in their place meanwhile is not followed. */
#ifndef EXECUTOR_MPI_SWEEP_H
#define EXECUTOR_MPI_SWEEP_H

/* The file in an agent's folder that is locked as long as the folder is in use. */
#define SWEEP_LOCK "lock"

/* Remove a folder with all that is in it, its lock last, so that one which is half removed can be told from one that is
   being made. Nothing happens to a link. */
void sweep_folder(const char *path);
/* Remove the folders in `parent` whose names are `prefix` and six letters, that belong to this user and nobody else can
   write, and whose lock nobody holds; without a lock, those of an hour ago. */
void sweep_behind(const char *parent, const char *prefix);

#endif
