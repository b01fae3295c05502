# Charts that can be zoomed in the pages of `sbps report`: uPlot, an npm package pinned by src/output/page/npm/package-lock.json, becomes part of
# the program. Off by default, for it asks npm for the package when the build is configured; without it pages have the same pictures as
# SVG, and say so.
option(SBPS_UPLOT "Pages with charts that can be zoomed, by uPlot from npm" OFF)

set(library "")
set(style "")
if(SBPS_UPLOT)
    find_program(SBPS_NPM npm)
    set(npm_folder ${CMAKE_BINARY_DIR}/npm)
    set(package ${npm_folder}/node_modules/uplot)
    file(COPY src/output/page/npm/package.json src/output/page/npm/package-lock.json DESTINATION ${npm_folder})
    if(SBPS_NPM AND NOT EXISTS ${package}/dist/uPlot.iife.min.js)
        execute_process(COMMAND ${SBPS_NPM} ci --ignore-scripts --no-audit --no-fund --fetch-retries=1
                        WORKING_DIRECTORY ${npm_folder} TIMEOUT 120 OUTPUT_QUIET ERROR_QUIET)
    endif()
    if(EXISTS ${package}/dist/uPlot.iife.min.js)
        file(READ ${package}/LICENSE licence)
        file(READ ${package}/dist/uPlot.iife.min.js library)
        file(READ ${package}/dist/uPlot.min.css style)
        set(library "/*\n${licence}*/\n${library}")
    else()
        message(STATUS "npm is missing or has no uPlot: pages of `sbps report` have pictures of SVG alone")
    endif()
endif()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/embedded/uplot.js CONTENT "@library@" @ONLY)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/embedded/uplot.css CONTENT "@style@" @ONLY)
set(SBPS_UPLOT_FILES ${CMAKE_BINARY_DIR}/embedded/uplot.js ${CMAKE_BINARY_DIR}/embedded/uplot.css)
