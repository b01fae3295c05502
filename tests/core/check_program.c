/* A property that holds, one that is skipped and one that fails, for check.sh. */
#include "check.h"

TEST(it_holds)
{
    CHECK(check_failures == 0);
}

TEST(it_is_skipped)
{
    SKIP("on purpose");
}

TEST(that_fails)
{
    CHECK(check_failures < 0);
}

CHECK_MAIN
