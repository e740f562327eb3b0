/* other_processor.c - loaded before a program (LD_PRELOAD), it makes the processor one without vector instructions, by
   what is asked of it. */
#include <tutti/cpu.h>

__attribute__((visibility("default"))) enum tutti_cpu tutti_cpu_detect(void) { return TUTTI_CPU_BASELINE; }
