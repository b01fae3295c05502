/* Ranks that are threads of one process: a transport for tests that need no mpirun. */
#ifndef TESTS_RANKS_BY_THREADS_H
#define TESTS_RANKS_BY_THREADS_H

#include "core/ranks/ranks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define TEAM_MAX 8

typedef struct team {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t size;
    void *letter[TEAM_MAX][TEAM_MAX]; /* [from][to]; NULL: no message */
    void (*body)(ranks *among, void *self);
    void *self;
} team;

typedef struct {
    team *of;
    size_t rank;
    ranks among;
    double buffer[TEAM_MAX];
} team_member;

static void team_send(void *self, size_t to, const void *bytes, size_t size)
{
    const team_member *m = self;
    void **letter = &m->of->letter[m->rank][to], *copy = malloc(size + 1);
    memcpy(copy, bytes, size);
    pthread_mutex_lock(&m->of->lock);
    while (*letter) pthread_cond_wait(&m->of->changed, &m->of->lock);
    *letter = copy;
    pthread_cond_broadcast(&m->of->changed);
    pthread_mutex_unlock(&m->of->lock);
}

static void team_receive(void *self, size_t from, void *bytes, size_t size)
{
    const team_member *m = self;
    void **letter = &m->of->letter[from][m->rank];
    pthread_mutex_lock(&m->of->lock);
    while (!*letter) pthread_cond_wait(&m->of->changed, &m->of->lock);
    memcpy(bytes, *letter, size);
    free(*letter);
    *letter = NULL;
    pthread_cond_broadcast(&m->of->changed);
    pthread_mutex_unlock(&m->of->lock);
}

static void team_broadcast(void *self, size_t from, void *bytes, size_t size)
{
    const team_member *m = self;
    if (m->rank != from) {
        team_receive(self, from, bytes, size);
        return;
    }
    for (size_t to = 0; to < m->of->size; to++)
        if (to != from) team_send(self, to, bytes, size);
}

static void team_gather(void *self, const void *mine, void *all, size_t size)
{
    const team_member *m = self;
    char *to = all;
    memcpy(to + m->rank * size, mine, size);
    for (size_t from = 0; from < m->of->size; from++)
        team_broadcast(self, from, to + from * size, size);
}

/* A message is stored at its destination, so that all ranks can send first. */
static void team_exchange(void *self, const uint64_t *out, const size_t *words, uint64_t *in,
                          const size_t *got)
{
    const team_member *m = self;
    const uint64_t *own = out;
    for (size_t to = 0; to < m->of->size; out += words[to++]) {
        if (to == m->rank)
            own = out;
        else
            team_send(self, to, out, words[to] * sizeof *out);
    }
    for (size_t from = 0; from < m->of->size; in += got[from++]) {
        if (from != m->rank)
            team_receive(self, from, in, got[from] * sizeof *in);
        else if (got[from] > 0)
            memcpy(in, own, got[from] * sizeof *in);
    }
}

static const transport by_threads = {.send = team_send,
                                     .receive = team_receive,
                                     .broadcast = team_broadcast,
                                     .gather = team_gather,
                                     .all_to_all = team_exchange};

static void *team_thread(void *self)
{
    team_member *m = self;
    m->of->body(&m->among, m->of->self);
    return NULL;
}

/* Runs `body` on this many ranks at the same time. */
static void team_run(size_t size, void (*body)(ranks *among, void *self), void *self)
{
    team t = {.size = size, .body = body, .self = self};
    team_member member[TEAM_MAX];
    pthread_t thread[TEAM_MAX];
    pthread_mutex_init(&t.lock, NULL);
    pthread_cond_init(&t.changed, NULL);
    for (size_t i = 0; i < size; i++) {
        member[i] = (team_member){.of = &t, .rank = i};
        member[i].among = (ranks){.by = &by_threads,
                                  .self = &member[i],
                                  .size = size,
                                  .rank = i,
                                  .scratch = member[i].buffer};
        pthread_create(&thread[i], NULL, team_thread, &member[i]);
    }
    for (size_t i = 0; i < size; i++) pthread_join(thread[i], NULL);
    pthread_cond_destroy(&t.changed);
    pthread_mutex_destroy(&t.lock);
}

#endif
