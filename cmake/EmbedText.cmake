# SPDX-License-Identifier: BSD-3-Clause
# Turn files into C strings, with nothing but CMake:
#   cmake -DOUTPUT=page.c -DHEADER=component/page.h "-DFILES=name=path;name=path" -P EmbedText.cmake
set(text "/* Made by cmake/EmbedText.cmake. */\n#include \"${HEADER}\"\n")
foreach(entry ${FILES})
  string(REGEX MATCH "^([^=]+)=(.*)$" matched "${entry}")
  set(name ${CMAKE_MATCH_1})
  file(READ "${CMAKE_MATCH_2}" hex HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  string(APPEND text "\nconst char ${name}[] = {\n${hex}0};\n")
endforeach()
# Bytes above 0x7f do not fit a signed char without a word about it.
string(REGEX REPLACE "(0x[89a-f][0-9a-f])," "(char)\\1," text "${text}")
file(WRITE "${OUTPUT}" "${text}")
