// For programs that read their own options from a file with either CAF. Like
// caf_port.hpp it knows which one this is.
#pragma once

#include "actors/caf_port.hpp"

namespace alkstore::port {

/// A configuration whose own options are read alike by both: from
/// caf-application.conf or the file that --config-file names, then from the
/// command line.
class config : public caf::actor_system_config {
public:
  caf::error read(int argc, char** argv) {
#if PORT_CAF1
    return parse(argc, argv);
#else
    if (auto why = parse(argc, argv, "caf-application.conf"))
      return why;
    // 0.17 reads a file's `group { key = value }`, but no option takes it.
    for (auto& option : custom_options_)
      if (auto value = caf::get_if(&content, option.full_name())) {
        if (auto why = option.check(*value))
          return why;
        option.store(*value);
      }
    return caf::none;
#endif
  }
};

} // namespace alkstore::port
