/* Skeleton files: exact numbers, and a resumed run continues where the checkpoint was made. */
#include "check.h"

#include "path/path.h"
#include "store/path_files.h"
#include "store/sample.h"

static const char *const names[] = {"intercept", "a,b"};

static const double records[] = {
    0.0,  EVENT_START,   0.0,  0.1, -2.0,  1.0,  0.5, /* time, event, rows, w, u */
    1.25, EVENT_BOUNCE,  1e15, 1.0, 1e300, -1.0, 5e-324,
    1.5,  EVENT_REFRESH, 12.0, 0.3, 2.0,   0.0,  -0.0,
};

#define HEADER "chain,time,event,rows,intercept,\"a,b\",u:intercept,\"u:a,b\"\n"
#define FIRST  "0,0,start,0,0.10000000000000001,-2,1,0.5\n"
#define SECOND                                                                                 \
    "3,1.25,bounce,1000000000000000,1,1.0000000000000001e+300,-1,4.9406564584124654e-324\n"    \
    "3,1.5,refresh,12,0.29999999999999999,2,0,-0\n"

static bool holds(const char *path, const char *want)
{
    size_t size = 0;
    char *text = sample_bytes(path, &size);
    bool same = text && size == strlen(want) && strcmp(text, want) == 0;
    if (!same) printf("%s\n", text ? text : "(no file)");
    free(text);
    return same;
}

TEST(events_are_appended_line_by_line)
{
    const char *path = sample_path("path.csv");
    skeleton_file *f;
    uint64_t bytes;
    REQUIRE(skeleton_open(path, names, 2, 0, &f, NULL) == SBPS_OK);
    CHECK(skeleton_sync(f, &bytes, NULL) == SBPS_OK && bytes == strlen(HEADER));
    CHECK(skeleton_append(f, 0, 1, records, NULL) == SBPS_OK);
    CHECK(skeleton_append(f, 1, 0, records, NULL) == SBPS_OK);
    CHECK(skeleton_append(f, 3, 2, records + 7, NULL) == SBPS_OK);
    CHECK(skeleton_sync(f, &bytes, NULL) == SBPS_OK);
    CHECK(bytes == strlen(HEADER FIRST SECOND));
    CHECK(holds(path, HEADER FIRST SECOND));
    skeleton_close(f);
    unlink(path);
}

TEST(a_resumed_skeleton_continues_at_the_checkpoint)
{
    const char *path = sample_path("path.csv");
    skeleton_file *f;
    uint64_t kept = strlen(HEADER FIRST), bytes;
    const char *after = HEADER FIRST "0,9,bounce,lost,after,the,check";
    sample_store(path, after, strlen(after));
    REQUIRE(skeleton_open(path, names, 2, kept, &f, NULL) == SBPS_OK);
    CHECK(skeleton_sync(f, &bytes, NULL) == SBPS_OK && bytes == kept);
    CHECK(skeleton_append(f, 3, 2, records + 7, NULL) == SBPS_OK);
    CHECK(skeleton_sync(f, &bytes, NULL) == SBPS_OK);
    skeleton_close(f);
    CHECK(bytes == strlen(HEADER FIRST SECOND));
    CHECK(holds(path, HEADER FIRST SECOND));
    unlink(path);
}

static void check_refused(const char *text, uint64_t resume_at, const char *message)
{
    const char *path = sample_path("path.csv");
    sbps_error err = {0};
    skeleton_file *f = (skeleton_file *)&err;
    sample_store(path, text, strlen(text));
    CHECK(skeleton_open(path, names, 2, resume_at, &f, &err) == SBPS_MISMATCH);
    CHECK(f == NULL && strstr(err.text, message));
    CHECK(holds(path, text)); /* untouched */
    unlink(path);
}

TEST(another_runs_skeleton_is_refused_and_unchanged)
{
    check_refused(HEADER FIRST, strlen(HEADER FIRST) + 1, "when the checkpoint was written");
    check_refused(HEADER FIRST, strlen(HEADER FIRST) - 2, "no line ends at byte");
    check_refused(HEADER FIRST, 5, "inside the header line");
    check_refused("chain,time,event,rows,slope\n" HEADER FIRST FIRST, 2 * strlen(HEADER),
                  "different columns");
    sbps_error err = {0};
    skeleton_file *f;
    CHECK(skeleton_open(sample_path("none.csv"), names, 2, 9, &f, &err) == SBPS_NO_FILE);
    CHECK(f == NULL && strstr(err.text, "No such file"));
}

TEST(an_unknown_event_is_refused)
{
    const char *path = sample_path("path.csv");
    const double wrong[] = {0.0, 4.0, 0, 0, 0, 0, 0.0, -1.0, 0, 0, 0, 0, 0.0, NAN, 0, 0, 0, 0};
    skeleton_file *f;
    REQUIRE(skeleton_open(path, names, 2, 0, &f, NULL) == SBPS_OK);
    for (size_t i = 0; i < 3; i++)
        CHECK(skeleton_append(f, 0, 1, wrong + 6 * i, NULL) == SBPS_BAD_ARG);
    skeleton_close(f);
    CHECK(holds(path, HEADER));
    unlink(path);
}

TEST(every_failed_write_is_reported)
{
    sbps_error err = {0};
    skeleton_file *f;
    CHECK(skeleton_open("/dev/full", names, 2, 0, &f, &err) == SBPS_NO_FILE);
    CHECK(f == NULL && strstr(err.text, strerror(ENOSPC)));
    CHECK(skeleton_open(sample_path("no/path.csv"), names, 2, 0, &f, &err) == SBPS_NO_FILE);
    CHECK(f == NULL && strstr(err.text, "No such file"));
}

/* 0: the full disk is reported at the sync at the latest. */
static int append_past_the_end(void)
{
    sbps_error err = {0};
    skeleton_file *f;
    uint64_t bytes;
    sbps_status status = skeleton_open(sample_path("path.csv"), names, 2, 0, &f, &err);
    for (int i = 0; i < 40 && status == SBPS_OK; i++)
        status = skeleton_append(f, 0, 3, records, &err);
    if (status == SBPS_OK) status = skeleton_sync(f, &bytes, &err);
    skeleton_close(f);
    return status == SBPS_NO_FILE && strstr(err.text, strerror(EFBIG)) ? 0 : 1;
}

TEST(a_full_disk_is_reported)
{
    CHECK(with_small_disk(1000, append_past_the_end) == 0);
    CHECK(with_small_disk(5000, append_past_the_end) == 0);
    unlink(sample_path("path.csv"));
}

CHECK_MAIN
