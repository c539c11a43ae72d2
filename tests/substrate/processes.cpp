#include "tests/substrate/processes.hpp"

#include "tests/catch.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

namespace alkstore {

process_barrier::process_barrier(unsigned count) {
  auto page = ::mmap(nullptr, sizeof(pthread_barrier_t), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED);
  barrier_ = static_cast<pthread_barrier_t*>(page);
  pthread_barrierattr_t shared;
  pthread_barrierattr_init(&shared);
  pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  REQUIRE(pthread_barrier_init(barrier_, &shared, count) == 0);
  pthread_barrierattr_destroy(&shared);
}

process_barrier::~process_barrier() {
  ::munmap(barrier_, sizeof(pthread_barrier_t));
}

pid_t fork_child(const std::function<int()>& work) {
  auto child = ::fork();
  REQUIRE(child >= 0);
  if (child > 0)
    return child;
  ::alarm(50); // no barrier waits for ever for a child that failed
  auto status = 99;
  try {
    status = work();
  } catch (const std::exception& why) {
    std::fprintf(stderr, "child: %s\n", why.what());
  }
  ::_exit(status);
}

int wait_for(pid_t child) {
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::vector<int> in_children(int count, const std::function<int(int)>& work) {
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i)
    children.push_back(fork_child([&] { return work(i); }));
  std::vector<int> statuses;
  for (auto child : children)
    statuses.push_back(wait_for(child));
  return statuses;
}

} // namespace alkstore
