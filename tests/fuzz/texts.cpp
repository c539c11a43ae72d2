// Short texts: specs and names.
#include "substrate/error.hpp"
#include "substrate/names.hpp"
#include "substrate/spec.hpp"
#include "substrate/text.hpp"
#include "tests/fuzz/targets.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace alkstore::fuzz {

namespace {

// Strict UTF-8 (RFC 3629) without NUL, written apart from the one under test.
bool is_text(std::string_view x) {
  for (size_t i = 0; i < x.size();) {
    auto at = [&](size_t k) {
      return i + k < x.size() ? static_cast<unsigned char>(x[i + k]) : 0u;
    };
    auto more = [&](size_t k) { return (at(k) & 0xC0) == 0x80; };
    auto first = at(0);
    if (first == 0)
      return false;
    if (first < 0x80) {
      i += 1;
    } else if (first >= 0xC2 && first < 0xE0 && more(1)) {
      i += 2;
    } else if ((first & 0xF0) == 0xE0 && more(1) && more(2)) {
      auto point = (first & 0xF) << 12 | (at(1) & 0x3F) << 6 | (at(2) & 0x3F);
      if (point < 0x800 || (point >= 0xD800 && point < 0xE000))
        return false;
      i += 3;
    } else if (first >= 0xF0 && first < 0xF5 && more(1) && more(2) && more(3)) {
      auto point = (first & 7) << 18 | (at(1) & 0x3F) << 12
                   | (at(2) & 0x3F) << 6 | (at(3) & 0x3F);
      if (point < 0x10000 || point > 0x10FFFF)
        return false;
      i += 4;
    } else {
      return false;
    }
  }
  return true;
}

} // namespace

void require(bool holds, const char* what) {
  if (holds)
    return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

void spec(std::string_view input) {
  millis interval{};
  try {
    interval = parse_spec(input);
  } catch (const failure& why) {
    require(why.code() == errc::invalid_spec, "its refusal is invalid_spec");
    require(is_text(why.what()), "the refusal is a text");
    return;
  }
  require(interval.count() > 0, "an interval is positive");
  require(interval.count() % 1000 == 0, "an interval is whole seconds");
  require(input.substr(0, 7) == "@every ", "a spec begins with @every");
  // The number without leading zeros, in its own unit, is the same interval.
  auto digits = input.substr(7, input.size() - 8);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  auto unit = input.back() == 's'   ? 1000
              : input.back() == 'm' ? 60'000
              : input.back() == 'h' ? 3'600'000
                                    : 86'400'000;
  require(std::to_string(interval.count() / unit) == digits,
          "the interval is what stands there");
  timestamp now{std::chrono::seconds{1'700'000'000}};
  for (auto from : {now, now - interval / 3, now - millis{1}}) {
    try {
      auto step = first_after(from, interval, now);
      require(step.next > now, "the next boundary is later");
      require(step.next - interval <= now, "it is the first");
      require((step.next - from) % interval == millis{0}, "it is on the grid");
    } catch (const failure& why) {
      require(why.code() == errc::invalid_spec, "it does not fit");
    }
  }
}

void names(std::string_view input) {
  auto code_of = [&](auto make) {
    try {
      make();
      return errc{};
    } catch (const failure& why) {
      require(is_text(why.what()), "the refusal is a text");
      require(std::strlen(why.what()) < 300, "the refusal is short");
      return why.code();
    }
  };
  auto plain = code_of([&] {
    require(queue_name::plain(input).text() == input, "a name is kept");
  });
  auto outbox = code_of([&] {
    auto text = queue_name::outbox(input).text();
    require(text.substr(0, 10) == "__alkstore", "an outbox's is reserved");
    require(text.substr(text.size() - input.size()) == input, "and ends so");
  });
  require(plain == outbox, "one rule for queues and outboxes");
  auto valid = !input.empty() && input.size() <= 128;
  for (auto x : input)
    valid &= std::strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                         "0123456789_-.:/",
                         x)
               != nullptr
             && x != '\0';
  auto reserved = input.substr(0, 10) == "__alkstore";
  require(plain
            == (!valid     ? errc::invalid_name
                : reserved ? errc::reserved_name
                           : errc{}),
          "the rule for names");
  auto text = error_text(input);
  require(is_text(text), "an error's text is UTF-8");
  require(text.size() <= max_error_bytes, "and bounded");
  if (is_text(input) && input.size() <= max_error_bytes)
    require(text == input, "what is a text stays as it is");
  require(to_hex(input).size() == 2 * input.size(), "two digits a byte");
}

} // namespace alkstore::fuzz
