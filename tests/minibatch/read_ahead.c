/* Future windows are known in advance, and do not depend on what is requested for them. */
#include "minibatch/fixture.h"

#include "ingest/convert_text.h"
#include "ingest/ingest.h"
#include "table/mapped_table.h"
#include <fcntl.h>
#include <unistd.h>

static const table_spec wide = {
    .n = 3000, .columns = 3, .weights = "normal(0,1)", .sigma = "flat"};

TEST(the_start_of_a_window_depends_on_seed_and_number_alone)
{
    table t = table_make(model_find("logistic"), wide);
    REQUIRE(t.u);
    rng starts = rng_stream(4, 0, RNG_BATCH);
    carved quiet = carve(&batch_window, t.u, 10, 4), noisy = carve(&batch_window, t.u, 30, 4);
    minibatch_equip(&noisy.u, NULL, 1.0);
    potential_set_line(&quiet.u.is, t.p, t.q);
    potential_set_line(&noisy.u.is, t.p, t.q);
    for (size_t k = 0; k < 1000; k++) {
        size_t start = rng_below(&starts, t.data->local_rows);
        potential_observe(&quiet.u.is, 0.1);
        potential_observe(&noisy.u.is, 0.1);
        CHECK(quiet.u.state->first == start && noisy.u.state->first == start);
    }
    free(quiet.memory.base);
    free(noisy.memory.base);
    table_close(&t);
}

/* Window k + 1 has been requested at window k, also after batches of another kind. */
TEST(the_stream_ahead_gives_the_next_windows)
{
    table t = table_make(model_find("logistic"), wide);
    REQUIRE(t.u);
    carved c = carve(&batch_random, t.u, 10, 5);
    potential_set_line(&c.u.is, t.p, t.q);
    for (size_t k = 0; k < 10; k++) potential_observe(&c.u.is, 0.1);
    minibatch_resize(&c.u, &batch_window, 20);
    for (size_t k = 0; k < 100; k++) {
        rng in_front = c.u.state->ahead, next = c.u.state->random;
        rng_below(&next, t.data->local_rows);
        CHECK(rng_below(&in_front, t.data->local_rows) == rng_below(&next, t.data->local_rows));
        potential_observe(&c.u.is, 0.1);
    }
    free(c.memory.base);
    table_close(&t);
}

/* ---- a table on disk ---- */

static rows *mapped_copy(const rows *data, const char *storage, char *path)
{
    char text[128];
    rows *out = NULL;
    rows_spec spec = {.target = "y", .intercept = true, .storage = storage, .seed = 1};
    rows_spec any = {.intercept = true};
    strcpy(path, "/tmp/sbps-ahead.XXXXXX");
    int file = mkstemp(path);
    snprintf(text, sizeof text, "%s.csv", path);
    FILE *csv = fopen(text, "w");
    fprintf(csv, "y,x1,x2,x3\n");
    for (size_t i = 0; i < data->local_rows; i++) {
        const double *x = data->storage.x + i * data->stride;
        fprintf(csv, "%.17g,%.17g,%.17g,%.17g\n", data->y[i], x[1], x[2], x[3]);
    }
    fclose(csv);
    table_job job = {
        .from = text, .to = path, .temp_near = path, .file = file, .memory = 1 << 20};
    if (table_write(&job, &spec, NULL) == SBPS_OK) rows_read(path, &any, &out, NULL);
    close(file);
    unlink(text);
    unlink(path);
    return out;
}

/* The same rows in the same order from memory. */
static rows *copied(const rows *from)
{
    rows *out = calloc(1, sizeof *out);
    *out = *from;
    out->storage.mapped = NULL;
    return out;
}

/* Once a table is known not to fit, the next one reads it directly from its first window, with
 * the released reader. */
static void check_next(carved *before, const posterior *a, const posterior *b, const double *p,
                       const double *q)
{
    const row_reader *reader = before->u.reader;
    minibatch_release(&before->u);
    CHECK(!before->u.reader);
    carved on_disk = carve(&batch_window, a, before->u.is.batch, 8),
           in_memory = carve(&batch_window, b, before->u.is.batch, 8);
    CHECK(on_disk.u.reader == reader);
    potential_set_line(&on_disk.u.is, p, q);
    potential_set_line(&in_memory.u.is, p, q);
    for (size_t k = 0; k < 3000; k++) {
        observation d = potential_observe(&on_disk.u.is, 0.2),
                    m = potential_observe(&in_memory.u.is, 0.2);
        CHECK(d.slope == m.slope && d.variance == m.variance);
    }
    CHECK(on_disk.u.reader == reader);
    minibatch_release(&on_disk.u);
    minibatch_release(&on_disk.u);
    free(on_disk.memory.base);
    free(in_memory.memory.base);
}

static void check_mapped(const char *storage)
{
    char path[64];
    table t = table_make(model_find("logistic"), wide);
    REQUIRE(t.u);
    rows *disk = mapped_copy(t.data, storage, path), *memory = disk ? copied(disk) : NULL;
    REQUIRE(disk && memory && disk->storage.mapped);
    posterior *a, *b;
    REQUIRE(posterior_create(disk, model_find("logistic"), t.u->priors, &a, NULL) == SBPS_OK);
    REQUIRE(posterior_create(memory, model_find("logistic"), t.u->priors, &b, NULL) == SBPS_OK);
    carved on_disk = carve(&batch_window, a, 40, 6), in_memory = carve(&batch_window, b, 40, 6);
    potential_set_line(&on_disk.u.is, t.p, t.q);
    potential_set_line(&in_memory.u.is, t.p, t.q);
    bool direct = false;
    on_disk.u.misses =
        1000; /* as if it did not fit in memory: from window 2048 on it is read */
    for (size_t k = 0; k < 6000; k++) {
        double g[2][DIM_MAX];
        observation d = potential_observe(&on_disk.u.is, 0.2),
                    m = potential_observe(&in_memory.u.is, 0.2);
        CHECK(d.slope == m.slope && d.variance == m.variance);
        potential_gradient(&on_disk.u.is, g[0]);
        potential_gradient(&in_memory.u.is, g[1]);
        CHECK(memcmp(g[0], g[1], a->dim * sizeof **g) == 0);
        if (k == 4000) minibatch_resize(&on_disk.u, &batch_window, 50);
        if (k == 4000) minibatch_resize(&in_memory.u, &batch_window, 50);
        if (k == 3000) direct = on_disk.u.reader;
    }
    if (!direct && !disk->storage.start) printf("no direct reads here\n");
    CHECK(!direct || !disk->storage.start); /* sparse rows are requested from the page cache */
    CHECK(!in_memory.u.reader && (bool)on_disk.u.reader == direct); /* after the resize too */
    check_next(&on_disk, a, b, t.p, t.q);
    double value[2];
    CHECK(posterior_value(a, t.p, &value[0], NULL) == SBPS_OK);
    CHECK(posterior_value(b, t.p, &value[1], NULL) == SBPS_OK);
    CHECK(value[0] == value[1]);
    posterior_destroy(a);
    posterior_destroy(b);
    free(on_disk.memory.base);
    free(in_memory.memory.base);
    free(memory);
    rows_destroy(disk);
    table_close(&t);
}

TEST(a_mapped_table_gives_the_same_bits_as_memory)
{
    check_mapped("double");
    check_mapped("float");
    check_mapped("sparse");
}

CHECK_MAIN
