/* Draws as CSV and as Stan CSV: columns, quoting, exact numbers; all files are written or none.
 * */
#include "check.h"

#include "store/result.h"
#include "store/sample.h"

#include <locale.h>

/* Reads one field of a CSV line without its quotes. Returns the text after its separator. */
static const char *next_field(const char *text, char *out, size_t size)
{
    size_t n = 0;
    bool quoted = *text == '"';
    if (quoted) text++;
    while (*text && (quoted || (*text != ',' && *text != '\n')) && n + 1 < size) {
        if (quoted && *text == '"' && *++text != '"') break;
        out[n++] = *text++;
    }
    out[n] = '\0';
    return *text ? text + 1 : text;
}

static bool same_number(const char *text, double value)
{
    char *end;
    double read = strtod(text, &end);
    return end != text && *end == '\0' &&
           (isnan(value) ? isnan(read) : memcmp(&read, &value, sizeof value) == 0);
}

static void check_csv(const result *r, const char *path)
{
    char field[400], want[40];
    size_t size;
    char *bytes = sample_bytes(path, &size);
    const char *text = next_field(bytes, field, sizeof field);
    CHECK(strcmp(field, "chain") == 0);
    text = next_field(text, field, sizeof field);
    CHECK(strcmp(field, "draw") == 0);
    for (size_t j = 0; j < r->dim; j++) {
        text = next_field(text, field, sizeof field);
        CHECK(strcmp(field, r->names[j]) == 0);
    }
    for (size_t i = 0; i < r->chains * r->draws; i++) {
        text = next_field(text, field, sizeof field);
        snprintf(want, sizeof want, "%zu", i / r->draws);
        CHECK(strcmp(field, want) == 0);
        text = next_field(text, field, sizeof field);
        snprintf(want, sizeof want, "%zu", i % r->draws);
        CHECK(strcmp(field, want) == 0);
        for (size_t j = 0; j < r->dim; j++) {
            text = next_field(text, field, sizeof field);
            CHECK(same_number(field, r->w[i * r->dim + j]));
        }
    }
    CHECK(*text == '\0');
    free(bytes);
}

TEST(csv_returns_names_and_doubles_exactly)
{
    const char *path = sample_path("draws.csv");
    result *r = sample_result(3, 30, 9);
    REQUIRE(result_write_csv(r, path, NULL) == SBPS_OK);
    check_csv(r, path);
    result_destroy(r);
    r = sample_result(2, 0, 3);
    REQUIRE(result_write_csv(r, path, NULL) == SBPS_OK);
    check_csv(r, path);
    result_destroy(r);
    unlink(path);
}

TEST(a_locale_with_decimal_commas_changes_nothing)
{
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
        SKIP("no locale with a decimal comma is installed");
    const char *path = sample_path("comma.csv");
    result *r = sample_result(1, 5, 2);
    CHECK(result_write_csv(r, path, NULL) == SBPS_OK);
    CHECK(strcmp(localeconv()->decimal_point, ",") == 0); /* restored */
    setlocale(LC_NUMERIC, "C");
    check_csv(r, path);
    result_destroy(r);
    unlink(path);
}

/* The value of "key = value" in the comments, "" when there is none. */
static const char *setting(const char *text, const char *key)
{
    static char value[64];
    char line[64];
    value[0] = '\0';
    snprintf(line, sizeof line, " %s = ", key);
    const char *at = strstr(text, line);
    if (at) sscanf(at + strlen(line), "%63[^\n]", value);
    return value;
}

/* Names as in Stan: only [A-Za-z0-9_], distinct, and only those of the sampler end in __ */
static const char stan_header[] =
    "\nlp__,n_leapfrog__,intercept,a_b,say__x_,colour_red,__ge,x_1,colour_red_7,lp___8,x8\n";

static void check_stan_rows(const result *r, size_t chain, const char *text)
{
    char field[64];
    for (size_t d = 0; d < r->draws; d++) {
        size_t row = chain * r->draws + d;
        const double want[] = {-r->potential[row], r->proposals[row]};
        for (size_t j = 0; j < 2 + r->dim; j++) {
            text = next_field(text, field, sizeof field);
            CHECK(same_number(field, j < 2 ? want[j] : r->w[row * r->dim + j - 2]));
        }
    }
    CHECK(strncmp(text, "# \n#  Elapsed Time: 1.500000 seconds (Warm-up)\n", 46) == 0);
}

TEST(stan_csv_has_one_file_per_chain_in_the_layout_of_cmdstan)
{
    result *r = sample_result(3, 20, 9);
    memset(r->potential_sd, 0, 3 * 20 * sizeof *r->potential_sd);
    REQUIRE(result_write_stan(r, sample_path("run.stan.csv"), NULL) == SBPS_OK);
    CHECK(sample_files() == 3);
    for (size_t chain = 0; chain < 3; chain++) {
        char name[40], number[8];
        size_t size;
        snprintf(name, sizeof name, "run.stan_%zu.csv", chain + 1);
        snprintf(number, sizeof number, "%zu", chain + 1);
        char *text = sample_bytes(sample_path(name), &size);
        REQUIRE(text != NULL);
        CHECK(strncmp(text, "# stan_version_major = 2\n", 25) == 0);
        CHECK(strstr(text, "\n# lp__ is exact, up to a constant\n") != NULL);
        CHECK(strcmp(setting(text, "model"), "model") == 0);
        CHECK(strcmp(setting(text, "num_samples"), "20") == 0);
        CHECK(strcmp(setting(text, "num_warmup"), "0") == 0);
        CHECK(strcmp(setting(text, "save_warmup"), "0") == 0);
        CHECK(strcmp(setting(text, "id"), number) == 0);
        CHECK(strcmp(setting(text, "seed"), "7") == 0);
        const char *header = strstr(text, stan_header);
        CHECK(header != NULL);
        if (header) check_stan_rows(r, chain, header + strlen(stan_header));
        free(text);
        unlink(sample_path(name));
    }
    result_destroy(r);
}

