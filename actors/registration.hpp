// Brings the configured schedules into the store. Internal.
#pragma once

#include "actors/substrate_writer.hpp"

#include <vector>

namespace alkstore {

/// Registers `wanted` in one transaction and reports each change: a schedule
/// that is new, one whose spec or queue differs from what is stored (the last
/// start wins), and, in one line, those stored that are not in `wanted` (they
/// stay). Throws what the store throws.
void register_schedules(const writer_options& store,
                        const std::vector<schedule_request>& wanted);

} // namespace alkstore
