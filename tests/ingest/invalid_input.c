/* Bad input is refused with a message that names the file, the line and the column. */
#include "check.h"

#include "core/memory.h"
#include "fixture.h"
#include "ingest/ingest.h"

typedef struct {
    const char *text;
    rows_spec spec;
    sbps_status status;
    const char *message; /* part of it; @ is the path */
} refusal;

#define Y  .target = "y", .intercept = true
#define ND .target = "y"

static const refusal refusals[] = {
    {"", {Y}, SBPS_BAD_FILE, "@:1: the file is empty"},
    {"\n", {Y}, SBPS_BAD_ARG, "no column is named 'y'"},
    {"y,a\n", {Y}, SBPS_BAD_DATA, "@: the table has no rows; a posterior needs at least two"},
    {"y,a", {Y}, SBPS_BAD_DATA, "has no rows"},
    {"y,a\n1,2\n", {Y}, SBPS_BAD_DATA, "has one row; a posterior needs at least two"},
    {"y,a\n1,2\n1,NA\n", {Y, .drop_missing = true}, SBPS_BAD_DATA, "one row left after 1"},
    {"y,a\n1,2\n2,3\n4,abc\n",
     {Y},
     SBPS_BAD_FILE,
     "@:4: column 'a': 'abc' is not a number, as most of its cells are; --na lists"},
    {"y,a\n1,2\n2,3\n4,1e\n", {Y}, SBPS_BAD_FILE, "@:4: column 'a': '1e' is not a number"},
    {"y,a\n1,2\n2,3\n2,0x1p3\n", {Y}, SBPS_BAD_FILE, "'0x1p3' is not a number"},
    {"y,a\n1,2\n2,3\n2,1 2\n", {Y}, SBPS_BAD_FILE, "'1 2' is not a number"},
    {"y,a\n1,2\n2,4\n2,\"3\"\"\"\n",
     {Y},
     SBPS_BAD_FILE,
     "@:4: column 'a': '3\"' is not a number"},
    {"y,a\n1,2\n2,\"1,234\"\n",
     {Y},
     SBPS_BAD_FILE,
     "@:3: column 'a': '1,234' has a separator of thousands; write plain numbers"},
    {"y,a\n1,$5\n2,$6\n", {Y}, SBPS_BAD_FILE, "@:2: column 'a': '$5' has a currency sign"},
    {"y,a\n1,2\n2,-3.5 \xe2\x82\xac\n",
     {Y},
     SBPS_BAD_FILE,
     "@:3: column 'a': '-3.5 \xe2\x82\xac' has a currency"},
    {"y,a\n1,2\n2,12%\n", {Y}, SBPS_BAD_FILE, "@:3: column 'a': '12%' has a per cent sign"},
    {"y,a\n12%,2\n2,1\n", {Y}, SBPS_BAD_FILE, "@:2: column 'y': '12%' has a per cent sign"},
    {"y,w\n1,2\n2,x\n",
     {Y, .weights = "w"},
     SBPS_BAD_FILE,
     "@:3: column 'w': 'x' is not a number"},
    {"y,a\nyes,2\n2,3\n", {Y}, SBPS_BAD_FILE, "@:2: column 'y': 'yes' is not a number"},
    {"y,a\n1,2\n2,Inf\n", {Y}, SBPS_BAD_DATA, "@:3: column 'a': 'Inf' is not a finite number"},
    {"y,a\n1,2\n-infinity,3\n", {Y, .drop_missing = true}, SBPS_BAD_DATA, "@:3: column 'y'"},
    {"y,a\n1,2\n2,1e999\n", {Y}, SBPS_BAD_DATA, "@:3: column 'a': '1e999' is not a finite"},
    {"y,a\n1,2\n2,\n", {Y}, SBPS_BAD_DATA, "@:3: column 'a': the value is missing"},
    {"y,a\n1,2\nNA,2\n", {Y}, SBPS_BAD_DATA, "@:3: column 'y': the value is missing"},
    {"y,a\n1,2\n2,nan\n", {Y}, SBPS_BAD_DATA, "@:3: column 'a': the value is missing"},
    {"y,a\n1,2\n2,NaN\n", {Y}, SBPS_BAD_DATA, "@:3: column 'a': the value is missing"},
    {"y,c\n1,p\n2,\n", {Y, .categorical = "c"}, SBPS_BAD_DATA, "@:3: column 'c': the value is"},
    {"y,a,b\n1,2,3\n2,3\n", {Y}, SBPS_BAD_FILE, "@:3: expected 3 columns, found 2"},
    {"y,a\n1,2\n2,3,4,5\n", {Y}, SBPS_BAD_FILE, "@:3: expected 2 columns, found 4"},
    {"y,a\n1,2\n2,3,\n", {Y}, SBPS_BAD_FILE, "@:3: expected 2 columns, found 3"},
    {"y,a,n\n1,2,\"p\nq\"\n1,3,z\n3,x,1\n",
     {Y, .features = "a"},
     SBPS_BAD_FILE,
     "@:5: column 'a': 'x'"},
    {"y,a\n1,2\n\n2,3\n", {Y}, SBPS_BAD_FILE, "@:3: blank line before the last row"},
    {"y,a\n1,\"2\n3,4\n", {Y}, SBPS_BAD_FILE, "@:2: a quote is opened and never closed"},
    {"y,a\n1,\"2\"3\n3,4\n", {Y}, SBPS_BAD_FILE, "@:2: text follows a closing quote"},
    {"y,\"a\n1,2\n", {Y}, SBPS_BAD_FILE, "@:1: a quote is opened"},
    {"y,a\n1,\"2,5\"\n2,3\n",
     {Y},
     SBPS_BAD_FILE,
     "@:2: column 'a': '2,5' has a decimal comma; write plain numbers"},
    {"y;a\n1;2,5\n2;3.5\n",
     {Y},
     SBPS_BAD_FILE,
     "@:3: column 'a': '3.5' has a decimal point, but other cells of the column have a decimal "
     "comma"},
    {"y;a\n1;2,5\n2;1.234,5\n",
     {Y},
     SBPS_BAD_FILE,
     "@:3: column 'a': '1.234,5' has a decimal point, but"},
    {"y\ta\n1\t2\n3\n", {Y}, SBPS_BAD_FILE, "@:3: expected 2 columns, found 1"},
    {"y a\n1 2\n3  4 5 \n", {Y}, SBPS_BAD_FILE, "@:3: expected 2 columns, found 3"},
    {"(\xb5/\xe4rw)FEA1", {Y}, SBPS_BAD_ARG, "no column is named 'y'"},
    {"BZh is a name,y\n1,2\n", {.target = "Y"}, SBPS_BAD_ARG, "did you mean 'y'?"},
    {"PAR1\x01\x02",
     {Y},
     SBPS_BAD_FILE,
     "@: this is a Parquet file, which sbps cannot read; write"},
    {"y,,a\n1,2,3\n2,3,4\n", {Y}, SBPS_BAD_FILE, "@:1: column 2 has no name"},
    {"y,,a,\n1,2,3,4\n2,3,4,5\n",
     {.target = "z", .exclude = "b,a", .categorical = "c"},
     SBPS_BAD_ARG,
     "@:1: no column is named 'z' (--target), no column is named 'c' (--categorical), no "
     "column "
     "is named 'b' (--exclude), column 2 has no name, column 4 has no name"},
    {"y,a\n1,2,3\n2,3,4\n4,5,6\n", {Y}, SBPS_BAD_FILE, "@:2: expected 2 columns, found 3"},
    {"y,a\n1,2,\n2,3,\n", {Y}, SBPS_BAD_FILE, "@:2: expected 2 columns, found 3"},
    {"1,2,3\n4,5,6\n", {Y}, SBPS_BAD_FILE, "@:1: the first line holds only numbers"},
    {"y,a\n1,2\n2,3\n", {.intercept = true}, SBPS_BAD_ARG, "--target"},
    {"yield,a\n1,2\n2,3\n",
     {.target = "yeild"},
     SBPS_BAD_ARG,
     "--target: no column is named 'yeild'; did you mean 'yield'?"},
    {"y,apple\n1,2\n2,3\n",
     {Y, .features = "aple"},
     SBPS_BAD_ARG,
     "--features: no column is named 'aple'; did you mean 'apple'?"},
    {"y,apple\n1,2\n2,3\n", {Y, .weights = "appel"}, SBPS_BAD_ARG, "did you mean 'apple'?"},
    {"y,apple\n1,2\n2,3\n",
     {Y, .categorical = "zzzzzz"},
     SBPS_BAD_ARG,
     "--categorical: no column is named 'zzzzzz'"},
    {"y,a\n1,2\n2,3\n",
     {Y, .features = "a,,a"},
     SBPS_BAD_ARG,
     "--features: the list contains an empty name"},
    {"y,a\n1,2\n2,3\n", {Y, .features = "a,y"}, SBPS_BAD_ARG, "'y' is already the target"},
    {"y,a\n1,2\n2,3\n", {Y, .features = "a, a"}, SBPS_BAD_ARG, "'a' is already a feature"},
    {"y,a\n1,2\n2,3\n", {Y, .categorical = "a,a"}, SBPS_BAD_ARG, "'a' is named twice"},
    {"y,a\n1,2\n2,3\n", {Y, .categorical = "y"}, SBPS_BAD_ARG, "'y' is already the target"},
    {"y,a\n1,2\n2,3\n", {Y, .exclude = "b"}, SBPS_BAD_ARG, "--exclude: no column is named 'b'"},
    {"y,a\n1,2\n2,3\n", {Y, .exclude = "y"}, SBPS_BAD_ARG, "'y' is left out by --exclude"},
    {"y,a\n1,p\n2,q\n1,q\n",
     {Y, .reference = "a=r"},
     SBPS_BAD_ARG,
     "@: --reference: column 'a' has no level 'r'; there are p, q"},
    {"y,a\n1,2\n2,3\n", {Y, .reference = "a"}, SBPS_BAD_ARG, "'a' is not COLUMN=LEVEL"},
    {"y,a\n1,2\n2,3\n", {Y, .reference = "b=1"}, SBPS_BAD_ARG, "no column is named 'b'"},
    {"y,a\n1,2\n2,3\n",
     {Y, .reference = "a=2"},
     SBPS_BAD_ARG,
     "'a' is not a category; name it in"},
    {"y,a\n1,p\n2,q\n1,q\n", {Y, .reference = "a=p,a=q"}, SBPS_BAD_ARG, "'a' is named twice"},
    {"y,a\n1,2\n2,3\n", {Y, .weights = "y"}, SBPS_BAD_ARG, "'y' is already the target"},
    {"y,a\n1,2\n2,3\n",
     {Y, .weights = "a", .offset = "a"},
     SBPS_BAD_ARG,
     "already the weights"},
    {"y,a\n1,2\n2,3\n",
     {Y, .offset = "a", .features = "a"},
     SBPS_BAD_ARG,
     "already the offset"},
    {"y,a,w\n1,2,1\n2,3,-1\n",
     {Y, .weights = "w"},
     SBPS_BAD_DATA,
     "@:3: column 'w': the weight -1 is negative"},
    {"y,a,w\n1,2,0\n2,3,0\n", {Y, .weights = "w"}, SBPS_BAD_DATA, "every weight is 0"},
    {"y,a,w\n1,2,1\n2,3,inf\n", {Y, .weights = "w"}, SBPS_BAD_DATA, "@:3: column 'w': 'inf'"},
    {"y,c\n1,p\n2,p\n",
     {ND, .categorical = "c"},
     SBPS_BAD_DATA,
     "column 'c' has a single level ('p')"},
    {"y,a\n1,1e300\n2,-1e300\n", {Y}, SBPS_BAD_DATA, "power of ten"},
    {"y,a\n1,1e-200\n2,2e-200\n", {Y}, SBPS_BAD_DATA, "power of ten"},
    {"y,intercept\n1,2\n2,3\n", {Y}, SBPS_BAD_DATA, "named 'intercept'"},
    {"y,c,c=q\n1,p,1\n2,q,2\n", {Y, .categorical = "c"}, SBPS_BAD_DATA, "named 'c=q'"},
    {"y\n1\n2\n", {ND}, SBPS_BAD_ARG, "nothing to estimate"},
    {"1 1:2 2:x\n2 1:3\n", {.intercept = true}, SBPS_BAD_FILE, "@:1: column 'f2': 'x' is not"},
    {"1 1:2\nx 1:3\n", {.intercept = true}, SBPS_BAD_FILE, "@:2: column 'label': 'x' is not"},
    {"1 1:2\n2 0:3\n", {.intercept = true}, SBPS_BAD_FILE, "@:2: index 0: indices begin at 1"},
    {"1 1:2\n2 3:3 2:1\n",
     {.intercept = true},
     SBPS_BAD_FILE,
     "@:2: index 2 after 3: indices must increase"},
    {"1 1:2\n2 3:3 3:1\n", {.intercept = true}, SBPS_BAD_FILE, "@:2: index 3 after 3"},
    {"1 1:2\n2 3:\n", {.intercept = true}, SBPS_BAD_FILE, "@:2: '3:' is not index:value"},
    {"1 1:2\n2 3\n", {.intercept = true}, SBPS_BAD_FILE, "@:2: '3' is not index:value"},
    {"1 1:2\n2 -3:1\n", {.intercept = true}, SBPS_BAD_FILE, "@:2: '-3:1' is not index:value"},
    {"1 1:2\n2 qid:3 1:1\n",
     {.intercept = true},
     SBPS_BAD_FILE,
     "@:2: qid is for ranking models"},
    {"1 qid:3 1:2\n2 1:1\n",
     {.intercept = true},
     SBPS_BAD_FILE,
     "@:1: qid is for ranking models"},
    {"1 1:2\n2 1:nan\n", {.intercept = true}, SBPS_BAD_DATA, "@:2: column 'f1': the value is"},
    {"1 1:2\n2 1:inf\n", {.intercept = true}, SBPS_BAD_DATA, "@:2: column 'f1': 'inf'"},
    {"1 1:2\n2 3:1\n",
     {.intercept = true, .features = "f2"},
     SBPS_BAD_ARG,
     "'f2'; did you mean"},
    {"1 1:2\n2 1:3 2147483648:1\n",
     {.intercept = true},
     SBPS_BAD_FILE,
     "@:2: an index is above 2147483647"},
    {"1 1:2\n2 1:3 99999999999999999999999999:1\n",
     {.intercept = true},
     SBPS_BAD_FILE,
     "@:2: an index is above 2147483647"},
};

