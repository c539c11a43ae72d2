#include "tests/simulation/machine.hpp"

#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <random>
#include <string>

namespace alkstore::sim {

namespace {

machine* the_machine = nullptr;

} // namespace

machine::machine(uint64_t seed) : random_(seed) {
  the_machine = this;
}

machine::~machine() {
  the_machine = nullptr;
}

machine* machine::current() {
  return the_machine;
}

} // namespace alkstore::sim

// -- what a program asks its machine for --------------------------------------

using alkstore::sim::machine;

extern "C" pid_t getpid() noexcept {
  if (auto here = machine::current())
    return here->process;
  return static_cast<pid_t>(::syscall(SYS_getpid));
}

extern "C" int gethostname(char* name, size_t size) noexcept {
  std::strncpy(name, "sim", size);
  return 0;
}

extern "C" int usleep(useconds_t time) {
  if (auto here = machine::current()) {
    here->pass(std::chrono::microseconds{time});
    return 0;
  }
  timespec left{time / 1'000'000, static_cast<long>(time % 1'000'000) * 1000};
  return ::nanosleep(&left, nullptr);
}

extern "C" ssize_t getrandom(void* out, size_t size, unsigned flags) {
  auto here = machine::current();
  if (!here)
    return ::syscall(SYS_getrandom, out, size, flags);
  for (size_t i = 0; i < size; ++i)
    static_cast<unsigned char*>(out)[i] = static_cast<unsigned char>(
      here->random_bits());
  return static_cast<ssize_t>(size);
}

// libstdc++ asks the processor itself, so these stand for its own.
void std::random_device::_M_init(const std::string&) {}

void std::random_device::_M_fini() {}

std::random_device::result_type std::random_device::_M_getval() {
  if (auto here = machine::current())
    return static_cast<result_type>(here->random_bits());
  result_type out = 0;
  ::syscall(SYS_getrandom, &out, sizeof out, 0);
  return out;
}
