// What is wrong with a configuration file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace alkstore {

/// Something to refuse about one place of a configuration file.
struct finding {
  size_t line = 0;    ///< from 1; 0: the file as a whole
  std::string key;    ///< `alkstore.queues[1].name`; empty: no key is meant
  std::string reason; ///< a sentence without the secret it may be about
};

/// The findings of one file. A file of rubbish has no end of them: the first
/// `most` are kept.
class finding_list {
public:
  static constexpr size_t most = 100;

  void add(size_t line, std::string key, std::string reason);

  bool full() const noexcept { return items_.size() >= most; }

  /// In the order of their lines, with a last one that says so if it is full.
  std::vector<finding> take();

private:
  std::vector<finding> items_;
};

/// `file:line: key: reason`, without what there is not.
std::string render(const std::string& path, const finding& what);

} // namespace alkstore
