/* NetCDF files are read bit for bit, by the library and by xarray; files that are not run files
 * are refused with a message. */
#include "check.h"

#include "store/forged_netcdf.h"
#include "store/result.h"
#include "store/trailer.h"

#include <netcdf.h>

static void check_round_trip(size_t chains, size_t draws, size_t dim)
{
    const char *path = sample_path("round.nc");
    sbps_error err = {0};
    result *r = sample_result(chains, draws, dim), *back = NULL;
    CHECK(result_write_netcdf(r, path, &err) == SBPS_OK);
    CHECK(result_read_netcdf(path, &back, &err) == SBPS_OK);
    if (err.text[0]) printf("%s\n", err.text);
    CHECK(back && same_result(r, back));
    CHECK(sample_files() == 1);
    result_destroy(back);
    result_destroy(r);
    unlink(path);
}

TEST(a_result_comes_back_bit_for_bit)
{
    check_round_trip(4, 50, 9);
    check_round_trip(1, 1, 1);
    check_round_trip(3, 700, 40);
}

/* A member of result_info that no table lists would be lost: the bytes of the listed ones are
 * counted. */
TEST(the_tables_list_every_member)
{
    size_t fields = 0, switches = 0;
    for (const info_field *f = layout_texts; f->name; f++) fields++;
    for (const info_field *f = layout_numbers; f->name; f++) fields++;
    for (const info_field *f = layout_switches; f->name; f++) switches++;
    CHECK(fields * 8 + (switches + 7) / 8 * 8 == sizeof(result_info));
}

TEST(a_trailer_follows_the_end_of_hdf5)
{
    const char *path = sample_path("end.nc");
    size_t size;
    result *r = sample_result(2, 40, 5);
    REQUIRE(result_write_netcdf(r, path, NULL) == SBPS_OK);
    char *bytes = sample_bytes(path, &size);
    CHECK(hdf5_end((const unsigned char *)bytes) + TRAILER_SIZE == size);
    free(bytes);
    result_destroy(r);
    unlink(path);
}

TEST(a_run_without_draws_chains_or_parameters_comes_back)
{
    check_round_trip(4, 0, 9);
    check_round_trip(0, 0, 0);
    check_round_trip(2, 5, 0);
}

TEST(long_option_values_come_back)
{
    const char *path = sample_path("long.nc");
    size_t length =
        300000; /* a list of many features: past HDF5's 64 KiB for a plain attribute */
    sbps_error err = {0};
    result *r = sample_result(1, 2, 3), *back = NULL;
    free(r->options[1].value);
    r->options[1].value = calloc(length + 1, 1);
    memset(r->options[1].value, 'x', length);
    CHECK(result_write_netcdf(r, path, &err) == SBPS_OK);
    CHECK(result_read_netcdf(path, &back, &err) == SBPS_OK);
    CHECK(back && same_result(r, back));
    result_destroy(back);
    result_destroy(r);
    unlink(path);
}

TEST(a_second_write_replaces_the_first)
{
    const char *path = sample_path("twice.nc");
    result *a = sample_result(1, 2, 3), *b = sample_result(2, 3, 4), *back = NULL;
    CHECK(result_write_netcdf(a, path, NULL) == SBPS_OK);
    CHECK(result_write_netcdf(b, path, NULL) == SBPS_OK);
    CHECK(result_read_netcdf(path, &back, NULL) == SBPS_OK);
    CHECK(back && same_result(b, back));
    CHECK(sample_files() == 1);
    result_destroy(a);
    result_destroy(b);
    result_destroy(back);
    unlink(path);
}

static void check_refused(const char *path, sbps_status want, const char *message)
{
    sbps_error err = {0};
    result *r = (result *)&err; /* must become NULL */
    CHECK(result_read_netcdf(path, &r, &err) == want);
    CHECK(r == NULL);
    CHECK(strstr(err.text, message) != NULL);
    CHECK(strncmp(err.text, path, strlen(path)) == 0);
    CHECK(result_read_netcdf(path, &r, NULL) == want); /* without an error argument */
}

/* 50 lengths over the whole file, then the last bytes one by one. */
TEST(a_file_cut_short_anywhere_is_refused)
{
    const char *whole = sample_path("whole.nc"), *cut = sample_path("cut.nc");
    size_t size;
    result *r = sample_result(2, 40, 5);
    REQUIRE(result_write_netcdf(r, whole, NULL) == SBPS_OK);
    char *bytes = sample_bytes(whole, &size);
    for (size_t i = 0; i < 80; i++) {
        sample_store(cut, bytes, i < 50 ? i * size / 50 : size - (80 - i));
        check_refused(cut, SBPS_BAD_FILE, "not a run file of sbps, or cut short: ");
    }
    free(bytes);
    result_destroy(r);
    unlink(whole);
    unlink(cut);
}

TEST(a_flipped_bit_anywhere_is_refused)
{
    const char *path = sample_path("flip.nc");
    size_t size;
    uint64_t state = 11;
    result *r = sample_result(2, 40, 5);
    REQUIRE(result_write_netcdf(r, path, NULL) == SBPS_OK);
    char *bytes = sample_bytes(path, &size);
    for (int i = 0; i < 200; i++) {
        size_t at = sample_word(&state) % (size - TRAILER_SIZE);
        bytes[at] ^= (char)(1u << i % 8);
        sample_store(path, bytes, size);
        bytes[at] ^= (char)(1u << i % 8);
        check_refused(path, SBPS_BAD_FILE, "not a run file of sbps, or cut short: ");
    }
    free(bytes);
    result_destroy(r);
    unlink(path);
}

