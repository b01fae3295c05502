/* An independent producer: GDAL reads a CSV file and passes it on as an Arrow stream. The
 * result equals that of the file. The library is loaded when the test runs. */
#include "check.h"
#include "fixture.h"

#include <dlfcn.h>

typedef struct {
    void (*register_all)(void);
    void *(*open)(const char *, unsigned, const char *const *, const char *const *,
                  const char *const *);
    void (*close)(void *);
    void *(*layer)(void *, int);
    bool (*stream)(void *, struct ArrowArrayStream *, char **);
} gdal;

enum { OF_VECTOR = 4, NEWEST = 40, OLDEST = 32 }; /* 3.6, the first version with streams */

static void *open_library(void)
{
    char name[32];
    for (int version = NEWEST; version >= OLDEST; version--) {
        snprintf(name, sizeof name, "libgdal.so.%d", version);
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library) return library;
    }
    return NULL;
}

/* A function by its name; ISO C has no cast from an object to one. */
static bool find(void *library, const char *name, void *to)
{
    void *found = dlsym(library, name);
    memcpy(to, &found, sizeof found);
    return found != NULL;
}

static bool find_gdal(gdal *g)
{
    void *library = open_library();
    return library && find(library, "GDALAllRegister", &g->register_all) &&
           find(library, "GDALOpenEx", &g->open) && find(library, "GDALClose", &g->close) &&
           find(library, "GDALDatasetGetLayer", &g->layer) &&
           find(library, "OGR_L_GetArrowStream", &g->stream);
}

/* More rows than a batch of GDAL; every 13th has missing cells. */
static char *make_table(size_t n)
{
    static const char *const words[] = {"north", "south-west, far", "été", "x"};
    char *text = malloc(n * 100 + 100),
         *to = text + sprintf(text, "y,x,count,big,word,day,moment\n");
    for (size_t i = 0; i < n; i++) {
        to += sprintf(to, "%.17g,%.6f,%zu,%zu,\"%s\",", sin((double)i), cos((double)i), i % 91,
                      i * 4000037, words[i / 3 % 4]);
        to += i % 13 == 5 ? sprintf(to, ",\n")
                          : sprintf(to, "2026-%02zu-%02zu,2026-11-16 %02zu:%02zu:%02zu\n",
                                    i % 12 + 1, i % 28 + 1, i % 24, i % 60, i % 59);
    }
    return text;
}

static rows *by_gdal(const gdal *g, const char *path, const rows_spec *spec)
{
    static const char *const options[] = {"AUTODETECT_TYPE=YES", NULL};
    static char no_fid[] = "INCLUDE_FID=NO", *how[] = {no_fid, NULL};
    struct ArrowArrayStream stream = {0};
    rows *r = NULL;
    void *set = g->open(path, OF_VECTOR, NULL, options, NULL);
    void *layer = set ? g->layer(set, 0) : NULL;
    CHECK(layer && g->stream(layer, &stream, how));
    if (layer && stream.release) {
        CHECK(rows_from_arrow(&stream, spec, &r, &error) == SBPS_OK);
        CHECK(!stream.release);
        if (!r) fprintf(stderr, "message: %s\n", error.text);
    }
    if (set) g->close(set);
    return r;
}

TEST(a_stream_of_gdal_gives_the_table_of_the_file)
{
    static const rows_spec specs[] = {
        {.target = "y", .intercept = true, .drop_missing = true},
        {.formula = "y ~ x * word + log(big + 1) + day",
         .intercept = true,
         .drop_missing = true},
        {.formula = "y ~ x + (1 + x | count)", .intercept = true},
    };
    gdal g;
    if (!find_gdal(&g)) SKIP("no libgdal with OGR_L_GetArrowStream is here");
    g.register_all();
    char *text = make_table(70000);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        rows *want = rows_from_text(text, &specs[k]);
        rows *got = by_gdal(&g, put("t.csv", text, strlen(text)), &specs[k]);
        CHECK(want && got && same_rows(want, got) && want->table.dropped == got->table.dropped);
        rows_destroy(want);
        rows_destroy(got);
    }
    free(text);
}

CHECK_MAIN
