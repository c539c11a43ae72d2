// What may stand on the command line of `alkstore`.
#pragma once

namespace alkstore::cli {

/// Parses it and runs the command. Returns the exit status, see
/// exit_status.hpp; what went wrong was said on standard error.
int run_command_line(int argc, char** argv);

} // namespace alkstore::cli
