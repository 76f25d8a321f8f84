/* Ends a process at one of its calls to the file system, whoever makes it: Python or SQLite.
 *
 * Loaded before libc (LD_PRELOAD) and armed by tools/points.py. What each fsync makes sure of is
 * copied to another folder: what a power failure leaves.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CUT = 77 };
static long left;
static char way, root[4096], kept[4096];

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void arm(long number, char how, const char *folder, const char *copies) {
  snprintf(root, sizeof root, "%s", folder);
  snprintf(kept, sizeof kept, "%s", copies);
  way = how;
  left = number;
}

static int ours(int file) {
  char link[64], path[4096];
  if (!root[0]) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t n = readlink(link, path, sizeof path - 1);
  path[n < 0 ? 0 : n] = 0;
  return !strncmp(path, root, strlen(root));
}

/* Whether this call is the last one; the process ends here if it is not to be made. */
static int strikes(int counts) {
  int now = counts && left > 0 && --left == 0;
  if (now && way == 'b') _exit(CUT);
  return now;
}

static void keep(int file) {
  char path[8192], link[64];
  struct stat about;
  fstat(file, &about);
  int folder = S_ISDIR(about.st_mode);
  snprintf(path, sizeof path, "%s/%c%lu", kept, folder ? 'd' : 'f', (unsigned long)about.st_ino);
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  if (folder) {
    FILE *names = fopen(path, "w");
    DIR *entries = opendir(link);
    for (struct dirent *e; (e = readdir(entries));)
      fprintf(names, "%lu %s\n", (unsigned long)e->d_ino, e->d_name);
    closedir(entries);
    fclose(names);
    return;
  }
  char part[65536];
  int from = open(link, O_RDONLY), to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  for (ssize_t n; (n = read(from, part, sizeof part)) > 0;)
    if (REAL(write)(to, part, n) != n) _exit(99);
  close(from);
  close(to);
}

#define CALL(result, name, counts, given, ...)                \
  result name given {                                         \
    int last = strikes(counts);                               \
    result r = REAL(name)(__VA_ARGS__);                       \
    if (last) _exit(CUT);                                     \
    return r;                                                 \
  }
#define SYNC(name)                                            \
  int name(int file) {                                        \
    int mine = ours(file), last = strikes(mine);              \
    int r = REAL(name)(file);                                 \
    if (mine && r == 0 && kept[0]) keep(file);                \
    if (last) _exit(CUT);                                     \
    return r;                                                 \
  }
#define WRITE(name, given, ...)                               \
  ssize_t name given {                                        \
    int last = strikes(ours(file));                           \
    if (last && way == 'w') size /= 2;                        \
    ssize_t r = REAL(name)(__VA_ARGS__);                      \
    if (last) _exit(CUT);                                     \
    return r;                                                 \
  }

WRITE(write, (int file, const void *data, size_t size), file, data, size)
WRITE(pwrite, (int file, const void *data, size_t size, off_t at), file, data, size, at)
WRITE(pwrite64, (int file, const void *data, size_t size, off64_t at), file, data, size, at)
SYNC(fsync)
SYNC(fdatasync)
CALL(int, ftruncate, ours(file), (int file, off_t size), file, size)
CALL(int, ftruncate64, ours(file), (int file, off64_t size), file, size)
CALL(int, unlink, !strncmp(path, root, strlen(root)), (const char *path), path)
CALL(int, rename, root[0], (const char *old, const char *new), old, new)
CALL(int, linkat, root[0], (int a, const char *old, int b, const char *new, int flags), a, old, b,
     new, flags)
