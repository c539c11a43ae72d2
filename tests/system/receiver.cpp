#include "tests/system/receiver.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <stdexcept>

namespace alkstore::test {

namespace {

received parse(const std::string& request) {
  received out;
  auto head = request.find("\r\n\r\n");
  out.body = request.substr(head + 4);
  std::istringstream lines{request.substr(0, head)};
  lines >> out.method >> out.path;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    if (line.ends_with('\r'))
      line.pop_back();
    auto colon = std::min(line.find(':'), line.size());
    auto name = line.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    auto value = std::min(line.find_first_not_of(' ', colon + 1), line.size());
    out.headers[name] = line.substr(value);
  }
  out.at = steady_now();
  return out;
}

} // namespace

answer answer::status(int code, const std::string& more) {
  auto rest = code == 204 ? more + "\r\n"
                          : "Content-Length: 2\r\n" + more + "\r\nok";
  return {"HTTP/1.1 " + std::to_string(code) + " Scripted\r\n" + rest, false,
          false};
}

receiver::receiver(script answers)
  : answers_(std::move(answers)), server_([this](int fd) { serve(fd); }) {}

receiver::~receiver() {
  release();
}

void receiver::await(const condition& wanted) {
  std::unique_lock guard{mutex_};
  if (!changed_.wait_for(guard, patience, [&] { return wanted(requests_); }))
    throw std::runtime_error{"the requests that are wanted do not come; "
                             + std::to_string(requests_.size()) + " came"};
}

void receiver::await(size_t count) {
  await([=](const auto& requests) { return requests.size() >= count; });
}

void receiver::release() {
  {
    std::lock_guard guard{mutex_};
    released_ = true;
  }
  changed_.notify_all();
}

std::vector<received> receiver::requests() const {
  std::lock_guard guard{mutex_};
  return requests_;
}

void receiver::serve(int fd) {
  for (;;) {
    auto request = read_request(fd);
    if (request.empty())
      return;
    auto got = parse(request);
    {
      std::lock_guard guard{mutex_};
      requests_.push_back(got);
    }
    changed_.notify_all();
    auto reply = answers_(got);
    if (reply.silent)
      return await_close(fd);
    if (reply.held) {
      std::unique_lock guard{mutex_};
      changed_.wait(guard, [this] { return released_; });
    }
    if (!write_all(fd, reply.text))
      return;
  }
}

} // namespace alkstore::test
