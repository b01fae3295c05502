/* Synthetic tables: read back they agree with the recipe, for every model that can simulate. */
#include "check.h"
#include "ingest/ingest.h"
#include "model/likelihood/model.h"

#include <sys/stat.h>
#include <unistd.h>

#define N   2000
#define D   7
#define AUX 4 /* capacity for auxiliaries */

static char folder[] = "simulate-XXXXXX";

static const char *in_folder(const char *name, char path[256])
{
    snprintf(path, 256, "%s/%s", folder, name);
    return path;
}

__attribute__((constructor)) static void enter(void)
{
    if (!mkdtemp(folder)) perror(folder);
}

__attribute__((destructor)) static void leave(void)
{
    rmdir(folder);
}

static rows *read_back(const char *path)
{
    rows_spec spec = {.target = "y", .seed = 1};
    rows *data = NULL;
    sbps_error err = {0};
    if (rows_read(path, &spec, &data, &err) != SBPS_OK) printf("%s\n", err.text);
    return data;
}

/* Weights from the truth file, sigma last where the model has one. */
static size_t read_truth(const char *path, double *w)
{
    char line[128], name[64];
    size_t count = 0;
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    CHECK(fgets(line, sizeof line, file) && strcmp(line, "name,value\n") == 0);
    while (fgets(line, sizeof line, file) && sscanf(line, "%63[^,],%lf", name, &w[count]) == 2)
        count++;
    fclose(file);
    return count;
}

static size_t read_bytes(const char *path, size_t size, char *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    size_t count = fread(bytes, 1, size, file);
    fclose(file);
    return count;
}

static void check_columns(const rows *data)
{
    CHECK(data->local_rows == N && data->d == D);
    CHECK(strcmp(data->table.names[0], "x1") == 0 &&
          strcmp(data->table.names[D - 1], "x7") == 0);
    for (size_t j = 0; j < D; j++) {
        double sd = j ? 1.0 : sqrt(6.0);
        CHECK_Z(data->table.mean[j], 0.0, sd / sqrt(N), MAX_Z);
        CHECK_Z(data->table.sd[j], sd, sd / sqrt(2.0 * N), MAX_Z);
    }
}

/* The score of the table at the truth has mean zero and the information as its variance. */
static void check_score(const model_kind *model, const rows *data, const double *w)
{
    double score[D] = {0}, information[D] = {0}, aux[AUX];
    for (size_t i = 0; i < model->auxiliary_count; i++) {
        CHECK(w[D + i] == model->auxiliaries[i].start);
        aux[i] = scale_coordinate(model->auxiliaries[i].scale, w[D + i]);
    }
    for (size_t i = 0; i < data->local_rows; i++) {
        const double *x = data->storage.x + i * data->stride;
        double eta = 0.0, e, ee;
        for (size_t j = 0; j < D; j++) eta += w[j] * x[j];
        batch b = {.k = kernels_best(), .n = 1, .eta = &eta, .y = &data->y[i], .aux = aux};
        model->predictor->gradient(&b, &e, NULL);
        model->predictor->curvature(&b, &ee, NULL, NULL);
        for (size_t j = 0; j < D; j++) {
            score[j] += e * x[j];
            information[j] -= ee * x[j] * x[j];
        }
    }
    for (size_t j = 0; j < D; j++) CHECK_Z(score[j], 0.0, sqrt(information[j]), MAX_Z);
}

TEST(a_simulated_table_follows_the_recipe)
{
    for (size_t k = 0; model_kinds[k]; k++) {
        if (!model_kinds[k]->predictor || !model_kinds[k]->predictor->simulate) continue;
        char table[256], truth[256];
        double w[D + 1 + AUX];
        REQUIRE(model_kinds[k]->auxiliary_count <= AUX);
        in_folder("table.csv", table);
        in_folder("truth.csv", truth);
        sbps_error err = {0};
        REQUIRE(sbps_simulate(model_kinds[k]->name, N, D, 3, table, truth, &err) == SBPS_OK);
        CHECK(read_truth(truth, w) == D + model_kinds[k]->auxiliary_count);
        for (size_t j = 0; j < D; j++)
            CHECK(fabs(w[j]) <= (model_kinds[k]->predictor->small_weights ? 0.5 : 5.0));
        rows *data = read_back(table);
        REQUIRE(data);
        CHECK(model_kinds[k]->predictor->check(data, NULL) == SBPS_OK);
        check_columns(data);
        check_score(model_kinds[k], data, w);
        rows_destroy(data);
        unlink(table);
        unlink(truth);
    }
}

