// A schedule as a record: the same fields on the command line and in SQL.
#pragma once

#include "app/json/record.hpp"
#include "substrate/schedules.hpp"

namespace alkstore {

/// Every field; an option that was not given is null.
record schedule_record(const schedule& what);

} // namespace alkstore
