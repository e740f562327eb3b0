/* worker.c - a worker to try executors with. Its requests say what it does: echo it, report progress first, wait to be
   stopped, crash, end, hang; the request of a worker started to fail is never read. */
#include "conform.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/protocol.h>
#include <unistd.h>

/* Wait a second to be stopped, and answer with the text of that, or with the request's. */
static enum tutti_status wait_for_stop(tutti_context *context, tutti_frames *frames,
                                       const struct tutti_frame *request) {
  struct pollfd more = {.fd = STDIN_FILENO, .events = POLLIN};
  struct tutti_frame frame = {.text = NULL};
  bool whole = false, ended;
  TUTTI_TRY(context, tutti_frame_write(context, STDIN_FILENO, TUTTI_FRAME_PROGRESS, request->trial, "begun"));
  if (poll(&more, 1, 1000) > 0) {
    TUTTI_TRY(context, tutti_frames_fill(context, frames, STDIN_FILENO, &ended));
    TUTTI_TRY(context, tutti_frames_take(context, frames, &frame, &whole));
  }
  bool stopped = whole && frame.kind == TUTTI_FRAME_STOP && frame.trial == request->trial;
  enum tutti_status status =
      tutti_frame_write(context, STDIN_FILENO, TUTTI_FRAME_DONE, request->trial, stopped ? frame.text : request->text);
  tutti_free(frame.text);
  return status;
}

static enum tutti_status answer(tutti_context *context, tutti_frames *frames, const struct tutti_frame *request) {
  if (strcmp(request->text, "wait to be stopped") == 0)
    return wait_for_stop(context, frames, request);
  if (strcmp(request->text, "crash") == 0)
    abort();
  if (strcmp(request->text, "end") == 0)
    _exit(0);
  while (strcmp(request->text, "hang") == 0)
    (void)pause();
  if (strncmp(request->text, "nap", 3) == 0)
    (void)usleep(100000);
  if (strncmp(request->text, "progress", 8) == 0)
    TUTTI_TRY(context, tutti_frame_write(context, STDIN_FILENO, TUTTI_FRAME_PROGRESS, request->trial, "half"));
  return tutti_frame_write(context, STDIN_FILENO, TUTTI_FRAME_DONE, request->trial, request->text);
}

static enum tutti_status serve(tutti_context *context, tutti_frames *frames) {
  bool ended = false;
  if (getenv("TUTTI_CONFORM_FATAL"))
    return tutti_frame_write(context, STDIN_FILENO, TUTTI_FRAME_FATAL, 0, "usage: nothing works in this worker");
  TUTTI_TRY(context, tutti_frame_write(context, STDIN_FILENO, TUTTI_FRAME_READY, 0, ""));
  while (!ended) {
    bool whole = true;
    struct tutti_frame frame;
    TUTTI_TRY(context, tutti_frames_fill(context, frames, STDIN_FILENO, &ended));
    for (;;) {
      TUTTI_TRY(context, tutti_frames_take(context, frames, &frame, &whole));
      if (!whole)
        break;
      enum tutti_status status = frame.kind == TUTTI_FRAME_REQUEST ? answer(context, frames, &frame) : TUTTI_OK;
      tutti_free(frame.text);
      TUTTI_TRY(context, status);
    }
  }
  return TUTTI_OK;
}

int conform_worker(void) {
  tutti_context *context;
  tutti_frames *frames = NULL;
  if (tutti_context_create(&context) != TUTTI_OK)
    return 1;
  enum tutti_status status = tutti_frames_create(context, &frames);
  if (status == TUTTI_OK)
    status = serve(context, frames);
  tutti_frames_destroy(frames);
  tutti_context_destroy(context);
  return status == TUTTI_OK ? 0 : 1;
}
