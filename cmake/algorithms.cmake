# From the table of algorithms, one source per family, and one for its banks, so that they compile side
# by side; the variable algorithm_sources lists them.
set(table ${PROJECT_SOURCE_DIR}/cpp/bind/algorithms.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
file(STRINGS ${table} lines REGEX "^[^#]")
foreach(line IN LISTS lines)
  if(NOT line MATCHES "^([a-z]+)/([a-z_]+) ([A-Za-z]+)( bank)?$")
    message(FATAL_ERROR "${table}: '${line}' is not 'family/header Class', with or without 'bank'")
  endif()
  list(APPEND families ${CMAKE_MATCH_1})
  set(include "#include \"onlinesvm/${CMAKE_MATCH_1}/${CMAKE_MATCH_2}.hpp\"\n")
  string(FIND "${includes_${CMAKE_MATCH_1}}" "${include}" place)
  if(place EQUAL -1)
    string(APPEND includes_${CMAKE_MATCH_1} "${include}")
  endif()
  string(APPEND binds_${CMAKE_MATCH_1} "    bind<${CMAKE_MATCH_3}>(m, \"${CMAKE_MATCH_3}\");\n")
  if(CMAKE_MATCH_4)
    string(APPEND banks_${CMAKE_MATCH_1} "    bind_bank<${CMAKE_MATCH_3}>(m, \"${CMAKE_MATCH_3}\");\n")
  endif()
endforeach()
list(REMOVE_DUPLICATES families)

foreach(family IN LISTS families)
  set(source ${PROJECT_BINARY_DIR}/bind/${family}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
    "#include \"bind.hpp\"\n@includes_${family}@
namespace onlinesvm::bind {\nvoid bind_${family}(nb::module_& m) {\n@binds_${family}@}\n}\n")
  list(APPEND algorithm_sources ${source})
  string(APPEND declarations "void bind_${family}(nb::module_& m);\n")
  string(APPEND calls "    bind_${family}(m);\n")
  if(banks_${family})
    set(source ${PROJECT_BINARY_DIR}/bind/${family}_banks.cpp)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
      "#include \"bank.hpp\"\n@includes_${family}@
namespace onlinesvm::bind {\nvoid bind_${family}_banks(nb::module_& m) {\n@banks_${family}@}\n}\n")
    list(APPEND algorithm_sources ${source})
    string(APPEND declarations "void bind_${family}_banks(nb::module_& m);\n")
    string(APPEND calls "    bind_${family}_banks(m);\n")
  endif()
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/bind/families.hpp @ONLY CONTENT
  "#include <nanobind/nanobind.h>\nnamespace onlinesvm::bind {\nnamespace nb = nanobind;\n@declarations@
inline void bind_families(nb::module_& m) {\n@calls@}\n}\n")
