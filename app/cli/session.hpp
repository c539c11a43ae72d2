// One run of the command line: which store, and how it is shown.
#pragma once

#include "app/cli/output.hpp"
#include "app/config.hpp"
#include "substrate/names.hpp"
#include "substrate/transaction.hpp"

#include <string>

namespace alkstore::cli {

/// What holds for every command.
struct settings {
  std::string database;    ///< empty: the configuration's, or ALKSTORE_DATABASE
  std::string config_file; ///< empty: none
  bool create = false;     ///< makes the store if it is missing
  bool json = false;
  bool utc = false;
};

/// The configuration file has findings, which were printed.
struct wrong_config {};

class session {
public:
  /// Reads the configuration file, if one is named. Throws wrong_config.
  explicit session(settings chosen);

  /// The path of the store. Errors: invalid_argument if none is named.
  const std::string& database() const;

  /// Opens the store without the means to change it. Errors: not_found, and as
  /// the connection says.
  connection open_to_read() const;

  /// Opens it to be changed. A file that is no store is refused unless
  /// `create` was given.
  connection open_to_write() const;

  /// Where nothing of this queue is there, but one is that is nearly called so,
  /// says that on standard error.
  void hint_at_queues(transaction& tx, const queue_name& queue) const;

  const settings& chosen() const noexcept { return chosen_; }
  const output& out() const noexcept { return out_; }

private:
  open_options options(bool read_only) const;

  settings chosen_;
  node_config config_;
  output out_;
};

} // namespace alkstore::cli
