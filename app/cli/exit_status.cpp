#include "app/cli/exit_status.hpp"

namespace alkstore::cli {

int status_of(errc code) {
  switch (code) {
    case errc::invalid_name:
    case errc::reserved_name:
    case errc::invalid_spec:
    case errc::invalid_argument: return 64;
    case errc::corrupt:
    case errc::schema_too_new:
    case errc::payload_too_large: return 65;
    case errc::not_found: return 66;
    case errc::duplicate: return 73;
    case errc::disk_full:
    case errc::moved:
    case errc::io_error: return 74;
    case errc::busy: return 75;
    case errc::read_only: return 77;
    default: return 70;
  }
}

} // namespace alkstore::cli
