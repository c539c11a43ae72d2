// A directory for one test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace alkstore::test {

/// Fresh, and removed with all that is in it.
class temp_dir {
public:
  temp_dir() {
    auto name = std::filesystem::temp_directory_path() / "alkstore-XXXXXX";
    path_ = name.string();
    if (!::mkdtemp(path_.data()))
      throw std::runtime_error{"mkdtemp: " + path_};
  }
  temp_dir(const temp_dir&) = delete;
  temp_dir& operator=(const temp_dir&) = delete;
  ~temp_dir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string path(const std::string& file) const { return path_ + "/" + file; }

private:
  std::string path_;
};

} // namespace alkstore::test
