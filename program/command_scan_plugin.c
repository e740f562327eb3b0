/* command_scan_plugin.c - tutti scan-plugin: describes a plugin, in a process of its own that the plugin may crash. */
#include "program_impl.h"

static int run_scan_plugin(tutti_context *context, const struct texts *operands, const void *options) {
  (void)options;
  return tutti_plugin_scan_child(context, operands->items[0], 1);
}

const struct command command_scan_plugin = {
    .name = "scan-plugin",
    .summary = "load a plugin and say what it is",
    .about = "Load a plugin and say what it is, for the process that asks.",
    .operands = {.synopsis = "FILE", .wanted = "a file (plugins are scanned by tutti list)", .least = 1, .most = 1},
    .run = run_scan_plugin,
    .internal = true,
};
