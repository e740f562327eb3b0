/* link.h - what executor mpi needs of MPI. It stands in a module of its own, which is loaded when the executor is used:
   so Tutti runs, and lists its plugins, where no MPI is. */
#ifndef EXECUTOR_MPI_LINK_H
#define EXECUTOR_MPI_LINK_H

#include <stdbool.h>
#include <stddef.h>

/* Messages are bytes with a tag. Every function returns what MPI returns: 0 is success, and explain() says the rest. */
struct mpi_link {
  /* Begin, unless this process has begun; *began says whether it was this call, which `end` belongs to then. */
  int (*begin)(bool *began, int *rank, int *size);
  int (*end)(void);
  /* Begin to send bytes, which are borrowed until they are sent: *sending, NULL if that is already so. */
  int (*send)(int rank, int tag, const void *bytes, size_t size, void **sending);
  /* Are they now? Then `sending` is gone. */
  int (*sent)(void *sending, bool *done);
  /* Has a message come? Of whom, which and how long: receive it then. */
  int (*probe)(bool *come, int *rank, int *tag, size_t *size);
  int (*receive)(int rank, int tag, void *bytes, size_t size);
  void (*explain)(int error, char *text, size_t size); /* a text of at least 1 byte */
  void (*library)(char *text, size_t size);            /* whose MPI it is, and its version */
};

/* The symbol of the module that gives them. */
#define MPI_LINK_SYMBOL "tutti_mpi_link"
typedef const struct mpi_link *mpi_link_function(void);

#endif
