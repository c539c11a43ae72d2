// The store against the model: any sequence of operations has the same answers
// and leaves the same rows.
#include "tests/model/operation.hpp"
#include "tests/model/store.hpp"
#include "tests/support/rounds.hpp"

#include <rapidcheck.h>

#include <set>

namespace rc {

template <>
struct Arbitrary<alkstore::model::operation> {
  static Gen<alkstore::model::operation> arbitrary() {
    using alkstore::model::operation;
    auto number = gen::resize(100, gen::arbitrary<uint16_t>());
    auto rarely = gen::map(gen::inRange(0, 20), [](int x) { return x == 19; });
    return gen::build<operation>(
      gen::set(&operation::what, gen::inRange(0, operation::kinds)),
      gen::set(&operation::a, number), gen::set(&operation::b, number),
      gen::set(&operation::c, number), gen::set(&operation::d, number),
      gen::set(&operation::rolled_back, rarely));
  }
};

} // namespace rc

using namespace alkstore;
using namespace alkstore::model;

namespace {

constexpr store_rules small_rules{.max_payload = 60};

int operations = 0; // run so far

// Runs them on both sides. Throws RapidCheck's failure where they part.
void compare(const std::vector<operation>& sequence) {
  temp_dir dir;
  manual_clock time;
  connection db{
    dir / "store.db", {.sync = durability::normal, .rules = small_rules}, time};
  alkstore::model::model expected{small_rules};
  memory of_both;
  std::set<std::string> stable_ids;
  for (auto& x : sequence) {
    ++operations;
    expected.now = time_of(x, expected);
    time.set(expected.now);
    auto before = expected;
    auto memory_before = of_both;
    transaction tx{db};
    real_store real{tx};
    expected.chosen = [&](const char* table, int64_t id) {
      return !real.has(table, id);
    };
    auto known = expected.last_id;
    auto answer = run(x, real, expected, of_both);
    RC_ASSERT(answer.store == answer.model);
    // What the store alone decides: 16 random bytes, never twice.
    for (auto id = known + 1; id <= expected.last_id; ++id)
      if (auto found = expected.live.find(id); found != expected.live.end()) {
        found->second.what.stable_id = real.stable_id(id);
        RC_ASSERT(stable_ids.insert(real.stable_id(id)).second);
      }
    RC_ASSERT(rows_of(tx) == rows_of(expected));
    if (x.rolled_back) {
      expected = before;
      of_both = memory_before;
    } else {
      tx.commit();
    }
  }
}

// 100 sequences of 0 to 100 operations, or of 0 to 200; short ones fail short.
bool same_over_a_hundred(int longest) {
  return rc::check([longest] {
    compare(
      *rc::gen::resize(longest, rc::gen::arbitrary<std::vector<operation>>()));
  });
}

} // namespace

TEST_CASE("any sequence of operations has the answers of a simple model and "
          "leaves the same rows") {
  operations = 0;
  for (int i = 0; i < test::rounds(1, 10); ++i)
    REQUIRE(same_over_a_hundred(test::rounds(100, 200)));
  CHECK(operations > test::rounds(3000, 80'000)); // it is random
}
