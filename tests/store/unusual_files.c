/* Unusual files: of other versions, cut short, forged, with missing names and values, and paths
 * that are not files. */
#include "check.h"

#include "store/forged_netcdf.h"

#include "store/path_files.h"
#include "store/result.h"

static void store_text(const char *path, const char *text)
{
    sample_store(path, text, strlen(text));
}

static bool recognised(const char *text)
{
    const char *path = sample_path("unknown");
    store_text(path, text);
    bool ours = result_recognise(path);
    unlink(path);
    return ours;
}

TEST(only_run_files_are_recognised)
{
    CHECK(recognised("chain,draw,x\n0,0,1\n"));
    CHECK(recognised("chain,draw\n"));
    CHECK(recognised("# stan_version_major = 2\n# written_by = sbps 1\n"));
    CHECK(!recognised("# stan_version_major = 2\n# written_by = another\n"));
    CHECK(!recognised("chain,drawn\n"));
    CHECK(!recognised("x,y\n1,2\n"));
    CHECK(!recognised(""));
    CHECK(!recognised("\x89HDF\r\n\x1a\n"));                                 /* cut short */
    CHECK(!recognised("\x89HDF\r\n\x1a\n some other program's data in it")); /* no trailer */
    CHECK(!result_recognise(sample_path("none")));
    const char *path = sample_path("ours");
    result *r = sample_result(1, 2, 3);
    CHECK(result_write_netcdf(r, path, NULL) == SBPS_OK && result_recognise(path));
    CHECK(result_write_csv(r, path, NULL) == SBPS_OK && result_recognise(path));
    result_destroy(r);
    unlink(path);
}

TEST(the_end_of_hdf5_is_found_in_every_superblock)
{
    unsigned char head[HDF5_HEAD] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    head[13] = 8, head[40] = 0x34, head[41] = 0x12; /* version 0 */
    CHECK(hdf5_end(head) == 0x1234);
    head[13] = 4;
    CHECK(hdf5_end(head) == 0);
    for (unsigned char version = 1; version < 5; version++) {
        head[8] = version, head[9] = 8, head[28] = 0x78;
        CHECK(hdf5_end(head) == (version == 2 || version == 3 ? 0x78 : 0));
        head[9] = 4;
        CHECK(hdf5_end(head) == 0);
    }
    head[0] = 'x';
    CHECK(hdf5_end(head) == 0);
}

/* ---- text ---- */

static bool holds(const char *path, const char *expected)
{
    size_t size;
    char *bytes = sample_bytes(path, &size);
    bool found = bytes && strstr(bytes, expected);
    if (!found) printf("no '%s' in %s\n", expected, bytes ? bytes : "(none)");
    free(bytes);
    return found;
}

static void forget(char **text)
{
    free(*text);
    *text = NULL;
}

/* Unusual names, and no information on the run. */
TEST(text_files_omit_unknown_values)
{
    result *r = sample_result(1, 2, 4);
    const char *const names[] = {NULL, "", "x", "x"};
    for (size_t j = 0; j < 4; j++) {
        free(r->names[j]);
        r->names[j] = copy_text(names[j]);
    }
    forget(&r->info.model);
    forget(&r->info.created_at);
    r->info.seconds_warmup = NAN;
    r->info.seconds_sampling = -1.0;
    CHECK(result_write_stan(r, sample_path("run"), NULL) == SBPS_OK); /* no .csv to append */
    const char *path = sample_path("run_1.csv");
    CHECK(holds(path, "# model = _\n"));
    CHECK(holds(path, "# start_datetime = \n"));
    CHECK(holds(path, "n_leapfrog__,_,__2,x,x_4\n"));
    CHECK(holds(path, "0.000000 seconds (Total)"));
    unlink(path);
    CHECK(result_write_stan(r, sample_path("x"), NULL) == SBPS_OK); /* shorter than .csv */
    unlink(sample_path("x_1.csv"));

    CHECK(result_write_csv(r, path, NULL) == SBPS_OK);
    CHECK(holds(path, "chain,draw,,,x,x\n"));
    CHECK(result_write_stan(r, "/dev/full/run.csv", NULL) == SBPS_NO_FILE);
    CHECK(result_write_csv(r, "/dev/full", NULL) == SBPS_NO_FILE);
    unlink(path);
    result_destroy(r);
}

