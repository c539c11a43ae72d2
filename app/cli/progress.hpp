// How far a long piece of work is, on the terminal.
#pragma once

#include "substrate/time.hpp"

#include <string>

namespace alkstore::cli {

/// One line on standard error that is written over, if that is a terminal; else
/// nothing at all. It is gone afterwards.
class progress {
public:
  explicit progress(std::string doing);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress();

  /// 0 to 1, or less where nobody can tell: then the time is shown. `count` is
  /// shown where it is not 0.
  void show(double done, int64_t count = 0);

private:
  std::string doing_;
  bool on_terminal_;
  steady_time begin_, shown_{};
};

} // namespace alkstore::cli
