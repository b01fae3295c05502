/* Files of other kinds than ours. Formats are told by their first bytes, as file(1) does, and an
 * Excel sheet from other zip archives by the folder its parts lie in. */
#include "ingest/text/foreign.h"

#include <string.h>

#define UNPACK "unpack it, or pack it with gzip, which is read: "
#define EXPORT "write it as CSV: "

typedef struct {
    const char *magic;
    size_t length;
    const char *inside; /* must also occur early in the file; NULL: nothing */
    const char *name, *remedy;
} foreign;

#define MAGIC(text) text, sizeof text - 1

static const foreign formats[] = {
    {MAGIC("\x28\xb5\x2f\xfd"), NULL, "packed by zstd", UNPACK "zstd -d FILE"},
    {MAGIC("\xfd"
           "7zXZ"),
     NULL, "packed by xz", UNPACK "xz -d FILE"},
    {MAGIC("BZh"), NULL, "packed by bzip2", UNPACK "bunzip2 FILE"},
    {MAGIC("\x04\x22\x4d\x18"), NULL, "packed by lz4", UNPACK "lz4 -d FILE"},
    {MAGIC("7z\xbc\xaf"), NULL, "a 7z archive", UNPACK "7z x FILE"},
    {MAGIC("PK\x03\x04"), "xl/", "an Excel sheet (xlsx)",
     "save it as CSV in Excel or LibreOffice"},
    {MAGIC("PK\x03\x04"), ".npy", "numpy arrays (npz)",
     EXPORT "numpy.savetxt with delimiter and header"},
    {MAGIC("PK\x03\x04"), NULL, "a zip archive", UNPACK "unzip FILE"},
    {MAGIC("\xd0\xcf\x11\xe0"), NULL, "an Excel sheet (xls)",
     "save it as CSV in Excel or LibreOffice"},
    {MAGIC("\x93NUMPY"), NULL, "a numpy array (npy)",
     EXPORT "numpy.savetxt with delimiter and header"},
    {MAGIC("PAR1"), NULL, "a Parquet file", EXPORT "pandas.read_parquet(FILE).to_csv"},
    {MAGIC("ARROW1"), NULL, "a Feather file", EXPORT "pandas.read_feather(FILE).to_csv"},
    {MAGIC("FEA1"), NULL, "a Feather file", EXPORT "pandas.read_feather(FILE).to_csv"},
    {MAGIC("ORC"), NULL, "an ORC file", EXPORT "pandas.read_orc(FILE).to_csv"},
    {MAGIC("\x89HDF\r\n"), NULL, "an HDF5 or NetCDF file",
     "the data of a run are CSV, libsvm or what `sbps convert` writes"},
    {MAGIC("SQLite format 3"), NULL, "an SQLite database",
     EXPORT "sqlite3 -header -csv FILE 'select ...'"},
    {MAGIC("RDX"), NULL, "an R workspace", EXPORT "write.csv(..., row.names = FALSE)"},
    {MAGIC("X\n\0\0\0"), NULL, "an R object (rds)", EXPORT "write.csv(readRDS(FILE))"},
    {MAGIC("\xff\xfe"), NULL, "UTF-16 text", "write it as UTF-8: iconv -f UTF-16 -t UTF-8"},
    {MAGIC("\xfe\xff"), NULL, "UTF-16 text", "write it as UTF-8: iconv -f UTF-16 -t UTF-8"},
};

static bool is_a(const foreign *f, const char *bytes, size_t size)
{
    if (size < f->length || memcmp(bytes, f->magic, f->length) != 0) return false;
    return !f->inside || memmem(bytes, size, f->inside, strlen(f->inside));
}

/* ORC is a word too: text does not have all bytes. */
static bool may_be_text(const foreign *f, const char *bytes, size_t size)
{
    for (size_t i = 0; i < f->length; i++)
        if ((unsigned char)f->magic[i] >= 0x80) return false;
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)bytes[i] < '\t') return false;
    return true;
}

sbps_status foreign_refuse(const char *path, const char *bytes, size_t size, sbps_error *err)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const foreign *f = &formats[i];
        if (is_a(f, bytes, size) && !may_be_text(f, bytes, size))
            return fail(err, SBPS_BAD_FILE, "%s: this is %s, which is not read; %s", path,
                        f->name, f->remedy);
    }
    return SBPS_OK;
}
