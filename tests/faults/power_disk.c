/* power_disk.c - from a record of writes, syncs and names to what a disk may show. */
#include "power_disk.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tutti/random.h>
#include <unistd.h>

enum { SECTOR = 512, PATH_SIZE = 1024 };

const char *const power_loss_names[POWER_LOSSES] = {"nothing", "empty", "zeros", "no rename", "torn", "chance"};

static void *need(void *memory) {
  if (!memory) {
    (void)fputs("power: out of memory\n", stderr);
    exit(1);
  }
  return memory;
}

/* --- the log --- */

static char *copy_text(const unsigned char *bytes, size_t length) {
  char *text = need(calloc(length + 1, 1));
  memcpy(text, bytes, length);
  return text;
}

void power_read(const char *path, struct power_history *history) {
  struct stat facts;
  *history = (struct power_history){0};
  FILE *file = fopen(path, "rb");
  if (!file || fstat(fileno(file), &facts) != 0) {
    (void)fprintf(stderr, "power: cannot read %s\n", path);
    exit(1);
  }
  size_t bytes = (size_t)facts.st_size, room = 0;
  history->bytes = need(malloc(bytes + 1));
  bytes = fread(history->bytes, 1, bytes, file);
  (void)fclose(file);
  for (size_t at = 0; at + sizeof(struct power_record) <= bytes;) {
    if (history->count == room) {
      room = room * 2 + 1024;
      history->entries = need(realloc(history->entries, room * sizeof *history->entries));
    }
    struct power_entry *entry = &history->entries[history->count];
    memcpy(&entry->head, history->bytes + at, sizeof entry->head);
    at += sizeof entry->head;
    size_t length = (size_t)entry->head.path + entry->head.second + entry->head.data;
    if (entry->head.kind >= POWER_KINDS || length > bytes - at)
      break; /* a killed process was at it */
    entry->path = copy_text(history->bytes + at, entry->head.path);
    entry->second = copy_text(history->bytes + at + entry->head.path, entry->head.second);
    entry->data = history->bytes + at + entry->head.path + entry->head.second;
    at += length;
    history->count++;
  }
}

void power_release(struct power_history *history) {
  for (size_t i = 0; i < history->count; i++) {
    free(history->entries[i].path);
    free(history->entries[i].second);
  }
  free(history->entries);
  free(history->bytes);
  *history = (struct power_history){0};
}

/* --- files and names --- */

struct file {
  unsigned char *bytes;
  size_t size, room;
};

/* A name and the file behind it; a folder has none. */
struct name {
  char path[PATH_SIZE];
  struct file *file;
};

struct disk {
  struct name *names;
  size_t count, room;
};

static struct name *find(struct disk *disk, const char *path) {
  for (size_t i = 0; i < disk->count; i++)
    if (strcmp(disk->names[i].path, path) == 0)
      return &disk->names[i];
  return NULL;
}

/* Is the folder of this path there? The root is. */
static bool has_folder(struct disk *disk, const char *path) {
  char folder[PATH_SIZE];
  (void)snprintf(folder, sizeof folder, "%s", path);
  char *slash = strrchr(folder, '/');
  if (!slash)
    return true;
  *slash = '\0';
  const struct name *found = find(disk, folder);
  return found && !found->file;
}

static void put(struct disk *disk, const char *path, struct file *file) {
  struct name *name = find(disk, path);
  if (!has_folder(disk, path))
    return;
  if (!name) {
    if (disk->count == disk->room) {
      disk->room = disk->room * 2 + 64;
      disk->names = need(realloc(disk->names, disk->room * sizeof *disk->names));
    }
    name = &disk->names[disk->count++];
    (void)snprintf(name->path, sizeof name->path, "%s", path);
  }
  name->file = file;
}

static void drop(struct disk *disk, const char *path) {
  struct name *name = find(disk, path);
  if (name)
    memmove(name, name + 1, (size_t)(disk->names + --disk->count - name) * sizeof *name);
}

static void resize(struct file *file, size_t size) {
  if (size > file->room) {
    file->room = size * 2;
    file->bytes = need(realloc(file->bytes, file->room));
  }
  if (size > file->size)
    memset(file->bytes + file->size, 0, size - file->size);
  file->size = size;
}

/* --- which file an entry is about, and whether it was synced --- */

struct play {
  const struct power_history *history;
  size_t cut;
  struct file **files; /* [cut]: of each entry, NULL for folders */
  bool *synced;        /* [cut] */
  struct file **all;   /* [made]: to be freed */
  size_t made;
};

static bool is_in(const char *path, const char *folder) {
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) : 0;
  return strlen(folder) == length && strncmp(path, folder, length) == 0;
}

static bool has_names(uint32_t kind) {
  return kind == POWER_MADE || kind == POWER_FOLDER || kind == POWER_RENAME || kind == POWER_LINK ||
         kind == POWER_REMOVE;
}

static bool has_data(uint32_t kind) { return kind == POWER_WRITE || kind == POWER_SIZE; }