/* Returns the line of the first draw of chain 1, and in `text` the whole file. U is 0, 1, 2,
 * ... over the draws. */
static const char *write_with_error(double error, char **text)
{
    size_t size;
    result *r = sample_result(2, 25, 9);
    for (size_t i = 0; i < 2 * 25; i++) {
        r->potential[i] = (double)i;
        r->potential_sd[i] = error;
    }
    CHECK(result_write_stan(r, sample_path("run.stan.csv"), NULL) == SBPS_OK);
    result_destroy(r);
    *text = sample_bytes(sample_path("run.stan_1.csv"), &size);
    unlink(sample_path("run.stan_1.csv"));
    unlink(sample_path("run.stan_2.csv"));
    const char *header = *text ? strstr(*text, stan_header) : NULL;
    return header ? header + strlen(stan_header) : "";
}

TEST(a_noisy_density_is_written_with_its_error_or_omitted)
{
    char *text;
    const char *line = write_with_error(0.5, &text);
    CHECK(strcmp(setting(text, "lp__ standard error"), "0.5") == 0);
    CHECK(strncmp(line, "-0,", 3) == 0);
    free(text);
    line = write_with_error(400.0, &text);
    CHECK(strstr(text, "# lp__ left out: standard error 400 of a scatter of 14.4\n") != NULL);
    CHECK(strncmp(line, "NaN,", 4) == 0);
    free(text);
}

/* 0: refused with a message. The file of the first chain may still fit, but no file may appear.
 * */
static int write_stan_over(void)
{
    result *r = sample_result(3, 20, 9);
    sbps_error err = {0};
    sbps_status status = result_write_stan(r, sample_path("run.stan.csv"), &err);
    result_destroy(r);
    return status == SBPS_NO_FILE && strstr(err.text, strerror(EFBIG)) ? 0 : 1;
}

static int write_csv_over(void)
{
    result *r = sample_result(4, 100, 20);
    sbps_error err = {0};
    sbps_status status = result_write_csv(r, sample_path("run.csv"), &err);
    result_destroy(r);
    return status == SBPS_NO_FILE && strstr(err.text, strerror(EFBIG)) ? 0 : 1;
}

TEST(a_full_disk_leaves_no_file)
{
    size_t before = sample_files();
    CHECK(with_small_disk(2000, write_stan_over) == 0);
    CHECK(with_small_disk(10000, write_csv_over) == 0);
    CHECK(sample_files() == before);
}

TEST(no_chain_is_written_if_another_cannot_be)
{
    result *r = sample_result(2, 3, 4);
    const char *blocked = sample_path("run.stan_2.csv");
    REQUIRE(mkdir(blocked, 0777) == 0);
    CHECK(result_write_stan(r, sample_path("run.stan.csv"), NULL) == SBPS_NO_FILE);
    CHECK(sample_files() == 1);
    rmdir(blocked);
    result_destroy(r);
}

TEST(an_unwritable_path_is_named)
{
    result *r = sample_result(2, 100, 20);
    sbps_error err = {0};
    CHECK(result_write_csv(r, "/dev/full", &err) == SBPS_NO_FILE);
    CHECK(strstr(err.text, "/dev/full: cannot be written: ") == err.text);
    CHECK(strstr(err.text, strerror(ENOSPC)) != NULL);
    CHECK(result_write_stan(r, sample_path("no/run.stan.csv"), &err) == SBPS_NO_FILE);
    CHECK(strstr(err.text, "run.stan_1.csv: cannot be written: No such file") != NULL);
    result_destroy(r);
}

static void check_reader(const char *probe, const char *script, const char *missing)
{
    if (system(probe) != 0) SKIP(missing);
    const char *source = getenv("SBPS_SOURCE_DIR");
    char command[3000];
    result *r = sample_result(2, 25, 9);
    for (size_t i = 0; i < 2 * 25 * 9; i++)
        r->w[i] = (double)i / 7; /* readers may not accept NaN */
    for (size_t i = 0; i < 2 * 25; i++) {
        r->proposals[i] = r->potential[i] = (double)i;
        r->potential_sd[i] = 0.25;
    }
    CHECK(result_write_stan(r, sample_path("run.stan.csv"), NULL) == SBPS_OK);
    snprintf(command, sizeof command, script, source ? source : ".",
             sample_path("run.stan_1.csv"), sample_path("run.stan_2.csv"));
    CHECK(system(command) == 0);
    result_destroy(r);
    unlink(sample_path("run.stan_1.csv"));
    unlink(sample_path("run.stan_2.csv"));
}

TEST(rstan_reads_stan_csv)
{
    check_reader("Rscript -e 'library(rstan)' >/dev/null 2>&1",
                 "Rscript '%s/tests/store/rstan_reads.R' '%s' '%s' >/dev/null",
                 "no rstan for R");
}

TEST(arviz_reads_stan_csv)
{
    check_reader("/usr/bin/python3 -c 'import arviz' >/dev/null 2>&1",
                 "/usr/bin/python3 '%s/tests/store/arviz_reads.py' '%s' '%s'",
                 "no arviz for /usr/bin/python3");
}

CHECK_MAIN
