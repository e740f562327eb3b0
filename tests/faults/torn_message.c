/* torn_message.c - loaded before a program (LD_PRELOAD), it changes a byte of one of its messages over MPI: of number
   TUTTI_TEAR (from 1) of those that have the tag TUTTI_TEAR_TAG. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) int MPI_Isend(const void *bytes, int count, MPI_Datatype type, int rank, int tag,
                                                     MPI_Comm comm, MPI_Request *request);

static int number_in(const char *name) {
  const char *text = getenv(name);
  return text ? atoi(text) : -1;
}

int MPI_Isend(const void *bytes, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request *request) {
  static int seen;
  static char *copy; /* MPI may look at it until it is sent */
  if (tag != number_in("TUTTI_TEAR_TAG") || ++seen != number_in("TUTTI_TEAR") || !(copy = malloc((size_t)count)))
    return PMPI_Isend(bytes, count, type, rank, tag, comm, request);
  memcpy(copy, bytes, (size_t)count);
  copy[count - 1] ^= 1;
  return PMPI_Isend(copy, count, type, rank, tag, comm, request);
}
