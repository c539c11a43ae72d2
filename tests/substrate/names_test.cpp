#include "tests/substrate/fixture.hpp"

using namespace alkstore;

namespace {

errc refusal(std::string_view name) {
  return error_of([&] { check_name("queue", name); });
}

} // namespace

TEST_CASE("S3: a name is 1 to 128 bytes of A-Z a-z 0-9 _ - . : /") {
  for (auto good : {"a", "Z", "0", "_", "-", ".", ":", "/", "orders.eu-1:x/y_z",
                    "..", "a__alkstore"})
    CHECK(refusal(good) == errc{});
  for (auto bad : {"", " ", "a b", "a|b", "a\nb", "a\tb", "a%", "a'b", "a\"b",
                   "a;b", "a\\b", "a*", "a,b", "a@b", "a~b", "\xC3\xA9",
                   "\xEF\xBC\xA1", "a\x7F", "a\xFF"}) {
    CAPTURE(bad);
    CHECK(refusal(bad) == errc::invalid_name);
  }
  CHECK(refusal(std::string_view{"a\0", 2}) == errc::invalid_name);
  CHECK(refusal(std::string_view{"\0a", 2}) == errc::invalid_name);
  CHECK(text_of([] { check_name("queue", "a|b"); })
        == "queue name \"a?b\" (3 bytes): names are 1 to 128 bytes of A-Z a-z "
           "0-9 _ - . : /");
}

TEST_CASE("H34: names that begin with __alkstore are reserved, others that "
          "look like it are not") {
  for (auto reserved : {"__alkstore", "__alkstore_leader", "__alkstoreX",
                        "__alkstore_outbox:x", "__alkstore_scheduler"}) {
    CAPTURE(reserved);
    CHECK(refusal(reserved) == errc::reserved_name);
    CHECK(contains(text_of([&] { check_name("lock", reserved); }),
                   "names that begin with __alkstore are reserved"));
  }
  for (auto free : {"abalkstore1", "_alkstore", "x__alkstore", "__Alkstore",
                    "__alkstor", "--alkstore"}) {
    CAPTURE(free);
    CHECK(refusal(free) == errc{});
  }
  CHECK(refusal("__alkstore|") == errc::invalid_name);
}

TEST_CASE("H34: a user's six names leave the leader's lease as it is") {
  store s;
  auto led = s.lead();
  for (auto name : {"__alkstore", "__alkstore_leader", "__alkstoreX",
                    "abalkstore1", "_alkstore", "x__alkstore"}) {
    auto expected = name[0] == '_' && name[1] == '_' ? errc::reserved_name
                                                     : errc{};
    CHECK(error_of([&] { s.enqueue(queue_name::plain(name)); }) == expected);
    CHECK(error_of([&] { s.enqueue(queue_name::outbox(name)); }) == expected);
    CHECK(error_of([&] { s.add(name, "@every 1h"); }) == expected);
  }
  transaction tx{s.db};
  CHECK(leases::get(tx, leases::scheduler) == led);
  CHECK(leases::list(tx).size() == 1);
  CHECK(schedules::list(tx).size() == 3);
  for (auto name : {"abalkstore1", "_alkstore", "x__alkstore"}) {
    CHECK(claims::claim(tx, queue_name::plain(name), "w", 9).size() == 1);
    CHECK(claims::claim(tx, queue_name::outbox(name), "w", 9).size() == 1);
  }
}

TEST_CASE("H35: the limit of 128 bytes is named, and nothing is cut to fit") {
  store s;
  std::string longest(128, 'n');
  s.enqueue(queue_name::plain(longest));
  witness unchanged{s};
  for (auto name : {longest + "a", longest + "b", std::string(1048576, 'n')}) {
    auto refused = [&] { s.enqueue(queue_name::plain(name)); };
    CHECK(error_of(refused) == errc::invalid_name);
    auto text = text_of(refused);
    CHECK(contains(text, "(" + std::to_string(name.size()) + " bytes)"));
    CHECK(contains(text, "1 to 128 bytes"));
    CHECK(text.size() < 200);
  }
  CHECK(unchanged.saw_nothing());
  CHECK(s.claim(queue_name::plain(longest)).queue == longest);
}

TEST_CASE("S12: an outbox's queue is out of a plain name's reach, and its own "
          "name may have all 128 bytes") {
  CHECK(box.text() == "__alkstore_outbox:box");
  CHECK(box.is_outbox());
  CHECK_FALSE(q.is_outbox());
  for (auto name :
       {"__alkstore_outbox:box", "__alkstore_outbox:", "__alkstore_x"}) {
    CHECK(error_of([&] { queue_name::plain(name); }) == errc::reserved_name);
    CHECK(error_of([&] { queue_name::outbox(name); }) == errc::reserved_name);
  }
  CHECK(error_of([] { queue_name::outbox(""); }) == errc::invalid_name);
  CHECK(error_of([] { queue_name::outbox(std::string(129, 'n')); })
        == errc::invalid_name);
  CHECK(queue_name::outbox(std::string(128, 'n')).text()
        == "__alkstore_outbox:" + std::string(128, 'n'));
}

TEST_CASE("a queue's stored name leads back to its kind and its own part") {
  for (auto& queue : {q, box}) {
    auto again = queue_name::stored(queue.text());
    CHECK(again.text() == queue.text());
    CHECK(again.is_outbox() == queue.is_outbox());
  }
  CHECK(q.name() == "q");
  CHECK(box.name() == "box");
  CHECK(error_of([] { queue_name::stored("__alkstore_x"); })
        == errc::reserved_name);
}
