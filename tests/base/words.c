/* Texts made by a stream: whole, or none. Names without what moves a terminal's cursor. */
#include "base/words.h"

#include "check.h"

/* ---- what the system may refuse: the linker puts these in the place of its own ---- */

static bool refuse_open, refuse_close;

FILE *__real_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size)
{
    return refuse_open ? NULL : __real_open_memstream(text, size);
}

int __real_fclose(FILE *stream);
int __wrap_fclose(FILE *stream);
int __wrap_fclose(FILE *stream)
{
    int rc = __real_fclose(stream);
    return refuse_close ? EOF : rc;
}

static char *name_of(const char *name)
{
    word_stream w;
    if (!words_open(&w)) return NULL;
    put_name(w.stream, name);
    return words_close(&w);
}

static bool shows(const char *name, const char *want)
{
    char *text = name_of(name);
    bool same = text && strcmp(text, want) == 0;
    free(text);
    return same;
}

TEST(names_lose_their_control_characters_and_nothing_else)
{
    CHECK(shows("", ""));
    CHECK(shows("income", "income"));
    CHECK(shows("a\nb\x1b[31m", "a?b?[31m"));
    CHECK(shows("\x7f", "?"));
    CHECK(shows("\xc2\x9b"
                "31m",
                "?31m"));                 /* CSI in UTF-8 */
    CHECK(shows("\xc2\xa9", "\xc2\xa9")); /* the copyright sign has the same first byte */
    CHECK(shows("\xc2", "\xc2"));         /* cut short */
    CHECK(shows("\xc3\xa4ge", "\xc3\xa4ge"));
}

TEST(a_text_that_could_not_be_made_is_none)
{
    refuse_open = true;
    CHECK(name_of("x") == NULL);
    refuse_open = false;
    refuse_close = true;
    CHECK(name_of("x") == NULL);
    refuse_close = false;
    CHECK(shows("x", "x"));
}

CHECK_MAIN
