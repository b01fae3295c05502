# sbps_sources(SOURCE...): sources of a module, by paths below its folder.
# sbps_library(): all sources as one set of objects, position independent, in libsbps.a and libsbps.so. Both define sbps_*
#   alone: libsbps.a is one object whose other symbols are local. Tests link libsbps-internal.a, which has them all.
# sbps_embed(VARIABLE FILE...): each file as an array of C, page.css as page_css; their sources go to the variable.
# sbps_program(SOURCE...): the command line, which carries the library in itself.
# sbps_benches(NAME...): bench/NAME.c, programs that the target `bench` runs one after another.

function(sbps_kernel_flags source keep)
    get_filename_component(stem ${source} NAME_WE)
    set(${keep} TRUE PARENT_SCOPE)
    if(DEFINED SBPS_FLAGS_${stem})
        if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
            set_source_files_properties(${source} PROPERTIES
                                        COMPILE_OPTIONS "${SBPS_FLAGS_${stem}}")
        else()
            set(${keep} FALSE PARENT_SCOPE)
        endif()
    endif()
endfunction()

function(sbps_public_header target)
    target_sources(${target} PUBLIC FILE_SET HEADERS
                   BASE_DIRS ${CMAKE_SOURCE_DIR}/include
                   FILES ${CMAKE_SOURCE_DIR}/include/sbps.h
                         ${CMAKE_SOURCE_DIR}/include/sbps_model.h
                         ${CMAKE_SOURCE_DIR}/include/sbps_ranks.h)
    target_link_libraries(${target} PRIVATE ${SBPS_LINK})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME sbps)
endfunction()

function(sbps_sources)
    foreach(source ${ARGN})
        cmake_path(ABSOLUTE_PATH source NORMALIZE)
        set_property(GLOBAL APPEND PROPERTY SBPS_SOURCES ${source})
    endforeach()
endfunction()

function(sbps_library)
    get_property(listed GLOBAL PROPERTY SBPS_SOURCES)
    foreach(source ${listed})
        sbps_kernel_flags(${source} keep)
        if(keep)
            list(APPEND sources ${source})
        endif()
    endforeach()

    add_library(sbps-objects OBJECT ${sources})
    target_include_directories(sbps-objects PRIVATE include src)
    target_include_directories(sbps-objects SYSTEM PRIVATE ${SBPS_INCLUDE})
    set_target_properties(sbps-objects PROPERTIES POSITION_INDEPENDENT_CODE ON)

    add_library(sbps-internal STATIC $<TARGET_OBJECTS:sbps-objects>)
    sbps_public_header(sbps-internal)
    set_target_properties(sbps-internal PROPERTIES OUTPUT_NAME sbps-internal)

    set(joined ${CMAKE_BINARY_DIR}/sbps-joined.o)
    add_custom_command(OUTPUT ${joined}
        COMMAND ${CMAKE_LINKER} -r -o ${joined} $<TARGET_OBJECTS:sbps-objects>
        COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${joined}
        DEPENDS sbps-objects $<TARGET_OBJECTS:sbps-objects>
        COMMAND_EXPAND_LISTS VERBATIM COMMENT "Joining the objects of libsbps.a")
    set_source_files_properties(${joined} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    add_library(sbps-static STATIC ${joined})
    set_target_properties(sbps-static PROPERTIES LINKER_LANGUAGE C)
    sbps_public_header(sbps-static)
    add_library(sbps::sbps-static ALIAS sbps-static)

    add_library(sbps-shared SHARED $<TARGET_OBJECTS:sbps-objects>)
    sbps_public_header(sbps-shared)
    set_target_properties(sbps-shared PROPERTIES
        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} EXPORT_NAME sbps)
    if(NOT SBPS_SANITIZE)
        target_link_options(sbps-shared PRIVATE -Wl,--no-undefined)
    endif()
    add_library(sbps::sbps ALIAS sbps-shared)
endfunction()

function(sbps_embed variable)
    foreach(file ${ARGN})
        get_filename_component(name ${file} NAME)
        string(REPLACE "." "_" name ${name})
        set(made ${CMAKE_BINARY_DIR}/embedded/${name}.c)
        get_filename_component(file ${file} ABSOLUTE)
        add_custom_command(OUTPUT ${made}
            COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DOUTPUT=${made} -DNAME=${name}
                    -P ${CMAKE_SOURCE_DIR}/cmake/Embed.cmake
            DEPENDS ${file} ${CMAKE_SOURCE_DIR}/cmake/Embed.cmake VERBATIM)
        list(APPEND sources ${made})
    endforeach()
    set(${variable} ${sources} PARENT_SCOPE)
endfunction()

function(sbps_program)
    add_executable(sbps ${ARGN})
    target_include_directories(sbps PRIVATE ${CMAKE_SOURCE_DIR})
    target_link_libraries(sbps PRIVATE sbps-internal)
endfunction()

function(sbps_benches)
    foreach(name ${ARGN})
        add_executable(bench-${name} EXCLUDE_FROM_ALL bench/${name}.c)
        target_include_directories(bench-${name} PRIVATE src)
        target_link_libraries(bench-${name} PRIVATE sbps-internal)
        list(APPEND commands COMMAND bench-${name})
    endforeach()
    add_custom_target(bench ${commands} VERBATIM)
endfunction()
