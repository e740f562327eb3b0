/* exports.c - the symbols that a plugin's file gives to others, read from its dynamic section in memory. */
#include "conform.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

struct symbols {
  const ElfW(Sym) * all;
  const char *names;
  const uint32_t *gnu_hash;
  const ElfW(Word) * hash;
};

/* Some systems leave offsets from the file's beginning in the dynamic section. */
static const void *address(const struct link_map *map, ElfW(Addr) value) {
  return (const void *)(uintptr_t)(value < map->l_addr ? map->l_addr + value : value);
}

static struct symbols symbols_of(const struct link_map *map) {
  struct symbols symbols = {0};
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
    const void *place = address(map, entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB)
      symbols.all = place;
    else if (entry->d_tag == DT_STRTAB)
      symbols.names = place;
    else if (entry->d_tag == DT_GNU_HASH)
      symbols.gnu_hash = place;
    else if (entry->d_tag == DT_HASH)
      symbols.hash = place;
  }
  return symbols;
}

/* The number of symbols: as the old table says, or by the last chain of the new one, whose end has its lowest bit
   set. */
static size_t symbol_count(const struct symbols *symbols) {
  if (symbols->hash)
    return symbols->hash[1];
  if (!symbols->gnu_hash)
    return 0;
  uint32_t buckets = symbols->gnu_hash[0], first = symbols->gnu_hash[1], words = symbols->gnu_hash[2], last = 0;
  const uint32_t *bucket = symbols->gnu_hash + 4 + (size_t)words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t *chain = bucket + buckets;
  for (uint32_t i = 0; i < buckets; i++)
    last = bucket[i] > last ? bucket[i] : last;
  if (last < first)
    return first;
  while (!(chain[last - first] & 1))
    last++;
  return (size_t)last + 1;
}

/* Weak symbols are inline functions of C++, which every file has that uses them; a linker adds a few of its own. */
static bool is_exported(const ElfW(Sym) * symbol, const char *name) {
  static const char *const linkers[] = {"_init", "_fini", "_edata", "_end", "__bss_start", "tutti_plugin"};
  if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || (symbol->st_info >> 4) != STB_GLOBAL ||
      (symbol->st_other & 3) > STV_DEFAULT)
    return false;
  for (size_t i = 0; i < sizeof linkers / sizeof linkers[0]; i++)
    if (strcmp(name, linkers[i]) == 0)
      return false;
  return true;
}

/* Others' symbols in a process may stand in for those that a plugin means, and the other way round. */
void conform_exports(struct conform *conform) {
  Dl_info info;
  struct link_map *map = NULL;
  char found[256] = "";
  size_t more = 0;
  if (!dladdr1(conform->descriptor, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || !map->l_name[0])
    conform_skip(conform, "it is no file of its own");
  struct symbols symbols = symbols_of(map);
  for (size_t i = 0; i < symbol_count(&symbols); i++) {
    const char *name = symbols.names + symbols.all[i].st_name;
    size_t used = strlen(found);
    if (!is_exported(&symbols.all[i], name))
      continue;
    if (used + strlen(name) + 3 < sizeof found)
      (void)snprintf(found + used, sizeof found - used, "%s%s", used ? ", " : "", name);
    else
      more++;
  }
  if (more)
    conform_fail(conform, "it exports %s and %zu more; hide them (-fvisibility=hidden)", found, more);
  REQUIRE(conform, !found[0], "it exports %s; hide what is not tutti_plugin (-fvisibility=hidden)", found);
}
