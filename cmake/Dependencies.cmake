# netCDF-C, zlib, OpenBLAS with LAPACKE, the Random123 headers, threads, libm: all from Debian.

find_package(PkgConfig QUIET)
if(NOT PKG_CONFIG_FOUND)
    message(FATAL_ERROR "pkg-config is missing: `make packages` installs what sbps needs")
endif()

# Linker items in link order, shared by the targets, the package config and sbps.pc.
set(SBPS_LINK "")
foreach(module netcdf zlib lapacke openblas)
    pkg_check_modules(DEP_${module} QUIET ${module})
    if(NOT DEP_${module}_FOUND)
        message(FATAL_ERROR "${module} is missing: `make packages` installs what sbps needs")
    endif()
    list(APPEND SBPS_LINK ${DEP_${module}_LDFLAGS})
    list(APPEND SBPS_INCLUDE ${DEP_${module}_INCLUDE_DIRS})
endforeach()
list(APPEND SBPS_LINK -lpthread -lm)
foreach(directory ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
    list(REMOVE_ITEM SBPS_LINK -L${directory})
endforeach()

find_path(RANDOM123_INCLUDE_DIR Random123/philox.h)
if(NOT RANDOM123_INCLUDE_DIR)
    message(FATAL_ERROR "Random123 is missing: `make packages` installs what sbps needs")
endif()
list(APPEND SBPS_INCLUDE ${RANDOM123_INCLUDE_DIR})
list(REMOVE_DUPLICATES SBPS_INCLUDE)
