#include "app/config_file.hpp"

#include "substrate/error.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

namespace alkstore {

namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw failure{errc::invalid_argument, why};
}

[[noreturn]] void fail(int error) {
  throw failure{errc::io_error,
                "cannot be read: " + std::generic_category().message(error)};
}

} // namespace

std::string expand_home(const std::string& path) {
  if (path.empty() || path[0] != '~')
    return path;
  if (path.size() > 1 && path[1] != '/')
    refuse("only a `~/` is expanded, no other `~`");
  auto home = std::getenv("HOME");
  if (home == nullptr || *home == '\0')
    refuse("HOME is not set, so there is no `~`");
  return home + path.substr(1);
}

std::string read_file(const std::string& path, size_t most) {
  std::unique_ptr<FILE, int (*)(FILE*)> file{std::fopen(path.c_str(), "rbe"),
                                             std::fclose};
  if (!file)
    fail(errno);
  std::string bytes(most + 1, '\0');
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file.get()));
  if (std::ferror(file.get()) != 0)
    fail(errno);
  if (bytes.size() > most)
    refuse("is larger than " + std::to_string(most) + " bytes");
  return bytes;
}

void check_database_path(const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty())
    refuse("is empty");
  if (path == ":memory:" || path.compare(0, 5, "file:") == 0)
    refuse("must be a path: memory and URIs will not do");
  std::error_code ignored;
  auto directory = fs::path{path}.parent_path();
  if (directory.empty())
    directory = ".";
  if (!fs::is_directory(directory, ignored))
    refuse("there is no directory " + directory.string());
  if (fs::is_directory(path, ignored))
    refuse("is a directory");
}

} // namespace alkstore
