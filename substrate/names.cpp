#include "substrate/names.hpp"

#include "substrate/error.hpp"

#include <algorithm>

namespace alkstore {

namespace {

constexpr std::string_view reserved_prefix = "__alkstore";
constexpr std::string_view outbox_prefix = "__alkstore_outbox:";

bool allowed(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
         || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.'
         || c == ':' || c == '/';
}

// A refused name may hold anything and be of any length; a message may not.
std::string quoted(std::string_view name) {
  constexpr size_t shown = 40;
  std::string out = "\"";
  for (char c : name.substr(0, shown))
    out += allowed(c) || c == ' ' ? c : '?';
  return out + (name.size() > shown ? "...\"" : "\"");
}

} // namespace

void check_name(std::string_view what, std::string_view name) {
  if (name.empty() || name.size() > max_name_bytes
      || !std::all_of(name.begin(), name.end(), allowed))
    throw failure{errc::invalid_name,
                  std::string{what} + " name " + quoted(name) + " ("
                    + std::to_string(name.size())
                    + " bytes): names are 1 to 128 bytes of A-Z a-z 0-9 _ - . "
                      ": /"};
  if (name.substr(0, reserved_prefix.size()) == reserved_prefix)
    throw failure{errc::reserved_name,
                  std::string{what} + " name " + quoted(name)
                    + ": names that begin with __alkstore are reserved"};
}

queue_name queue_name::plain(std::string_view name) {
  check_name("queue", name);
  return {std::string{name}, false};
}

queue_name queue_name::outbox(std::string_view name) {
  check_name("outbox", name);
  return {std::string{outbox_prefix}.append(name), true};
}

queue_name queue_name::stored(std::string_view text) {
  return text.starts_with(outbox_prefix)
           ? outbox(text.substr(outbox_prefix.size()))
           : plain(text);
}

std::string_view queue_name::name() const noexcept {
  return std::string_view{text_}.substr(outbox_ ? outbox_prefix.size() : 0);
}

} // namespace alkstore
