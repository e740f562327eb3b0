/* fiber.h - a fiber: a stack of its own, on which a function runs until it lets another go on. */
#ifndef EMULATED_FIBER_H
#define EMULATED_FIBER_H

#include <stdbool.h>
#include <stddef.h>

struct fiber {
  void *stack, *place; /* the lowest address; what the switch needs */
  size_t size;
  void (*run)(void *argument);
  void *argument;
  bool ended;
};

/* Fibers whose stacks lie in one block, from `stacks` on. */
enum { FIBER_STACK = 1 << 16 };
/* Make a fiber that will run run(argument) on the stack. */
void fiber_begin(struct fiber *fiber, void *stack, void (*run)(void *argument), void *argument);
/* Go on with a fiber until it calls fiber_leave, or ends. */
void fiber_enter(struct fiber *fiber);
/* Called by a fiber: back to who entered it. */
void fiber_leave(struct fiber *fiber);

#endif
