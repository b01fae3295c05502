/* Values of tables in memory, one by one: they may lie anywhere. */
#include "ingest/memory/fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define INTEGER(name, type, wide, format)                                                      \
    static double name##_number(const void *at)                                                \
    {                                                                                          \
        type value;                                                                            \
        memcpy(&value, at, sizeof value);                                                      \
        return (double)value;                                                                  \
    }                                                                                          \
    static void name##_print(const void *at, char *room)                                       \
    {                                                                                          \
        type value;                                                                            \
        memcpy(&value, at, sizeof value);                                                      \
        snprintf(room, CELL_TEXT_BYTES, "%" format, (wide)value);                              \
    }                                                                                          \
    const value_kind value_##name = {sizeof(type), name##_number, name##_print};

INTEGER(int8, int8_t, int64_t, PRId64)
INTEGER(int16, int16_t, int64_t, PRId64)
INTEGER(int32, int32_t, int64_t, PRId64)
INTEGER(int64, int64_t, int64_t, PRId64)
INTEGER(uint8, uint8_t, uint64_t, PRIu64)
INTEGER(uint16, uint16_t, uint64_t, PRIu64)
INTEGER(uint32, uint32_t, uint64_t, PRIu64)
INTEGER(uint64, uint64_t, uint64_t, PRIu64)

static double double_number(const void *at)
{
    double value;
    memcpy(&value, at, sizeof value);
    return value;
}

static double float_number(const void *at)
{
    float value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* IEEE 754 binary16: a sign, 5 bits of exponent, 10 of fraction. */
static double half_number(const void *at)
{
    uint16_t bits;
    memcpy(&bits, at, sizeof bits);
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 0   ? ldexp(fraction, -24)
                  : exponent < 31 ? ldexp(1024 + fraction, exponent - 25)
                  : fraction == 0 ? INFINITY
                                  : NAN;
    return bits & 0x8000 ? -size : size;
}

/* 128 bits, least first: the whole number that a decimal is before its unit is taken out. */
static double decimal_number(const void *at)
{
    uint64_t word[2];
    memcpy(word, at, sizeof word);
    bool negative = word[1] >> 63;
    if (negative) {
        word[0] = ~word[0] + 1;
        word[1] = ~word[1] + (word[0] == 0);
    }
    double size = ldexp((double)word[1], 64) + (double)word[0];
    return negative ? -size : size;
}

const value_kind value_double = {sizeof(double), double_number, NULL};
const value_kind value_float = {sizeof(float), float_number, NULL};
const value_kind value_half = {sizeof(uint16_t), half_number, NULL};
const value_kind value_decimal = {2 * sizeof(uint64_t), decimal_number, NULL};