static void check_forged(foreign f, const char *message)
{
    const char *path = sample_path("foreign.nc");
    make_foreign(path, &f);
    check_refused(path, SBPS_BAD_FILE, message);
    unlink(path);
}

TEST(other_shapes_than_ours_are_refused)
{
    const foreign ours = {"sbps", 2, 3, 4, 3, NC_DOUBLE, NULL};
    foreign f = ours;
    result *r = NULL;
    make_foreign(sample_path("ours.nc"),
                 &ours); /* the others differ from it in one respect each */
    CHECK(result_read_netcdf(sample_path("ours.nc"), &r, NULL) == SBPS_OK);
    CHECK(r && r->dim == 4 && isnan(r->info.seed)); /* missing numbers are unknown */
    result_destroy(r);
    unlink(sample_path("ours.nc"));

    f.author = NULL;
    check_forged(f, "inference_library is not sbps");
    f.author = "pymc";
    check_forged(f, "inference_library is not sbps");
    f = ours, f.stats_draws = 2;
    check_forged(f, "proposals");
    f = ours, f.type = NC_FLOAT;
    check_forged(f, ": w: ");
    f = ours, f.draws = f.stats_draws = (size_t)1 << 60;
    check_forged(f, "larger than the file allows");
    f = ours, f.dim = 10000000;
    check_forged(f, "larger than the file allows");
}

TEST(other_files_are_refused)
{
    const char *path = sample_path("foreign.nc");
    sample_store(path, "", 0);
    check_refused(path, SBPS_BAD_FILE, "the file is empty");
    sample_store(path, "chain,draw,x\n0,0,1\n", 19);
    check_refused(path, SBPS_BAD_FILE, "does not start like");
    sample_store(path, "\x89HDF\r\n\x1a\n", 8);
    check_refused(path, SBPS_BAD_FILE, "does not start like");
    check_refused(sample_path("none.nc"), SBPS_NO_FILE, "No such file");
    check_refused("/dev/null", SBPS_NO_FILE, "cannot be read");
    char folder[600];
    snprintf(folder, sizeof folder, "%s", sample_folder);
    check_refused(folder, SBPS_NO_FILE, "directory");
    unlink(path);
}

TEST(a_place_that_cannot_be_written_is_named)
{
    result *r = sample_result(1, 2, 3);
    sbps_error err = {0};
    size_t before = sample_files();
    CHECK(result_write_netcdf(r, sample_path("no/such/run.nc"), &err) == SBPS_NO_FILE);
    CHECK(strstr(err.text, "No such file") != NULL);
    CHECK(result_write_netcdf(r, "/dev/full", &err) == SBPS_NO_FILE);
    CHECK(strstr(err.text, strerror(ENOSPC)) != NULL);
    CHECK(result_write_netcdf(r, "/proc/run.nc", &err) == SBPS_NO_FILE);
    CHECK(sample_files() == before);
    result_destroy(r);
}

/* 0: refused with a message. */
static int write_over(void)
{
    result *r = sample_result(4, 100, 20);
    sbps_error err = {0};
    sbps_status status = result_write_netcdf(r, sample_path("full.nc"), &err);
    result_destroy(r);
    return status == SBPS_NO_FILE && strstr(err.text, strerror(EFBIG)) ? 0 : 1;
}

TEST(a_full_disk_leaves_only_the_old_file)
{
    const char *path = sample_path("full.nc");
    result *r = sample_result(1, 2, 3), *back = NULL;
    REQUIRE(result_write_netcdf(r, path, NULL) == SBPS_OK);
    CHECK(with_small_disk(4096, write_over) == 0);
    CHECK(sample_files() == 1);
    CHECK(result_read_netcdf(path, &back, NULL) == SBPS_OK);
    CHECK(back && same_result(r, back));
    result_destroy(back);
    result_destroy(r);
    unlink(path);
}

static bool has_xarray(void)
{
    return system("/usr/bin/python3 -c 'import xarray, netCDF4' >/dev/null 2>&1") == 0;
}

static void check_xarray(size_t chains, size_t draws, size_t dim)
{
    const char *path = sample_path("xarray.nc"), *csv = sample_path("xarray.csv");
    const char *source = getenv("SBPS_SOURCE_DIR");
    char command[2000];
    result *r = sample_result(chains, draws, dim);
    CHECK(result_write_netcdf(r, path, NULL) == SBPS_OK);
    CHECK(result_write_csv(r, csv, NULL) == SBPS_OK);
    snprintf(command, sizeof command,
             "/usr/bin/python3 '%s/tests/store/xarray_reads.py' '%s' '%s' %zu %zu %zu",
             source ? source : ".", path, csv, chains, draws, dim);
    CHECK(system(command) == 0);
    result_destroy(r);
    unlink(path);
    unlink(csv);
}

TEST(xarray_reads_the_groups_and_their_coordinates)
{
    if (!has_xarray()) SKIP("no xarray with netCDF4 for /usr/bin/python3");
    check_xarray(3, 20, 8);
    check_xarray(2, 0, 4);
}

CHECK_MAIN
