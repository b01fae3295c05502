# A file as an array of C: cmake -DINPUT=page.css -DOUTPUT=page_css.c -DNAME=page_css -P cmake/Embed.cmake
# makes `const char page_css[]`, which ends with a zero.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "extern const char ${NAME}[];\nconst char ${NAME}[] = {\n${bytes}0\n};\n")