/* Copies the message to `out` with @ replaced by the path of the last file written. */
static void expand(const char *message, char *out)
{
    for (; *message; message++) {
        if (*message == '@')
            out = stpcpy(out, file_path);
        else
            *out++ = *message;
    }
    *out = '\0';
}

static bool refuses(const refusal *c)
{
    char expected[1024];
    rows *r = rows_from_text(c->text, &c->spec);
    expand(c->message, expected);
    if (!r && error.status == c->status && strstr(error.text, expected)) {
        size_t length = strlen(file_path);
        return strncmp(error.text, file_path, length) == 0 && error.text[length] == ':';
    }
    printf("expected %d '%s', got %d '%s'\n", c->status, expected, error.status, error.text);
    rows_destroy(r);
    return false;
}

TEST(every_bad_table_is_refused_with_its_message)
{
    for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++)
        CHECK(refuses(&refusals[k]));
}

/* n rows with one index each would be n^2 dense cells of 8 bytes. */
TEST(a_sparse_file_too_big_to_be_dense_is_refused)
{
    double memory = machine_memory();
    size_t n = (size_t)(1.1 * sqrt(memory / 8)), size;
    const rows_spec spec = {.intercept = true, .storage = "double"};
    char *text;
    rows *r;
    FILE *file = open_memstream(&text, &size);
    for (size_t i = 1; i <= n; i++) fprintf(file, "%zu %zu:1\n", i, i);
    fclose(file);
    CHECK(rows_read(put("wide.svm", text, size), &spec, &r, &error) == SBPS_NO_MEM && !r);
    CHECK(strstr(error.text, "wide.svm: ") && strstr(error.text, "GiB"));
    free(text);
}

