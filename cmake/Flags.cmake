# How every file is compiled. Results must not depend on the compiler's mood: no contraction, no
# fast-math, no -march=native; the instruction-set files alone get their own flags.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
endif()

option(SBPS_WERROR "Treat warnings as errors" ON)
set(SBPS_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=: address,undefined or thread")
option(SBPS_COVERAGE "Count executed lines for gcov" OFF)

add_compile_definitions(_GNU_SOURCE)
add_compile_options(
    -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
    -Wcast-qual
    -ffp-contract=off -fno-math-errno
    # No build directory in __FILE__: the same sources give the same bytes anywhere.
    -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(SBPS_WERROR)
    add_compile_options(-Werror)
endif()

if(SBPS_SANITIZE)
    add_compile_options(-fsanitize=${SBPS_SANITIZE} -fno-sanitize-recover=all
                        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${SBPS_SANITIZE})
endif()
if(NOT SBPS_SANITIZE)
    # A memory error ends the program instead of corrupting data. Level 3 of FORTIFY also checks
    # writes to buffers whose size is known only at run time.
    include(CheckCCompilerFlag)
    include(CheckCSourceCompiles)
    set(hardening -fstack-protector-strong)
    foreach(flag -fstack-clash-protection -fcf-protection)
        string(MAKE_C_IDENTIFIER "SBPS_HAS${flag}" has)
        check_c_compiler_flag("-Werror ${flag}" ${has})
        if(${has})
            list(APPEND hardening ${flag})
        endif()
    endforeach()
    set(CMAKE_REQUIRED_FLAGS "-Werror -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
    check_c_source_compiles("#include <string.h>\nint main(void) { return (int)strlen(\"\"); }"
                            SBPS_HAS_FORTIFY_3)
    unset(CMAKE_REQUIRED_FLAGS)
    set(fortify_level 2)
    if(SBPS_HAS_FORTIFY_3)
        set(fortify_level 3)
    endif()
    add_compile_options(${hardening}
        "$<$<CONFIG:Release>:SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${fortify_level}>")
    add_link_options(-Wl,-z,relro -Wl,-z,now)
endif()
if(SBPS_COVERAGE)
    add_compile_options(--coverage)
    add_link_options(--coverage)
endif()

# Kernels: file name -> flags, used on x86-64 only; elsewhere they are not compiled.
set(SBPS_FLAGS_kernels_avx2 -mavx2 -mfma)
set(SBPS_FLAGS_kernels_avx512 -mavx512f -mavx512dq -mavx512vl -mavx512bw -mavx2 -mfma)
