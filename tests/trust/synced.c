/* Loaded before a program: copies each file below $LIVE to $SYNCED when it is synced, and at no other time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int copy_of(const char *path, char *copy) {
    const char *live = getenv("LIVE"), *synced = getenv("SYNCED");
    if (!live || !synced || strncmp(path, live, strlen(live))) return 0;
    snprintf(copy, PATH_MAX, "%s%s", synced, path + strlen(live));
    for (char *at = copy + strlen(synced) + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        mkdir(copy, 0700);
        *at = '/';
    }
    return 1;
}

static void keep(int file) {
    char link[64], path[PATH_MAX], copy[PATH_MAX], half[PATH_MAX + 8], bytes[1 << 16];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return;
    path[length] = 0;
    if (!copy_of(path, copy)) return;
    snprintf(half, sizeof half, "%s.half", copy);
    int to = open(half, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    off_t at = 0;
    while ((length = pread(file, bytes, sizeof bytes, at)) > 0) {
        if (write(to, bytes, length) != length) abort();
        at += length;
    }
    close(to);
    ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(half, copy);
}

int fsync(int file) {
    keep(file);
    return 0;
}

int fdatasync(int file) { return fsync(file); }

int rename(const char *from, const char *to) {
    char copy_from[PATH_MAX], copy_to[PATH_MAX];
    int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
    int result = real(from, to);
    if (!result && copy_of(from, copy_from) && copy_of(to, copy_to)) real(copy_from, copy_to);
    return result;
}

int unlink(const char *path) {
    char copy[PATH_MAX];
    int (*real)(const char *) = dlsym(RTLD_NEXT, "unlink");
    int result = real(path);
    if (!result && copy_of(path, copy)) real(copy);
    return result;
}