TEST(one_constant_column_may_replace_the_intercept)
{
    const rows_spec spec = {.target = "y"};
    rows *r = rows_from_text("y,one,a\n1,3,1\n2,3,2\n", &spec);
    REQUIRE(r);
    CHECK(r->d == 2 && r->table.sd[0] == 0 && r->table.mean[0] == 3);
    rows_destroy(r);
}

/* The posterior of their coefficients is the prior. */
TEST(constant_columns_are_kept_with_a_note)
{
    static const struct {
        const char *text;
        rows_spec spec;
        size_t d;
        const char *note;
    } cases[] = {
        {"y,a,x\n1,1,3\n2,2,3\n", {Y}, 3, "column 'x': the same in all rows"},
        {"y,x\n1,.1\n2,.1\n3,.1\n4,.1\n5,.1\n6,.1\n", {Y}, 2, "column 'x'"},
        {"y,a,x\n1,1,0\n2,2,0\n", {ND}, 2, "column 'x'"},
        {"y,a,x\n1,1,3\n2,1,3\n", {ND}, 2, "column 'x'"},
        {"y,a,x\n1,1,3\n2,2,3\n", {ND, .standardize = true}, 2, "column 'x'"},
        {"y,a,b\n1,1,3\n2,1,3\n", {Y, .storage = "float"}, 3, "columns 'a', 'b': the"},
        {"y,c,a\n1,p,1\n2,p,2\n",
         {Y, .categorical = "c"},
         2,
         "column 'c' has a single level ('p') and is left out"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rows *r = rows_from_text(cases[i].text, &cases[i].spec);
        REQUIRE(r);
        CHECK(r->d == cases[i].d);
        CHECK(r->table.notes && strstr(r->table.notes, cases[i].note));
        for (size_t j = 0; j < r->d; j++) CHECK(isfinite(r->storage.kind->cell(r, 0, j)));
        rows_destroy(r);
    }
}

TEST(a_row_index_without_a_name_may_be_left_out)
{
    const rows_spec spec = {.target = "y", .features = "a"};
    rows *r = rows_from_text(",y,a\n1,2,3\n2,3,4\n", &spec);
    REQUIRE(r);
    CHECK(r->d == 1 && row_with(r, 2)[0] == 3);
    rows_destroy(r);
}

TEST(the_message_for_an_unreadable_file_has_the_reason)
{
    const rows_spec spec = {.target = "y"};
    char path[600];
    rows *r;
    snprintf(path, sizeof path, "%s/absent.csv", folder);
    CHECK(rows_read(path, &spec, &r, &error) == SBPS_NO_FILE && !r);
    CHECK(strstr(error.text, path) && strstr(error.text, "No such file"));
    CHECK(rows_read(folder, &spec, &r, &error) == SBPS_NO_FILE && !r);
    CHECK(strstr(error.text, "directory"));
    CHECK(rows_read(path, &spec, &r, NULL) == SBPS_NO_FILE);
}

TEST(damaged_gzip_is_refused_wherever_it_is_cut)
{
    const rows_spec spec = {.target = "y"};
    static const char table[] = "y,a,b\n1,2,3\n4,5,6\n7,8,10\n";
    char bytes[512];
    rows *r;
    FILE *file = fopen(put_gzip("t.gz", table, strlen(table)), "r");
    size_t size = fread(bytes, 1, sizeof bytes - 4, file);
    fclose(file);
    for (size_t cut = 2; cut < size; cut++) {
        CHECK(rows_read(put("cut.gz", bytes, cut), &spec, &r, &error) == SBPS_BAD_FILE && !r);
        CHECK(strstr(error.text, "gzip"));
    }
    strcpy(bytes + size, "abc");
    CHECK(rows_read(put("tail.gz", bytes, size + 3), &spec, &r, &error) == SBPS_BAD_FILE);
    CHECK(strstr(error.text, "follow the gzip data"));
    bytes[size - 8] ^= 1; /* the checksum */
    CHECK(rows_read(put("crc.gz", bytes, size), &spec, &r, &error) == SBPS_BAD_FILE);
    CHECK(strstr(error.text, "damaged"));
}

TEST(zero_bytes_are_refused_with_their_line)
{
    const rows_spec spec = {.target = "y"};
    static const char table[] = "y,a\n1,2\n3,\0004\n";
    rows *r;
    CHECK(rows_read(put("z.csv", table, sizeof table - 1), &spec, &r, &error) == SBPS_BAD_FILE);
    CHECK(strstr(error.text, "z.csv:3: the file has a zero byte"));
}

CHECK_MAIN
