// The simulation on the command line: see `./dev sim`.
//   --seeds N     how many; 100
//   --seed S      the first one; 1
//   --aloud       print the journal
// Exit status: 1 if a rule was broken, and the first such seed is printed.
#include "tests/simulation/world.hpp"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>

using namespace alkstore::sim;

namespace {

struct options {
  uint64_t first = 1;
  uint64_t count = 100;
  bool aloud = false;
};

options read(int argc, char** argv) {
  options out;
  for (int i = 1; i < argc; ++i) {
    auto is = [&](const char* name) { return std::strcmp(argv[i], name) == 0; };
    if (is("--aloud"))
      out.aloud = true;
    else if (is("--seeds") && i + 1 < argc)
      out.count = std::stoull(argv[++i]);
    else if (is("--seed") && i + 1 < argc)
      out.first = std::stoull(argv[++i]);
    else
      throw std::invalid_argument{argv[i]};
  }
  return out;
}

} // namespace

int main(int argc, char** argv) {
  options wanted;
  try {
    wanted = read(argc, argv);
  } catch (const std::exception&) {
    std::fputs("usage: sim [--seeds N] [--seed S] [--aloud]\n", stderr);
    return 2;
  }
  auto start = std::chrono::steady_clock::now();
  outcome sum;
  for (auto seed = wanted.first; seed < wanted.first + wanted.count; ++seed) {
    auto x = run_seed(seed, wanted.aloud);
    sum.steps += x.steps;
    sum.commits += x.commits;
    sum.faults += x.faults;
    sum.crashes += x.crashes;
    if (x.violation.empty())
      continue;
    if (!wanted.aloud)
      for (auto& line : x.last_lines)
        std::puts(line.c_str());
    std::printf("seed %llu, number %llu: %s\n",
                static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(seed - wanted.first + 1),
                x.violation.c_str());
    return 1;
  }
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%llu seeds clean: %lld messages, %lld commits, %lld faults, "
              "%lld crashes, %.1f s\n",
              static_cast<unsigned long long>(wanted.count),
              static_cast<long long>(sum.steps),
              static_cast<long long>(sum.commits),
              static_cast<long long>(sum.faults),
              static_cast<long long>(sum.crashes), took.count());
  return 0;
}
