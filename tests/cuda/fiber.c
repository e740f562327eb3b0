/* fiber.c - fibers by a few instructions on x86-64, by ucontext elsewhere: ucontext asks the system to switch, which
   would cost more than what most threads do between two barriers. */
#include "fiber.h"

#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

/* Where the thread of the host goes on. */
static __thread void *host_place;
static __thread struct fiber *entered;

#if defined(__SANITIZE_ADDRESS__)
static __thread void *host_fake;
static __thread const void *host_stack;
static __thread size_t host_size;
#endif

static void fiber_main(void) {
  struct fiber *fiber = entered;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(NULL, &host_stack, &host_size);
#endif
  fiber->run(fiber->argument);
  fiber->ended = true;
  for (;;)
    fiber_leave(fiber);
}

#if defined(__x86_64__)

/* Keep the registers that a function has to, on the stack; go on where another stack kept them. */
void emulated_switch(void **from, void *to);
__asm__(".text\n"
        ".globl emulated_switch\n"
        ".hidden emulated_switch\n"
        ".type emulated_switch,@function\n"
        "emulated_switch:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n"
        ".size emulated_switch,.-emulated_switch\n");

static void begin(struct fiber *fiber) {
  uintptr_t top = ((uintptr_t)fiber->stack + fiber->size - 128) / 16 * 16;
  void **words = (void **)top;
  for (int i = 0; i < 6; i++)
    words[i] = NULL;
  words[6] = (void *)(uintptr_t)fiber_main;
  fiber->place = words;
}
static void switch_to_fiber(struct fiber *fiber) { emulated_switch(&host_place, fiber->place); }
static void switch_to_host(struct fiber *fiber) { emulated_switch(&fiber->place, host_place); }

#else

#include <stdlib.h>
#include <ucontext.h>

static __thread ucontext_t host;

static void begin(struct fiber *fiber) {
  ucontext_t *context = (ucontext_t *)fiber->stack; /* at its low end, where a stack never comes */
  getcontext(context);
  context->uc_stack.ss_sp = (char *)fiber->stack + sizeof *context;
  context->uc_stack.ss_size = fiber->size - sizeof *context;
  context->uc_link = NULL;
  makecontext(context, fiber_main, 0);
  fiber->place = context;
}
static void switch_to_fiber(struct fiber *fiber) {
  host_place = &host;
  swapcontext(&host, (ucontext_t *)fiber->place);
}
static void switch_to_host(struct fiber *fiber) { swapcontext((ucontext_t *)fiber->place, &host); }

#endif

void fiber_begin(struct fiber *fiber, void *stack, void (*run)(void *argument), void *argument) {
  *fiber = (struct fiber){.stack = stack, .size = FIBER_STACK, .run = run, .argument = argument};
  begin(fiber);
}

void fiber_enter(struct fiber *fiber) {
  entered = fiber;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&host_fake, fiber->stack, fiber->size);
#endif
  switch_to_fiber(fiber);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(host_fake, NULL, NULL);
#endif
}

void fiber_leave(struct fiber *fiber) {
#if defined(__SANITIZE_ADDRESS__)
  void *fake = NULL;
  __sanitizer_start_switch_fiber(fiber->ended ? NULL : &fake, host_stack, host_size);
#endif
  switch_to_host(fiber);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake, &host_stack, &host_size);
#endif
}
