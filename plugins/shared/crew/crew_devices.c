/* crew_devices.c - the devices that workers share out. */
#include "crew.h"

#include <string.h>

enum tutti_status crew_devices_read(tutti_context *context, const char *text, struct crew_devices *devices) {
  char *rest = NULL;
  *devices = (struct crew_devices){.count = 0};
  TUTTI_TRY(context, tutti_strdup(context, text, &devices->text));
  for (char *name = strtok_r(devices->text, " ,", &rest); name; name = strtok_r(NULL, " ,", &rest)) {
    if (devices->count == CREW_DEVICES)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[executor] devices: expected at most %d", (int)CREW_DEVICES);
    devices->names[devices->count++] = name;
  }
  return TUTTI_OK;
}

void crew_devices_release(struct crew_devices *devices) { tutti_free(devices->text); }
