// libFuzzer's way in: alkstore-fuzz TARGET [libFuzzer's arguments].
#include "tests/fuzz/targets.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

const alkstore::fuzz::target* chosen = nullptr;

} // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  std::string_view name = *argc > 1 ? (*argv)[1] : "";
  for (auto& x : alkstore::fuzz::targets)
    if (x.name == name)
      chosen = &x;
  if (!chosen) {
    std::fprintf(stderr, "targets:");
    for (auto& x : alkstore::fuzz::targets)
      std::fprintf(stderr, " %s", x.name.data());
    std::fprintf(stderr, "\n");
    std::exit(2);
  }
  (*argv)[1] = (*argv)[0];
  ++*argv;
  --*argc;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  chosen->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
