// check: the configuration, the file and its place, the clock.

#include "app/cli/commands.hpp"
#include "substrate/inspection.hpp"

#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/timex.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace alkstore::cli {

namespace {

using grade = check_result::grade;

std::string mode_text(mode_t mode) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", mode & 07777u);
  return text;
}

void check_permissions(const std::string& path,
                       std::vector<check_result>& out) {
  struct stat info{};
  auto before = out.size();
  for (auto* suffix : {"", "-wal", "-shm"}) {
    auto name = path + suffix;
    if (::stat(name.c_str(), &info) == 0 && (info.st_mode & 077u) != 0)
      out.push_back({"permissions", grade::warning,
                     name + " has mode " + mode_text(info.st_mode)
                       + ": others than its owner may use it"});
  }
  if (out.size() == before)
    out.push_back({"permissions", grade::fine, "the owner alone may use it"});
}

// SQLite's WAL needs memory that all processes share.
void check_file_system(const std::string& path,
                       std::vector<check_result>& out) {
  constexpr std::pair<uint32_t, const char*> remote[] = {
    {0x6969, "NFS"},      {0xFF534D42, "CIFS"},  {0xFE534D42, "SMB2"},
    {0x01021997, "9P"},   {0x00C36400, "Ceph"},  {0x65735546, "FUSE"},
    {0x47504653, "GPFS"}, {0x0BD00BD0, "Lustre"}};
  struct statfs info{};
  if (::statfs(path.c_str(), &info) != 0)
    return;
  auto type = static_cast<uint32_t>(info.f_type);
  auto found = std::find_if(std::begin(remote), std::end(remote),
                            [&](auto& x) { return x.first == type; });
  if (found != std::end(remote))
    out.push_back({"file system", grade::warning,
                   std::string{found->second}
                     + ": a store has to be on a disk of this host"});
  else
    out.push_back({"file system", grade::fine, "a local one"});
}

void check_clock(std::vector<check_result>& out) {
  timex state{};
  if (::adjtimex(&state) == TIME_ERROR)
    out.push_back({"clock", grade::warning,
                   "nothing keeps it in time (no NTP or the like)"});
}

std::string grade_text(grade how) {
  switch (how) {
    case grade::fine: return "ok";
    case grade::warning: return "warning";
    default: return "damaged";
  }
}

} // namespace

int run(session& s, const check_command&) {
  std::vector<check_result> found;
  if (!s.chosen().config_file.empty()) // else the session refused it
    found.push_back({"configuration", grade::fine,
                     s.chosen().config_file + " has no findings"});
  auto status = 0;
  try {
    auto db = s.open_to_read();
    check_permissions(db.path(), found);
    check_file_system(db.path(), found);
    for (auto& x : inspect(db))
      found.push_back(std::move(x));
    check_clock(found);
  } catch (const failure& why) {
    if (why.code() != errc::corrupt)
      throw;
    found.push_back({"integrity", grade::damaged, why.what()});
  }
  std::vector<record> rows;
  for (auto& x : found) {
    if (x.how == grade::damaged)
      status = 65;
    rows.push_back({{"subject", x.subject},
                    {"result", grade_text(x.how)},
                    {"text", x.text}});
  }
  s.out().show(rows, {"subject", "result", "text"});
  return status;
}

} // namespace alkstore::cli
