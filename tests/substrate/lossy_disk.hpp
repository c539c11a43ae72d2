// A disk that forgets what was not synced, under every connection opened while
// it lives.
#pragma once

#include "substrate/sqlite.hpp"

#include <cstdint>
#include <string>

namespace alkstore {

class lossy_disk {
public:
  lossy_disk();
  lossy_disk(const lossy_disk&) = delete;
  lossy_disk& operator=(const lossy_disk&) = delete;
  ~lossy_disk();

  /// What of the writes since a file's last sync reached the disk. some: any of
  /// them, in pieces of 512 bytes.
  enum class unsynced { none, some, all };

  /// Writes what a power cut at this moment would leave of the database `from`
  /// (and of its WAL) as the database `to`. The connections go on.
  void cut_power(const std::string& from, const std::string& to, unsynced fate,
                 uint32_t seed) const;
};

} // namespace alkstore
