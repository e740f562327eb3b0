/* abi.h - version of the interface between the host and plugins. Major: incompatible; minor: additions at the end. */
#ifndef TUTTI_ABI_H
#define TUTTI_ABI_H
#define TUTTI_ABI_MAJOR 2
#define TUTTI_ABI_MINOR 0
#endif
