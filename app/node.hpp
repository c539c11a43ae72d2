// The node: runs a store until a signal comes.
#pragma once

#include "app/config.hpp"

#include <string>

namespace alkstore {

/// Exit statuses, from BSD's sysexits.
enum exit_status : int {
  exit_ok = 0,
  exit_data = 65,     ///< EX_DATAERR: the file is damaged, or too new for us
  exit_software = 70, ///< EX_SOFTWARE: something could not be kept running
  exit_io = 74,       ///< EX_IOERR: disk full, or the file failed or was moved
  exit_retry = 75,    ///< EX_TEMPFAIL: another process holds the file
  exit_config = 78,   ///< EX_CONFIG
};

/// Runs the node until SIGTERM or SIGINT: the first ends it in good order, the
/// second cuts what is still in flight. `caf_options`: the configuration file
/// without our block. Call it before any thread is started: it blocks the
/// signals for all that follow.
exit_status run_node(const node_config& config, const std::string& caf_options);

} // namespace alkstore
