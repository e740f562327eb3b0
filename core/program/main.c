/* main.c - the tutti program. */
#include <argp.h>

const char *argp_program_version = "tutti 0.1.0";

int main(int argc, char **argv) {
  static const struct argp options = {.doc = "Tutti builds ensembles of neural networks."};
  return argp_parse(&options, argc, argv, 0, NULL, NULL) == 0 ? 0 : 2;
}
