#include "tests/system/line_log.hpp"

#include <stdexcept>

namespace alkstore::test {

steady_time steady_now() {
  return std::chrono::floor<millis>(std::chrono::steady_clock::now());
}

void line_log::add(pid_t from, std::string text) {
  {
    std::lock_guard guard{mutex_};
    lines_.push_back({from, steady_now(), std::move(text)});
  }
  grown_.notify_all();
}

void line_log::end(pid_t from) {
  {
    std::lock_guard guard{mutex_};
    ended_.insert(from);
  }
  grown_.notify_all();
}

log_line line_log::await(const std::string& piece, size_t count, pid_t from,
                         millis within) {
  std::unique_lock guard{mutex_};
  std::vector<log_line> found;
  grown_.wait_for(guard, within, [&] {
    found = find(piece, from);
    return found.size() >= count || ended_.contains(from);
  });
  if (found.size() >= count)
    return found[count - 1];
  guard.unlock();
  throw std::runtime_error{"no " + std::to_string(count) + " lines with \""
                           + piece + "\" in:\n" + text(from)};
}

bool line_log::stays_without(const std::string& piece, millis length,
                             pid_t from) {
  std::unique_lock guard{mutex_};
  auto before = find(piece, from).size();
  return !grown_.wait_for(guard, length,
                          [&] { return find(piece, from).size() > before; });
}

std::vector<log_line> line_log::matching(const std::string& piece,
                                         pid_t from) const {
  std::lock_guard guard{mutex_};
  return find(piece, from);
}

size_t line_log::count(const std::string& piece, pid_t from) const {
  return matching(piece, from).size();
}

std::string line_log::text(pid_t from) const {
  std::string out;
  for (auto& x : matching("", from))
    out += std::to_string(x.from) + ": " + x.text + "\n";
  return out;
}

std::vector<log_line> line_log::find(const std::string& piece,
                                     pid_t from) const {
  std::vector<log_line> out;
  for (auto& x : lines_)
    if ((from == anyone || x.from == from)
        && x.text.find(piece) != std::string::npos)
      out.push_back(x);
  return out;
}

} // namespace alkstore::test
