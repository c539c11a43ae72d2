// The store without CAF: a row of one's own and an outbox message in one
// transaction, on one's own connection. A node on the same file delivers.
//
//   c++ main.cpp $(pkg-config --cflags --libs alkstore) -o alone
//   ./alone app.db order-events '{"order": 7}'

#include "alkstore/substrate/connection.hpp"
#include "alkstore/substrate/outbox.hpp"

#include <sqlite3.h>

#include <iostream>
#include <stdexcept>

namespace {

void run(sqlite3* db, const char* sql) {
  if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    throw std::runtime_error{sqlite3_errmsg(db)};
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: alone FILE OUTBOX PAYLOAD\n";
    return 64;
  }
  sqlite3* db = nullptr;
  try {
    { // makes the file and the tables
      alkstore::connection store{argv[1], {}};
    }
    if (sqlite3_open(argv[1], &db) != SQLITE_OK)
      throw std::runtime_error{sqlite3_errmsg(db)};
    run(db, "CREATE TABLE IF NOT EXISTS mine(text)");
    run(db, "BEGIN IMMEDIATE");
    run(db, "INSERT INTO mine VALUES('a row of my own')");
    auto id = alkstore::outbox_enqueue_tx(db, argv[2], argv[3]);
    run(db, "COMMIT"); // both, or neither
    std::cout << "message " << id << '\n';
    sqlite3_close(db);
    return 0;
  } catch (const std::exception& why) {
    std::cerr << "alone: " << why.what() << '\n';
    sqlite3_close(db); // what is open is rolled back
    return 1;
  }
}