/* ---- appended files ---- */

static sbps_status grow(const char *path, uint64_t resume_at, append_file *out, sbps_error *err)
{
    memset(err, 0, sizeof *err);
    return append_file_open(path, "a,b\n", resume_at, out, err);
}

TEST(an_appended_file_has_one_writer)
{
    const char *path = sample_path("path.csv");
    append_file one, two;
    sbps_error err;
    uint64_t bytes;
    REQUIRE(grow(path, 0, &one, &err) == SBPS_OK);
    CHECK(append_file_sync(&one, &bytes, &err) == SBPS_OK && bytes == 4);
    CHECK(grow(path, 0, &two, &err) == SBPS_NO_FILE);
    CHECK(strstr(err.text, "another run is writing to it") != NULL);
    CHECK(grow(path, 4, &two, &err) == SBPS_NO_FILE);
    CHECK(strstr(err.text, "another run is writing to it") != NULL);
    append_file_close(&one);
    CHECK(holds(path, "a,b\n")); /* the refused writer has not changed it */
    REQUIRE(grow(path, 4, &two, &err) == SBPS_OK);
    append_file_close(&two);
    unlink(path);
}

TEST(devices_can_be_written_and_not_resumed)
{
    append_file file;
    sbps_error err;
    uint64_t bytes = 7;
    REQUIRE(grow("/dev/null", 0, &file, &err) == SBPS_OK);
    CHECK(append_file_sync(&file, &bytes, &err) == SBPS_OK && bytes == 0);
    append_file_close(&file);
    CHECK(grow("/dev/null", 4, &file, &err) == SBPS_NO_FILE && strstr(err.text, "resumed"));
    CHECK(grow("/dev/full", 0, &file, &err) == SBPS_NO_FILE && strstr(err.text, "written"));
    CHECK(grow(sample_path("no/path.csv"), 4, &file, &err) == SBPS_NO_FILE);
    CHECK(file.stream == NULL && file.path == NULL);
}

TEST(only_the_file_of_the_checkpoint_is_resumed)
{
    const char *path = sample_path("path.csv");
    append_file file;
    sbps_error err;
    store_text(path, "a,b\n1,2\n");
    CHECK(grow(path, 3, &file, &err) == SBPS_MISMATCH && strstr(err.text, "header line"));
    CHECK(grow(path, 7, &file, &err) == SBPS_MISMATCH && strstr(err.text, "byte 7"));
    CHECK(grow(path, 9, &file, &err) == SBPS_MISMATCH && strstr(err.text, "has 8 bytes"));
    store_text(path, "a,c\n1,2\n");
    CHECK(grow(path, 8, &file, &err) == SBPS_MISMATCH && strstr(err.text, "different columns"));
    CHECK(holds(path, "a,c\n1,2\n"));
    unlink(path);
}

/* ---- forged NetCDF files ---- */

static void seed_is_text(int root)
{
    nc_put_att_text(root, NC_GLOBAL, "seed", 5, "seven");
}

static void seed_is_two(int root)
{
    nc_put_att_double(root, NC_GLOBAL, "seed", NC_DOUBLE, 2, (const double[]){7.0, 8.0});
}

static void seed_is_whole(int root)
{
    nc_put_att_int(root, NC_GLOBAL, "seed", NC_INT, 1, &(int){7});
}

static void sampler_is_a_number(int root)
{
    nc_put_att_int(root, NC_GLOBAL, "sampler", NC_INT, 1, &(int){7});
}

static void sampler_is_two(int root)
{
    nc_put_att_string(root, NC_GLOBAL, "sampler", 2, (const char *[]){"a", "b"});
}

