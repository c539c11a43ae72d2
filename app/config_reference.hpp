// The configuration's keys for people.
#pragma once

#include <string>

namespace alkstore {

/// All keys as Markdown, a table a section.
std::string config_reference();

/// All keys for a terminal.
std::string config_help();

} // namespace alkstore
