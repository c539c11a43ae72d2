// What `alkstore` exits with, from BSD's sysexits: where alkstore-node has the
// same status, it means the same.
#pragma once

#include "substrate/error.hpp"

#include <string_view>

namespace alkstore::cli {

struct exit_status {
  int number;
  std::string_view when; ///< for the manual page and docs/cli.md
};

inline constexpr exit_status statuses[] = {
  {0, "it was done"},
  {64, "the command line is wrong: an option, a name, a spec, a value"},
  {65, "the data is wrong: a damaged or too new database, a payload that is "
       "too large, a line that is no message"},
  {66, "what was named is not there: the database, a file, a job, a schedule"},
  {70, "an error in alkstore itself"},
  {73, "it cannot be put there: the backup's file exists, or another job holds "
       "the dedupe key"},
  {74, "the disk is full or failed"},
  {75, "another process held the database for too long; try again"},
  {77, "a permission is missing"},
  {78, "the configuration file is wrong"},
};

int status_of(errc code);

} // namespace alkstore::cli
