/* Rows of counter-based random numbers, for kernels_body.h. Philox4x32-10 (Salmon, Moraes,
 * Dror, Shaw 2011) with counter (row, block) and key seed gives words 4 block to 4 block + 3
 * of a row; COUNTER_LANES rows are computed at a time. */
#define COUNTER_LANES  8
#define COUNTER_ROUNDS 10
#define COUNTER_M0     0xD2511F53U
#define COUNTER_M1     0xCD9E8D57U
#define COUNTER_W0     0x9E3779B9U
#define COUNTER_W1     0xBB67AE85U

typedef struct {
    uint32_t word[4];
} counter_words;

/* Number j of a block, from 16-bit halves of its words, the low one first. */
static inline double counter_number(const counter_words *w, size_t j)
{
    return (w->word[j / 2] >> j % 2 * 16 & 0xffffU) * COUNTER_UNIT - COUNTER_REACH;
}

#if WIDE > 1 /* AVX2 and better */

/* One word of each of four rows, in the low halves of its lanes; the high halves are not
 * defined. */
typedef struct {
    __m256i c[4];
} counter_quad;

static inline void counter_round(counter_quad *q, uint32_t k0, uint32_t k1)
{
    const __m256i a = _mm256_mul_epu32(q->c[0], _mm256_set1_epi64x(COUNTER_M0));
    const __m256i b = _mm256_mul_epu32(q->c[2], _mm256_set1_epi64x(COUNTER_M1));
    const __m256i x = _mm256_xor_si256(q->c[1], _mm256_set1_epi64x(k0));
    const __m256i y = _mm256_xor_si256(q->c[3], _mm256_set1_epi64x(k1));
    q->c[0] = _mm256_xor_si256(_mm256_srli_epi64(b, 32), x);
    q->c[2] = _mm256_xor_si256(_mm256_srli_epi64(a, 32), y);
    q->c[1] = b;
    q->c[3] = a;
}

static inline counter_quad counter_begin(uint64_t first, uint32_t block)
{
    const __m256i row =
        _mm256_add_epi64(_mm256_set1_epi64x((long long)first), _mm256_set_epi64x(3, 2, 1, 0));
    return (counter_quad){
        {row, _mm256_srli_epi64(row, 32), _mm256_set1_epi64x(block), _mm256_setzero_si256()}};
}

/* Stores the words of four rows: the low 128-bit halves are rows 0 and 1, the high ones 2
 * and 3. */
static inline void counter_end(const counter_quad *q, counter_words *out)
{
    const __m256i a = _mm256_blend_epi32(q->c[0], _mm256_slli_epi64(q->c[1], 32), 0xaa);
    const __m256i b = _mm256_blend_epi32(q->c[2], _mm256_slli_epi64(q->c[3], 32), 0xaa);
    const __m256i even = _mm256_unpacklo_epi64(a, b), odd = _mm256_unpackhi_epi64(a, b);
    _mm_storeu_si128((__m128i *)&out[0], _mm256_castsi256_si128(even));
    _mm_storeu_si128((__m128i *)&out[1], _mm256_castsi256_si128(odd));
    _mm_storeu_si128((__m128i *)&out[2], _mm256_extracti128_si256(even, 1));
    _mm_storeu_si128((__m128i *)&out[3], _mm256_extracti128_si256(odd, 1));
}

static inline void counter_block(uint64_t seed, uint64_t first, uint32_t block,
                                 counter_words out[COUNTER_LANES])
{
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    counter_quad a = counter_begin(first, block), b = counter_begin(first + 4, block);
    for (int i = 0; i < COUNTER_ROUNDS; i++) {
        counter_round(&a, k0, k1);
        counter_round(&b, k0, k1);
        k0 += COUNTER_W0;
        k1 += COUNTER_W1;
    }
    counter_end(&a, out);
    counter_end(&b, out + 4);
}

