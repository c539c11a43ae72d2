#include "app/cli/progress.hpp"

#include "substrate/clock.hpp"

#include <unistd.h>

#include <iostream>

namespace alkstore::cli {

namespace {

constexpr auto clear_line = "\r\x1b[K";

} // namespace

progress::progress(std::string doing)
  : doing_(std::move(doing)),
    on_terminal_(::isatty(STDERR_FILENO) == 1),
    begin_(clock::system().steady_now()) {}

progress::~progress() {
  if (on_terminal_ && shown_ != steady_time{})
    std::cerr << clear_line << std::flush;
}

void progress::show(double done, int64_t count) {
  constexpr millis interval{100};
  auto now = clock::system().steady_now();
  if (!on_terminal_ || now - shown_ < interval)
    return;
  shown_ = now;
  std::cerr << clear_line << doing_;
  if (count > 0)
    std::cerr << ": " << count;
  if (done >= 0)
    std::cerr << ", " << static_cast<int>(done * 100) << " %";
  else
    std::cerr << ", " << (now - begin_).count() / 1000 << " s";
  std::cerr << std::flush;
}

} // namespace alkstore::cli
