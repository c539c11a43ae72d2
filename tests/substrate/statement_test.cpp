#include "substrate/statement.hpp"

#include "tests/substrate/fixture.hpp"

#include <algorithm>
#include <limits>

using namespace alkstore;

namespace {

constexpr auto echo = "SELECT ?1";

} // namespace

TEST_CASE("what is bound comes back: numbers, times, texts, blobs and "
          "nothing") {
  store s;
  auto row = s.db.sql("SELECT ?1, ?2, ?3, ?4, ?5, ?6, typeof(?4), typeof(?5)");
  std::string nul{"a\0b", 3};
  row.bind(int64_t{-1} << 63, T, std::optional<millis>{}, nul, blob{nul},
           std::string_view{});
  REQUIRE(row.step());
  CHECK(row.integer(0) == std::numeric_limits<int64_t>::min());
  CHECK(row.time(1) == T);
  CHECK(row.is_null(2));
  CHECK(row.maybe_time(2) == std::nullopt);
  CHECK(row.maybe_time(1) == T);
  CHECK(row.bytes(3) == nul);
  CHECK(row.bytes(4) == nul);
  CHECK(row.bytes(5).empty());
  CHECK_FALSE(row.is_null(5));
  CHECK(row.bytes(6) == "text");
  CHECK(row.bytes(7) == "blob");
  CHECK_FALSE(row.step());
}

TEST_CASE("a statement in use is prepared once more, one that went is used "
          "again") {
  store s;
  auto prepared = [&] {
    auto count = 0;
    sqlite3_stmt* each = nullptr;
    while ((each = sqlite3_next_stmt(s.db.handle(), each)))
      ++count;
    return count;
  };
  {
    auto outer = s.db.sql(echo);
    outer.bind(1); // bound, not yet stepped
    auto before = prepared();
    {
      auto inner = s.db.sql(echo);
      inner.bind(2);
      CHECK(prepared() == before + 1);
      REQUIRE(inner.step());
      CHECK(inner.integer(0) == 2);
    }
    CHECK(prepared() == before);
    REQUIRE(outer.step());
    CHECK(outer.integer(0) == 1);
  }
  auto before = prepared();
  auto again = s.db.sql(echo);
  CHECK(prepared() == before);
  REQUIRE(again.step());
  CHECK(again.is_null(0)); // bindings do not outlive their run
}

TEST_CASE("a statement that SQLite refuses is a failure with its text") {
  store s;
  auto refused = [&] { s.db.sql("SELECT id FROM nowhere"); };
  CHECK(error_of(refused) == errc::failed);
  CHECK(text_of(refused)
        == "SELECT id FROM nowhere: no such table: nowhere (SQL logic "
           "error, code 1)");
  CHECK(error_of(refused) == errc::failed);
}

TEST_CASE("every code has its own name") {
  std::vector<std::string> names;
  for (int i = 1; i <= static_cast<int>(errc::shutting_down); ++i)
    names.push_back(to_string(static_cast<errc>(i)));
  CHECK(names.size() == 22);
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  CHECK(std::find(names.begin(), names.end(), "unknown") == names.end());
  CHECK(to_string(errc{}) == "unknown");
}