static inline void counter_four(const counter_words *w, double *out)
{
    const __m128i halves = _mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i *)w));
    const __m256d scaled =
        _mm256_mul_pd(_mm256_cvtepi32_pd(halves), _mm256_set1_pd(COUNTER_UNIT));
    _mm256_storeu_pd(out, _mm256_sub_pd(scaled, _mm256_set1_pd(COUNTER_REACH)));
}

static inline void counter_eight(const counter_words *w, double *out)
{
    const __m256d unit = _mm256_set1_pd(COUNTER_UNIT), reach = _mm256_set1_pd(COUNTER_REACH);
    const __m256i halves = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)w));
    const __m256d low = _mm256_cvtepi32_pd(_mm256_castsi256_si128(halves));
    const __m256d high = _mm256_cvtepi32_pd(_mm256_extracti128_si256(halves, 1));
    _mm256_storeu_pd(out, _mm256_sub_pd(_mm256_mul_pd(low, unit), reach));
    _mm256_storeu_pd(out + 4, _mm256_sub_pd(_mm256_mul_pd(high, unit), reach));
}

#else

static inline void counter_block(uint64_t seed, uint64_t first, uint32_t block,
                                 counter_words out[COUNTER_LANES])
{
    for (size_t l = 0; l < COUNTER_LANES; l++) {
        uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
        uint32_t c[4] = {(uint32_t)(first + l), (uint32_t)((first + l) >> 32), block, 0};
        for (int i = 0; i < COUNTER_ROUNDS; i++) {
            uint64_t a = (uint64_t)COUNTER_M0 * c[0], b = (uint64_t)COUNTER_M1 * c[2];
            c[0] = (uint32_t)(b >> 32) ^ c[1] ^ k0;
            c[2] = (uint32_t)(a >> 32) ^ c[3] ^ k1;
            c[1] = (uint32_t)b;
            c[3] = (uint32_t)a;
            k0 += COUNTER_W0;
            k1 += COUNTER_W1;
        }
        out[l] = (counter_words){{c[0], c[1], c[2], c[3]}};
    }
}

static inline void counter_four(const counter_words *w, double *out)
{
    for (size_t j = 0; j < 4; j++) out[j] = counter_number(w, j);
}

static inline void counter_eight(const counter_words *w, double *out)
{
    for (size_t j = 0; j < 8; j++) out[j] = counter_number(w, j);
}

#endif

/* `count` numbers of a block, for `rows` rows. */
static inline void counter_numbers(const counter_words *words, size_t rows, size_t count,
                                   double *out, size_t stride)
{
    for (size_t l = 0; l < rows; l++) {
        double *row = out + l * stride;
        if (count >= 8)
            counter_eight(&words[l], row);
        else if (count >= 4)
            counter_four(&words[l], row);
        for (size_t j = count < 4 ? 0 : 4; j < count && count < 8; j++)
            row[j] = counter_number(&words[l], j);
    }
}

/* See kernels.counter_rows. */
static void counter_rows(uint64_t seed, uint64_t first, size_t n, size_t count, double *out,
                         size_t stride, uint32_t *pairs)
{
    size_t pair = counter_pair(count), last = pair / 4;
    counter_words words[COUNTER_LANES];
    for (size_t done = 0; done < n; done += COUNTER_LANES) {
        size_t rows = n - done < COUNTER_LANES ? n - done : COUNTER_LANES;
        for (size_t b = 0; 8 * b < count || (pairs && b <= last); b++) {
            counter_block(seed, first + done, (uint32_t)b, words);
            if (8 * b < count)
                counter_numbers(words, rows, count - 8 * b, out + done * stride + 8 * b,
                                stride);
            for (size_t l = 0; pairs && b == last && l < rows; l++) {
                pairs[2 * (done + l)] = words[l].word[pair % 4];
                pairs[2 * (done + l) + 1] = words[l].word[pair % 4 + 1];
            }
        }
    }
}
