# From the table of algorithms, one source per family, since its methods share much that is compiled then
# but once; POKER shares little. Each lists its lines of the table. The variable method_sources has them.
set(alone exact/poker)
set(table ${PROJECT_SOURCE_DIR}/cpp/bind/algorithms.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
file(STRINGS ${table} lines REGEX "^[^#]")
foreach(line IN LISTS lines)
  if(NOT line MATCHES "^([a-z]+)/([a-z_]+) ([A-Za-z]+)( bank)?$")
    message(FATAL_ERROR "${table}: '${line}' is not 'family/header Class', with or without 'bank'")
  endif()
  set(unit ${CMAKE_MATCH_1})
  if("${CMAKE_MATCH_1}/${CMAKE_MATCH_2}" IN_LIST alone)
    string(APPEND unit _${CMAKE_MATCH_2})
  endif()
  list(APPEND units ${unit})
  list(APPEND includes_${unit} "#include \"onlinesvm/methods/${CMAKE_MATCH_1}/${CMAKE_MATCH_2}.hpp\"\n")
  set(make method_of)
  if(CMAKE_MATCH_4)
    list(APPEND includes_${unit} "#include \"onlinesvm/bank/method_of.hpp\"\n")
    set(make bankable_method_of)
  endif()
  string(APPEND methods_${unit}
    "    all.push_back(${make}<${CMAKE_MATCH_3}>(\"${CMAKE_MATCH_3}\"));\n")
endforeach()
list(REMOVE_DUPLICATES units)

foreach(unit IN LISTS units)
  list(REMOVE_DUPLICATES includes_${unit})
  list(JOIN includes_${unit} "" includes)
  set(source ${PROJECT_BINARY_DIR}/methods/${unit}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
    "@includes@#include \"onlinesvm/model/method_of.hpp\"
#include \"families.hpp\"\n
namespace onlinesvm {\nvoid list_${unit}(std::vector<Method>& all) {\n@methods_${unit}@}\n}\n")
  list(APPEND method_sources ${source})
  string(APPEND declarations "void list_${unit}(std::vector<Method>& all);\n")
  string(APPEND calls "    list_${unit}(all);\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/methods/families.hpp @ONLY CONTENT
  "#pragma once\n#include <vector>\n#include \"onlinesvm/model/methods.hpp\"\n
namespace onlinesvm {\n@declarations@
inline std::vector<Method> list_methods() {\n    std::vector<Method> all;\n@calls@    return all;\n}\n}\n")
