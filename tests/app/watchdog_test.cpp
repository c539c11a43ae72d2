#include "app/watchdog.hpp"

#include "app/node.hpp"
#include "tests/catch.hpp"

#include <sys/wait.h>
#include <unistd.h>

using namespace alkstore;

namespace {

// The exit status of a child that runs `work`.
template <class Work>
int status_of_child(Work work) {
  auto child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

} // namespace

TEST_CASE("a stop that hangs is ended by the watchdog") {
  CHECK(status_of_child([] {
          watchdog dog;
          dog.expect("a test", millis{10});
          for (;;)
            ::pause();
        })
        == exit_software);
}

TEST_CASE("what ends in time is left alone by the watchdog") {
  CHECK(status_of_child([] {
          watchdog dog;
          dog.expect("a test", std::chrono::hours{1});
          dog.expect("another", std::chrono::hours{1});
        })
        == 0);
}
