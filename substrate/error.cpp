#include "substrate/error.hpp"

namespace alkstore {

std::string to_string(errc code) {
  switch (code) {
    case errc::invalid_name: return "invalid_name";
    case errc::reserved_name: return "reserved_name";
    case errc::invalid_spec: return "invalid_spec";
    case errc::invalid_argument: return "invalid_argument";
    case errc::payload_too_large: return "payload_too_large";
    case errc::not_found: return "not_found";
    case errc::duplicate: return "duplicate";
    case errc::claim_lost: return "claim_lost";
    case errc::lock_lost: return "lock_lost";
    case errc::leadership_lost: return "leadership_lost";
    case errc::overloaded: return "overloaded";
    case errc::busy: return "busy";
    case errc::disk_full: return "disk_full";
    case errc::read_only: return "read_only";
    case errc::corrupt: return "corrupt";
    case errc::schema_too_new: return "schema_too_new";
    case errc::io_error: return "io_error";
    case errc::moved: return "moved";
    case errc::forked: return "forked";
    case errc::out_of_memory: return "out_of_memory";
    case errc::failed: return "failed";
    case errc::shutting_down: return "shutting_down";
  }
  return "unknown";
}

} // namespace alkstore
