// Child processes and threads that begin at the same moment.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <functional>
#include <vector>

namespace alkstore {

/// A barrier that forked children and their parent share.
class process_barrier {
public:
  explicit process_barrier(unsigned count);
  process_barrier(const process_barrier&) = delete;
  process_barrier& operator=(const process_barrier&) = delete;
  ~process_barrier();

  void wait() { pthread_barrier_wait(barrier_); }

private:
  pthread_barrier_t* barrier_;
};

/// Runs `work` in a forked child, which ends at once with its result as exit
/// status, or 99 after an exception, whose text is printed. The parent must not
/// have open the file that the child opens: the child would inherit SQLite's
/// record of the parent's locks.
pid_t fork_child(const std::function<int()>& work);

/// The exit status of a child; -1 if it did not exit.
int wait_for(pid_t child);

/// Runs `work(0)` … `work(count - 1)` in a child each. Their exit statuses.
std::vector<int> in_children(int count, const std::function<int(int)>& work);

} // namespace alkstore
