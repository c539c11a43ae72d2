#include "tests/simulation/journal.hpp"

#include "tests/simulation/violation.hpp"

#include <cstdio>

namespace alkstore::sim {

namespace {

constexpr size_t kept = 60;

// No burst of real work comes near it.
constexpr int too_many_steps = 20'000;

} // namespace

void journal::step(int process, const char* actor) {
  hash_ = (hash_ ^ static_cast<uint64_t>(process)) * 0x100000001b3;
  hash_ = (hash_ ^ static_cast<unsigned char>(*actor)) * 0x100000001b3;
  if (where_.uptime() - step_since_ >= std::chrono::seconds{1}) {
    step_since_ = where_.uptime();
    steps_ = 0;
  }
  if (++steps_ + 20 > too_many_steps)
    note("process " + std::to_string(process) + " runs its " + actor);
  if (steps_ == too_many_steps)
    throw violation{"the actors find no rest"};
}

void journal::note(const std::string& line) {
  auto when = where_.uptime().count();
  auto text = std::to_string(when / 1'000'000) + "."
              + std::to_string(when / 1000 % 1000) + " " + line;
  for (auto at = text.find(hidden_); at != std::string::npos;
       at = text.find(hidden_, at))
    text.erase(at, hidden_.size());
  for (unsigned char c : text)
    hash_ = (hash_ ^ c) * 0x100000001b3;
  if (aloud_)
    std::puts(text.c_str());
  last_.push_back(std::move(text));
  if (last_.size() > kept)
    last_.pop_front();
}

} // namespace alkstore::sim