/* Follow the run as it was: the kernel's view, in which all is done at once. */
static void follow(struct play *play) {
  struct disk now = {0};
  struct open {
    uint64_t inode;
    struct file *file;
  } *opens = need(calloc(play->cut + 1, sizeof *opens));
  size_t open_count = 0;
  for (size_t i = 0; i < play->cut; i++) {
    const struct power_entry *entry = &play->history->entries[i];
    struct name *name = find(&now, entry->path);
    struct file *file = name ? name->file : NULL;
    switch (entry->head.kind) {
    case POWER_MADE:
      file = need(calloc(1, sizeof *file));
      play->all[play->made++] = file;
      opens[open_count].inode = entry->head.inode;
      opens[open_count++].file = file;
      put(&now, entry->path, file);
      break;
    case POWER_FOLDER:
      put(&now, entry->path, NULL);
      break;
    case POWER_RENAME:
      drop(&now, entry->path);
      put(&now, entry->second, file);
      break;
    case POWER_LINK:
      put(&now, entry->second, file);
      break;
    case POWER_REMOVE:
      drop(&now, entry->path);
      break;
    default: /* by the inode: the name may have gone in between. The last file that had it is meant. */
      file = NULL;
      for (size_t k = open_count; k-- > 0 && !file && entry->head.inode;)
        if (opens[k].inode == entry->head.inode)
          file = opens[k].file;
    }
    play->files[i] = file;
    if (entry->head.kind != POWER_SYNC)
      continue;
    for (size_t k = 0; k < i; k++) {
      const struct power_entry *before = &play->history->entries[k];
      if (entry->head.inode ? has_data(before->head.kind) && play->files[k] == file
                            : has_names(before->head.kind) && is_in(before->path, entry->path))
        play->synced[k] = true;
    }
  }
  free(opens);
  free(now.names);
}

/* --- what the disk shows --- */

struct chance {
  enum power_loss loss;
  struct tutti_random random;
};

static bool keeps_name(struct chance *chance, const struct power_entry *entry, bool synced) {
  bool drawn = tutti_random_u64(&chance->random) & 1;
  if (synced)
    return true;
  switch (chance->loss) {
  case POWER_NOTHING:
    return false;
  case POWER_NO_RENAME:
    return entry->head.kind != POWER_RENAME;
  case POWER_CHANCE:
    return drawn;
  default:
    return true;
  }
}

/* Some of the sectors of a write that was not synced. */
static void write_some(struct chance *chance, const struct power_entry *entry, struct file *file) {
  size_t offset = entry->head.offset, end = offset + entry->head.data;
  for (size_t at = offset; at < end;) {
    size_t next = (at / SECTOR + 1) * SECTOR < end ? (at / SECTOR + 1) * SECTOR : end;
    if (tutti_random_u64(&chance->random) & 1) {
      if (next > file->size)
        resize(file, next);
      memcpy(file->bytes + at, entry->data + (at - offset), next - at);
    }
    at = next;
  }
}

static void write_data(struct chance *chance, const struct power_entry *entry, struct file *file, bool synced) {
  size_t offset = entry->head.offset, bytes = entry->head.data;
  bool zeros = false;
  if (!synced) {
    switch (chance->loss) {
    case POWER_NOTHING:
    case POWER_EMPTY:
      return;
    case POWER_CHANCE:
      if (entry->head.kind == POWER_WRITE) {
        write_some(chance, entry, file);
        return;
      }
      if (tutti_random_u64(&chance->random) & 1)
        return;
      break;
    case POWER_TORN:
      bytes = bytes ? tutti_random_u64(&chance->random) % (bytes + 1) : 0;
      break;
    default:
      zeros = chance->loss == POWER_ZEROS;
    }
  }
  if (entry->head.kind == POWER_SIZE) {
    resize(file, offset);
    return;
  }
  if (offset + bytes > file->size)
    resize(file, offset + bytes);
  if (zeros)
    memset(file->bytes + offset, 0, bytes);
  else
    memcpy(file->bytes + offset, entry->data, bytes);
}

static void apply(struct play *play, struct chance *chance, struct disk *disk) {
  for (size_t i = 0; i < play->cut; i++) {
    const struct power_entry *entry = &play->history->entries[i];
    struct file *file = play->files[i];
    if (has_data(entry->head.kind) && file)
      write_data(chance, entry, file, play->synced[i]);
    if (!has_names(entry->head.kind) || !keeps_name(chance, entry, play->synced[i]))
      continue;
    if (entry->head.kind == POWER_REMOVE || entry->head.kind == POWER_RENAME)
      drop(disk, entry->path);
    if (entry->head.kind == POWER_RENAME || entry->head.kind == POWER_LINK)
      put(disk, entry->second, file);
    else if (entry->head.kind != POWER_REMOVE)
      put(disk, entry->path, file);
  }
}

static void write_out(const struct disk *disk, const char *folder) {
  (void)mkdir(folder, 0755);
  for (size_t i = 0; i < disk->count; i++) { /* folders come before what is in them */
    char path[2 * PATH_SIZE];
    const struct name *name = &disk->names[i];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name->path);
    if (!name->file) {
      (void)mkdir(path, 0755);
      continue;
    }
    FILE *file = fopen(path, "wb");
    if (!file || (name->file->size && fwrite(name->file->bytes, 1, name->file->size, file) != name->file->size) ||
        fclose(file) != 0) {
      (void)fprintf(stderr, "power: cannot write %s\n", path);
      exit(1);
    }
  }
}

void power_make(const struct power_history *history, size_t cut, enum power_loss loss, uint64_t seed, bool lies,
                const char *folder) {
  struct play play = {.history = history, .cut = cut};
  struct disk disk = {0};
  struct chance chance = {.loss = loss};
  tutti_random_init(&chance.random, seed, "power", cut);
  play.files = need(calloc(cut + 1, sizeof(struct file *)));
  play.all = need(calloc(cut + 1, sizeof(struct file *)));
  play.synced = need(calloc(cut + 1, sizeof *play.synced));
  follow(&play);
  if (lies)
    memset(play.synced, 0, cut * sizeof *play.synced);
  apply(&play, &chance, &disk);
  write_out(&disk, folder);
  for (size_t i = 0; i < play.made; i++) {
    free(play.all[i]->bytes);
    free(play.all[i]);
  }
  free(play.files);
  free(play.all);
  free(play.synced);
  free(disk.names);
}
