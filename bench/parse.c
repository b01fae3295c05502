/* Reading a table: text to shuffled rows, statistics and hash included, on one core.
 *
 *   bench_parse [FILE TARGET]
 * Without arguments it writes 100,000 rows of 21 numbers with 6 decimals and with %.17g, plain and
 * gzip, into a temporary folder, and reads those. One line a file: name, rows, columns, bytes of
 * plain text, seconds (the best of three), rows a second, MB of text a second. */
#include "base/rng.h"
#include "read/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum { ROWS = 100000, COLUMNS = 20, REPEATS = 3 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int measure(const char *label, const char *path, const char *target, double bytes)
{
    const rows_spec spec = {.target = target, .intercept = true, .seed = 1};
    double best = 1e300;
    size_t n = 0, d = 0;
    for (int k = 0; k < REPEATS; k++) {
        sbps_error err;
        rows *r;
        double start = seconds();
        if (rows_read(path, &spec, &r, &err) != SBPS_OK) {
            fprintf(stderr, "bench_parse: %s\n", err.text);
            return 1;
        }
        double taken = seconds() - start;
        if (taken < best) best = taken;
        n = r->n;
        d = r->d;
        rows_destroy(r);
    }
    printf("%-14s rows %zu columns %zu bytes %.0f seconds %.3f rows/s %.3g MB/s %.0f\n", label,
           n, d, bytes, best, (double)n / best, bytes / best / 1e6);
    return 0;
}

/* The table as text, once plain and once through gzip. Returns its bytes, 0 on failure. */
static double write_table(const char *plain, const char *packed, const char *format)
{
    FILE *file = fopen(plain, "w");
    gzFile zip = gzopen(packed, "wb");
    rng random = rng_stream(1, 0, RNG_TEST);
    char line[1024];
    double bytes = 0;
    for (size_t i = 0; file && zip && i <= ROWS; i++) {
        int length = i == 0 ? sprintf(line, "y") : sprintf(line, "%zu", rng_below(&random, 2));
        for (size_t j = 1; j <= COLUMNS; j++) {
            if (i == 0)
                length += sprintf(line + length, ",x%zu", j);
            else
                length += sprintf(line + length, format, rng_normal(&random));
        }
        line[length++] = '\n';
        bytes += (double)fwrite(line, 1, (size_t)length, file);
        gzwrite(zip, line, (unsigned)length);
    }
    if (file) fclose(file);
    if (zip) gzclose(zip);
    return bytes;
}

static int measure_all(void)
{
    static const char *const formats[] = {",%.6f", ",%.17g"};
    char folder[] = "/tmp/bench_parse.XXXXXX", plain[64], packed[64], label[32];
    int failures = 0;
    if (!mkdtemp(folder)) return 1;
    snprintf(plain, sizeof plain, "%s/t.csv", folder);
    snprintf(packed, sizeof packed, "%s/t.csv.gz", folder);
    for (size_t k = 0; k < 2; k++) {
        double bytes = write_table(plain, packed, formats[k]);
        failures += measure(strcpy(label, formats[k] + 1), plain, "y", bytes);
        failures += measure(strcat(label, " gzip"), packed, "y", bytes);
    }
    unlink(plain);
    unlink(packed);
    rmdir(folder);
    return failures != 0;
}

int main(int argc, char **argv)
{
    struct stat about;
    if (argc == 1) return measure_all();
    if (argc != 3 || stat(argv[1], &about) != 0) {
        fprintf(stderr, "usage: bench_parse [FILE TARGET]\n");
        return 2;
    }
    return measure("file", argv[1], argv[2], (double)about.st_size);
}
