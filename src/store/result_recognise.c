/* Whether a file is a run of ours, by a few bytes of it: so that no other file is written over. */
#include "store/result.h"

#include "store/trailer.h"

#include <stdio.h>
#include <string.h>

#define HEAD 2048 /* Stan's comments end before */

static bool begins(const char *head, const char *with)
{
    return !strncmp(head, with, strlen(with));
}

static bool has_trailer(FILE *stream)
{
    unsigned char tail[TRAILER_SIZE];
    return fseeko(stream, -(off_t)sizeof tail, SEEK_END) == 0 &&
           fread(tail, 1, sizeof tail, stream) == sizeof tail && trailer_begins(tail);
}

bool result_recognise(const char *path)
{
    char head[HEAD + 1] = "";
    FILE *stream = fopen(path, "re");
    if (!stream) return false;
    head[fread(head, 1, HEAD, stream)] = '\0';
    bool ours = begins(head, "chain,draw,") || begins(head, "chain,draw\n") ||
                (begins(head, "# stan_version_major") && strstr(head, "# written_by = sbps")) ||
                (begins(head, "\x89HDF\r\n\x1a\n") && has_trailer(stream));
    fclose(stream);
    return ours;
}