TEST(numbers_are_written_with_six_decimals)
{
    char path[256], bytes[4096], line[256];
    in_folder("table.csv", path);
    REQUIRE(sbps_simulate("linear", 3, 2, 5, path, NULL, NULL) == SBPS_OK);
    size_t size = read_bytes(path, sizeof bytes - 1, bytes);
    bytes[size] = '\0';
    unlink(path);
    double y, a, b;
    char *row = strchr(bytes, '\n');
    REQUIRE(row && strncmp(bytes, "y,x1,x2\n", 8) == 0);
    for (int i = 0; i < 3; i++) {
        REQUIRE(sscanf(++row, "%lf,%lf,%lf", &y, &a, &b) == 3);
        snprintf(line, sizeof line, "%.6f,%.6f,%.6f\n", y, a, b);
        CHECK(strncmp(row, line, strlen(line)) == 0);
        row = strchr(row, '\n');
        REQUIRE(row);
    }
    CHECK(row[1] == '\0');
}

TEST(the_same_seed_gives_the_same_bytes_and_another_does_not)
{
    char path[256];
    static char first[1 << 16], second[1 << 16];
    in_folder("table.csv", path);
    sbps_simulate("logistic", 100, 5, 1, path, NULL, NULL);
    size_t a = read_bytes(path, sizeof first, first);
    sbps_simulate("logistic", 100, 5, 1, path, NULL, NULL);
    size_t b = read_bytes(path, sizeof second, second);
    CHECK(a > 1000 && a == b && memcmp(first, second, a) == 0);
    sbps_simulate("logistic", 100, 5, 2, path, NULL, NULL);
    b = read_bytes(path, sizeof second, second);
    CHECK(a != b || memcmp(first, second, a) != 0);
    unlink(path);
}

TEST(a_gz_file_holds_the_same_table)
{
    char plain[256], pressed[256];
    in_folder("table.csv", plain);
    in_folder("table.csv.gz", pressed);
    REQUIRE(sbps_simulate("logistic", N, D, 9, plain, NULL, NULL) == SBPS_OK);
    REQUIRE(sbps_simulate("logistic", N, D, 9, pressed, NULL, NULL) == SBPS_OK);
    char magic[2] = {0};
    CHECK(read_bytes(pressed, 2, magic) == 2 && magic[0] == '\x1f' && magic[1] == '\x8b');
    rows *a = read_back(plain), *b = read_back(pressed);
    CHECK(a && b && a->local_rows == b->local_rows);
    for (size_t i = 0; a && b && i < a->local_rows * a->stride; i++)
        CHECK(a->storage.x[i] == b->storage.x[i]);
    rows_destroy(a);
    rows_destroy(b);
    unlink(plain);
    unlink(pressed);
}

static void check_refused(sbps_status want, const char *expected, const char *name, size_t n,
                          size_t dim, const char *path, const char *truth)
{
    sbps_error err = {0};
    CHECK(sbps_simulate(name, n, dim, 1, path, truth, &err) == want);
    if (!strstr(err.text, expected)) printf("no '%s' in: %s\n", expected, err.text);
    CHECK(strstr(err.text, expected));
}

TEST(models_that_cannot_be_simulated_are_refused)
{
    char path[256];
    in_folder("table.csv", path);
    check_refused(SBPS_BAD_ARG, "did you mean 'logistic'", "logistik", 5, 5, path, NULL);
    check_refused(SBPS_BAD_ARG, "logistic, linear", "banana", 5, 5, path, NULL);
    check_refused(SBPS_BAD_ARG, "rows", "linear", 0, 5, path, NULL);
    check_refused(SBPS_BAD_ARG, "dim", "linear", 5, 0, path, NULL);
    check_refused(SBPS_BAD_ARG, "dim", "linear", 5, (size_t)-1, path, NULL);
    check_refused(SBPS_BAD_ARG, "both", "linear", 5, 5, path, path);
    check_refused(SBPS_NO_FILE, "No such file", "linear", 5, 5, "no/such/folder.csv", NULL);
    check_refused(SBPS_NO_FILE, "No such file", "linear", 5, 5, path, "no/such/truth.csv");
    CHECK(access(path, F_OK) != 0); /* all or nothing */
    check_refused(SBPS_NO_FILE, "irectory", "linear", 5, 5, folder, NULL);
}

TEST(a_full_disk_is_reported)
{
    if (access("/dev/full", W_OK) != 0) SKIP("no /dev/full");
    check_refused(SBPS_NO_FILE, "No space left", "linear", 10000, 5, "/dev/full", NULL);
}

CHECK_MAIN
