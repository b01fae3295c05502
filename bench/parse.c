/* Reading a table: text to shuffled rows, statistics and hash included.
 *
 *   bench_parse [FILE TARGET]
 * Without arguments it writes 1,000,000 rows of 21 numbers with 6 decimals, and a tenth as
 * many with %.17g, plain and gzip, into a temporary folder, and reads those, the file there
 * is likewise, by 1, 2, 4, ... threads. One line a file and number of threads: name, rows,
 * columns, bytes of plain text, seconds (the best of three, and what processors spent), rows
 * a second, MB of text a second. */
#include "core/rng.h"
#include "core/threads.h"
#include "ingest/ingest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum { ROWS = 1000000, FEWER_ROWS = 100000, COLUMNS = 20, REPEATS = 3 };

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int measure(const char *label, const char *path, const char *target, double bytes,
                   unsigned threads)
{
    const rows_spec spec = {.target = target, .intercept = true, .seed = 1, .threads = threads};
    double best = 1e300, smallest = 1e300;
    size_t n = 0, d = 0;
    for (int k = 0; k < REPEATS; k++) {
        sbps_error err;
        rows *r;
        double start = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (rows_read(path, &spec, &r, &err) != SBPS_OK) {
            fprintf(stderr, "bench_parse: %s\n", err.text);
            return 1;
        }
        double taken = seconds(CLOCK_MONOTONIC) - start;
        used = seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
        if (taken < best) best = taken;
        if (used < smallest) smallest = used;
        n = r->local_rows;
        d = r->d;
        rows_destroy(r);
    }
    printf("%-10s threads %u rows %zu columns %zu bytes %.0f seconds %.3f (of processors %.3f) "
           "rows/s %.3g MB/s %.0f\n",
           label, threads, n, d, bytes, best, smallest, (double)n / best, bytes / best / 1e6);
    return 0;
}

static int measure_threads(const char *label, const char *path, const char *target,
                           double bytes)
{
    int failures = 0;
    for (unsigned threads = 1; threads <= processors(); threads *= 2)
        failures += measure(label, path, target, bytes, threads);
    return failures;
}

/* The table as text, once plain and, if `packed` is set, once through gzip. Returns its
 * bytes. */
static double write_table(const char *plain, const char *packed, const char *format,
                          size_t rows_wanted)
{
    FILE *file = fopen(plain, "w");
    gzFile zip = packed ? gzopen(packed, "wb") : NULL;
    rng random = rng_stream(1, 0, RNG_TEST);
    char line[1024];
    double bytes = 0;
    for (size_t i = 0; file && i <= rows_wanted; i++) {
        int length = i == 0 ? sprintf(line, "y") : sprintf(line, "%zu", rng_below(&random, 2));
        for (size_t j = 1; j <= COLUMNS; j++) {
            if (i == 0)
                length += sprintf(line + length, ",x%zu", j);
            else
                length += sprintf(line + length, format, rng_normal(&random));
        }
        line[length++] = '\n';
        bytes += (double)fwrite(line, 1, (size_t)length, file);
        if (zip) gzwrite(zip, line, (unsigned)length);
    }
    if (file) fclose(file);
    if (zip) gzclose(zip);
    return bytes;
}

static int measure_all(void)
{
    char folder[] = "/tmp/bench_parse.XXXXXX", plain[64], packed[64];
    if (!mkdtemp(folder)) return 1;
    snprintf(plain, sizeof plain, "%s/t.csv", folder);
    snprintf(packed, sizeof packed, "%s/t.csv.gz", folder);
    double bytes = write_table(plain, NULL, ",%.6f", ROWS);
    int failures = measure_threads("%.6f", plain, "y", bytes);
    bytes = write_table(plain, packed, ",%.17g", FEWER_ROWS);
    failures += measure_threads("%.17g", plain, "y", bytes);
    failures += measure("%.17g gzip", packed, "y", bytes, 1);
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
    return measure_threads("file", argv[1], argv[2], (double)about.st_size);
}