static void sampler_is_a_string(int root)
{
    nc_put_att_string(root, NC_GLOBAL, "sampler", 1, (const char *[]){"sampler"});
}

static int group_of(int root, const char *name)
{
    int group = root;
    CHECK(nc_inq_grp_ncid(root, name, &group) == NC_NOERR);
    return group;
}

static void no_posterior(int root)
{
    nc_rename_grp(group_of(root, "posterior"), "prior");
}

static void no_stats(int root)
{
    nc_rename_grp(group_of(root, "sample_stats"), "stats");
}

static void no_path(int root)
{
    nc_rename_grp(group_of(root, "path"), "way");
}

static void no_bias_error(int root)
{
    int variable, group = group_of(root, "path");
    CHECK(nc_inq_varid(group, "bias_se", &variable) == NC_NOERR);
    CHECK(nc_rename_var(group, variable, "bias_error") == NC_NOERR);
}

/* Reads the file after the change. NULL if it is refused with a message that contains `words`.
 * */
static result *changed(void (*by)(int root), const char *message)
{
    const char *path = sample_path("changed.nc");
    result *back = NULL;
    sbps_error err = {0};
    make_foreign(path, &(foreign){"sbps", 2, 3, 4, 3, NC_DOUBLE, by});
    sbps_status status = result_read_netcdf(path, &back, &err);
    if (!strstr(err.text, message)) printf("'%s' has no '%s'\n", err.text, message);
    CHECK(status == (message[0] ? SBPS_BAD_FILE : SBPS_OK) && strstr(err.text, message));
    unlink(path);
    return back;
}

TEST(a_missing_part_of_a_run_file_is_named)
{
    CHECK(!changed(seed_is_text, ": seed"));
    CHECK(!changed(seed_is_two, ": seed"));
    CHECK(!changed(sampler_is_a_number, ": sampler"));
    CHECK(!changed(sampler_is_two, ": sampler"));
    CHECK(!changed(no_posterior, ": posterior"));
    CHECK(!changed(no_stats, ": sample_stats"));
    CHECK(!changed(no_path, ": path"));
}

TEST(equivalent_files_are_read)
{
    result *r = changed(seed_is_whole, "");
    CHECK(r && r->info.seed == 7.0);
    result_destroy(r);
    r = changed(sampler_is_a_string, "");
    CHECK(r && !strcmp(r->info.sampler, "sampler"));
    result_destroy(r);
}

TEST(values_that_earlier_versions_did_not_write_are_unknown)
{
    result *r = changed(no_bias_error, ""); /* nor has it a group `model` */
    for (size_t j = 0; r && j < r->dim; j++)
        CHECK(isnan(r->bias_se[j]) && !isnan(r->sd[j]) && isnan(r->prior_sd[j]) &&
              !r->prior[j]);
    result_destroy(r);
}

TEST(options_and_names_without_a_value_are_empty)
{
    const char *path = sample_path("empty.nc");
    result *r = sample_result(1, 2, 3), *back = NULL;
    sbps_error err = {0};
    forget(&r->options[1].value);
    forget(&r->names[0]);
    forget(&r->prior[2]);
    CHECK(result_write_netcdf(r, path, &err) == SBPS_OK);
    CHECK(result_read_netcdf(path, &back, &err) == SBPS_OK);
    CHECK(back && !back->options[1].value[0] && !back->names[0][0] && !back->prior[2][0]);
    result_destroy(back);
    free(r->options[1].name);
    r->options[1].name = calloc(NC_MAX_NAME + 1, 1);
    memset(r->options[1].name, 'x', NC_MAX_NAME);
    CHECK(result_write_netcdf(r, path, &err) == SBPS_NO_MEM); /* no such name can be written */
    CHECK(result_read_netcdf(path, &back, &err) == SBPS_OK);
    result_destroy(back);
    result_destroy(r);
    unlink(path);
}

CHECK_MAIN
