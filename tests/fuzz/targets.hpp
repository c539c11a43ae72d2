// What a stranger can hand us, one function each. A wrong answer, an escaping
// exception and whatever a sanitizer sees is a finding.
#pragma once

#include <string_view>
#include <vector>

namespace alkstore::fuzz {

void spec(std::string_view input);   ///< a schedule's spec, and its grid
void names(std::string_view input);  ///< names, error texts
void config(std::string_view input); ///< a configuration file
void http(std::string_view input);   ///< an endpoint's answer, byte for byte
void schema(std::string_view input); ///< changes to a good file, see the source

struct target {
  std::string_view name;
  void (*run)(std::string_view);
};

inline const std::vector<target> targets{{"spec", spec},
                                         {"names", names},
                                         {"config", config},
                                         {"http", http},
                                         {"schema", schema}};

/// Ends the program with what was expected.
void require(bool holds, const char* what);

} // namespace alkstore::fuzz
