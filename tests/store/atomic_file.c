/* Atomic files: the target is the complete old or new file, and no other file is left. */
#include "check.h"

#include "store/atomic_file.h"
#include "store/sample.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

static bool holds(const char *path, const char *want)
{
    size_t size = 0;
    char *text = sample_bytes(path, &size);
    bool same = text && size == strlen(want) && strcmp(text, want) == 0;
    free(text);
    return same;
}

TEST(the_target_changes_only_at_commit)
{
    const char *path = sample_path("a.txt");
    atomic_file f;
    sample_store(path, "old", 3);
    REQUIRE(file_begin(path, &f, NULL) == SBPS_OK);
    fputs("new", f.stream);
    CHECK(file_seal(&f, NULL) == SBPS_OK);
    CHECK(holds(path, "old"));
    CHECK(sample_files() == 2);
    CHECK(file_commit(&f, NULL) == SBPS_OK);
    CHECK(holds(path, "new"));
    CHECK(sample_files() == 1);
    unlink(path);
}

TEST(an_abandoned_file_leaves_no_trace)
{
    const char *path = sample_path("a.txt");
    atomic_file f;
    REQUIRE(file_begin(path, &f, NULL) == SBPS_OK);
    fputs("new", f.stream);
    file_abandon(&f);
    file_abandon(&f); /* a second call does nothing */
    CHECK(sample_files() == 0);
}

TEST(the_temporary_file_has_the_process_number_in_its_name)
{
    char want[700];
    const char *path = sample_path("a.txt");
    atomic_file f;
    REQUIRE(file_begin(path, &f, NULL) == SBPS_OK);
    snprintf(want, sizeof want, "%s.tmp.%ld.sbps-", path, (long)getpid());
    CHECK(strncmp(f.temp, want, strlen(want)) == 0);
    CHECK(access(f.temp, F_OK) == 0);
    file_abandon(&f);
}

/* The id of a process that has ended: a child of this one. */
static long ended_process(void)
{
    pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    return (long)child;
}

TEST(only_files_of_killed_processes_are_removed)
{
    enum { FILES = 7 };
    char dead[700], locked[700], users[700], own[700];
    const char *path = sample_path("a.txt"), *other = sample_path("b.txt.tmp.1.sbps-00000000");
    const char *living = sample_path("a.txt.tmp.1.sbps-00000000");
    const char *word = sample_path("a.txt.tmp.1x.sbps-00000000");
    atomic_file f;
    snprintf(dead, sizeof dead, "%s.tmp.%ld.sbps-00a1b2c3", path, ended_process());
    snprintf(locked, sizeof locked, "%s.tmp.%ld.sbps-00a1b2c3", path, ended_process());
    snprintf(users, sizeof users, "%s.tmp.%ld", path, ended_process());
    snprintf(own, sizeof own, "%s.tmp.%ld", path, (long)getpid());
    const char *all[FILES] = {dead, locked, other, living, word, users, own};
    for (size_t i = 0; i < FILES; i++) sample_store(all[i], "half", 4);
    int held = open(locked, O_RDONLY); /* as of a process on another machine */
    REQUIRE(held >= 0 && flock(held, LOCK_EX) == 0);
    REQUIRE(file_begin(path, &f, NULL) == SBPS_OK);
    CHECK(access(dead, F_OK) != 0);
    for (size_t i = 1; i < FILES; i++) CHECK(access(all[i], F_OK) == 0);
    file_abandon(&f);
    close(held);
    for (size_t i = 1; i < FILES; i++) unlink(all[i]);
}

TEST(a_symbolic_link_is_kept_and_its_target_is_replaced)
{
    const char *path = sample_path("real.txt"), *link = sample_path("link.txt");
    struct stat status;
    atomic_file f;
    sample_store(path, "old", 3);
    REQUIRE(symlink(path, link) == 0);
    REQUIRE(file_begin(link, &f, NULL) == SBPS_OK);
    fputs("new", f.stream);
    CHECK(file_commit(&f, NULL) == SBPS_OK);
    CHECK(holds(path, "new"));
    CHECK(lstat(link, &status) == 0 && S_ISLNK(status.st_mode));
    unlink(link);
    unlink(path);
}

TEST(the_mode_of_the_old_file_is_kept)
{
    const char *path = sample_path("a.txt");
    struct stat status;
    atomic_file f;
    sample_store(path, "old", 3);
    chmod(path, 0640);
    REQUIRE(file_begin(path, &f, NULL) == SBPS_OK);
    CHECK(file_commit(&f, NULL) == SBPS_OK);
    CHECK(stat(path, &status) == 0 && (status.st_mode & 0777) == 0640 && status.st_size == 0);
    unlink(path);
}

TEST(the_temporary_file_has_no_more_permissions_than_the_old_one)
{
    const char *path = sample_path("a.txt");
    struct stat status;
    atomic_file f;
    sample_store(path, "old", 3);
    chmod(path, 0600);
    mode_t before = umask(0);
    REQUIRE(file_begin(path, &f, NULL) == SBPS_OK);
    umask(before);
    CHECK(fstat(fileno(f.stream), &status) == 0 && (status.st_mode & 0777) == 0600);
    file_abandon(&f);
    unlink(path);
}

TEST(a_device_is_written_not_replaced)
{
    struct stat status;
    atomic_file f;
    sbps_error err = {0};
    REQUIRE(file_begin("/dev/null", &f, &err) == SBPS_OK);
    fputs("gone", f.stream);
    CHECK(file_commit(&f, &err) == SBPS_OK);
    CHECK(stat("/dev/null", &status) == 0 && S_ISCHR(status.st_mode));
    REQUIRE(file_begin("/dev/full", &f, &err) == SBPS_OK);
    fputs("no space", f.stream); /* fails only when flushed */
    CHECK(file_commit(&f, &err) == SBPS_NO_FILE);
    CHECK(strcmp(err.text, "/dev/full: cannot be written: No space left on device") == 0);
}

TEST(a_folder_is_no_target)
{
    atomic_file f;
    sbps_error err = {0};
    sample_path("");
    CHECK(file_begin(sample_folder, &f, &err) == SBPS_NO_FILE);
    CHECK(strstr(err.text, strerror(EISDIR)));
    CHECK(file_begin("", &f, &err) == SBPS_NO_FILE);
}

/* 0: refused. Root may write anywhere, so the child changes its user first. */
static int write_in_locked_folder(void)
{
    atomic_file f;
    sbps_error err = {0};
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 2;
    if (file_begin(sample_path("a.txt"), &f, &err) != SBPS_NO_FILE) return 1;
    return strstr(err.text, strerror(EACCES)) ? 0 : 1;
}

TEST(a_folder_without_permission_is_named)
{
    sample_path("");
    chmod(sample_folder, 0555);
    int outcome = with_small_disk(RLIM_INFINITY, write_in_locked_folder);
    chmod(sample_folder, 0755);
    if (outcome == 2) SKIP("root cannot change its user here");
    CHECK(outcome == 0);
}

CHECK_MAIN
