#include "app/log.hpp"

#include "app/json/time_text.hpp"
#include "substrate/clock.hpp"

#include <unistd.h>

#include <string_view>

namespace alkstore {

namespace {

constexpr std::string_view level_name(event::level x) {
  switch (x) {
    case event::level::info: return "info ";
    case event::level::warning: return "warn ";
    case event::level::error: return "error";
  }
  return "";
}

// A text may come from a handler or from a command's standard error: it must
// not be able to forge a line.
std::string printable(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (unsigned char c : text) {
    if (c >= ' ' && c != 0x7F) {
      out += static_cast<char>(c);
    } else {
      out += "\\x";
      out += digits[c >> 4];
      out += digits[c & 15];
    }
  }
  return out;
}

} // namespace

std::string log_line(const event& x, timestamp when) {
  auto out = utc_text(when) + ' ' + std::string{level_name(x.severity)} + ' '
             + x.what + ' ' + printable(x.name);
  if (x.job != 0)
    out += " job=" + std::to_string(x.job);
  if (x.attempt != 0)
    out += " attempt=" + std::to_string(x.attempt) + '/'
           + std::to_string(x.max_attempts);
  if (x.job != 0)
    out += (x.what == "fired" ? " late=" : " took=")
           + std::to_string(x.took.count()) + "ms";
  if (!x.text.empty())
    out += ": " + printable(x.text);
  return out;
}

void log_to_stdout(const event& x) {
  auto line = log_line(x, clock::system().wall_now()) + '\n';
  std::string_view rest{line};
  while (!rest.empty()) {
    auto written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written <= 0)
      return; // nobody reads the log; the work goes on
    rest.remove_prefix(static_cast<size_t>(written));
  }
}

} // namespace alkstore
