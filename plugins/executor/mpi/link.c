/* link.c - the module that is linked with MPI. */
#include "link.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int begin(bool *began, int *rank, int *size) {
  int there = 0, error = MPI_Initialized(&there);
  *began = false;
  if (error == MPI_SUCCESS && !there) {
    error = MPI_Init(NULL, NULL);
    *began = error == MPI_SUCCESS;
  }
  if (error == MPI_SUCCESS)
    error = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (error == MPI_SUCCESS)
    error = MPI_Comm_rank(MPI_COMM_WORLD, rank);
  return error == MPI_SUCCESS ? MPI_Comm_size(MPI_COMM_WORLD, size) : error;
}

static int end(void) { return MPI_Finalize(); }

static int send_bytes(int rank, int tag, const void *bytes, size_t size) {
  if (size > INT_MAX)
    return MPI_ERR_COUNT;
  return MPI_Send(bytes, (int)size, MPI_BYTE, rank, tag, MPI_COMM_WORLD);
}

static int probe(bool *come, int *rank, int *tag, size_t *size) {
  MPI_Status status;
  int flag = 0, count = 0;
  int error = MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
  *come = error == MPI_SUCCESS && flag;
  if (!*come)
    return error;
  error = MPI_Get_count(&status, MPI_BYTE, &count);
  *rank = status.MPI_SOURCE;
  *tag = status.MPI_TAG;
  *size = (size_t)count;
  return error;
}

static int receive(int rank, int tag, void *bytes, size_t size) {
  return MPI_Recv(bytes, (int)size, MPI_BYTE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void explain(int error, char *text, size_t size) {
  char said[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(error, said, &length) != MPI_SUCCESS)
    (void)snprintf(said, sizeof said, "error %d", error);
  (void)snprintf(text, size, "%s", said);
}

__attribute__((visibility("default"))) const struct mpi_link *tutti_mpi_link(void);

const struct mpi_link *tutti_mpi_link(void) {
  static const struct mpi_link functions = {
      .begin = begin, .end = end, .send = send_bytes, .probe = probe, .receive = receive, .explain = explain};
  return &functions;
}
