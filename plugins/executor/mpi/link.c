/* link.c - the module that is linked with MPI. */
#include "link.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
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

static int sent(void *sending, bool *done) {
  int flag = 0, error = MPI_Test(sending, &flag, MPI_STATUS_IGNORE);
  *done = error == MPI_SUCCESS && flag;
  if (*done)
    free(sending);
  return error;
}

static int send_bytes(int rank, int tag, const void *bytes, size_t size, void **sending) {
  bool done = false;
  *sending = NULL;
  MPI_Request *request = size > INT_MAX ? NULL : malloc(sizeof(MPI_Request));
  if (!request)
    return size > INT_MAX ? MPI_ERR_COUNT : MPI_ERR_NO_MEM;
  int error = MPI_Isend(bytes, (int)size, MPI_BYTE, rank, tag, MPI_COMM_WORLD, request);
  if (error != MPI_SUCCESS) {
    free(request);
    return error;
  }
  *sending = request;
  error = sent(request, &done);
  if (done)
    *sending = NULL;
  return error;
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

/* The first line, up to a comma: what follows is about how it was built. */
static void library(char *text, size_t size) {
  char said[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  if (MPI_Get_library_version(said, &length) != MPI_SUCCESS)
    said[0] = '\0';
  said[strcspn(said, ",\n")] = '\0';
  for (char *tab = said; (tab = strchr(tab, '\t'));)
    *tab = ' ';
  (void)snprintf(text, size, "%s", said[0] ? said : "an MPI that does not say which");
}

__attribute__((visibility("default"))) const struct mpi_link *tutti_mpi_link(void);

const struct mpi_link *tutti_mpi_link(void) {
  static const struct mpi_link functions = {.begin = begin,
                                            .end = end,
                                            .send = send_bytes,
                                            .sent = sent,
                                            .probe = probe,
                                            .receive = receive,
                                            .explain = explain,
                                            .library = library};
  return &functions;
}
