#!/usr/bin/python3
"""The SQLite extension in Python's sqlite3 module."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import programs  # noqa: E402


class ExtensionTest(programs.ProgramTest):
    def connect(self, **options):
        db = sqlite3.connect(self.database, **options)
        self.addCleanup(db.close)
        db.enable_load_extension(True)
        db.load_extension(programs.EXTENSION)
        db.enable_load_extension(False)
        return db

    def setUp(self):
        super().setUp()
        self.db = self.connect(isolation_level=None)
        self.db.execute("CREATE TABLE orders(item TEXT UNIQUE)")

    def one(self, sql, *values):
        return self.db.execute(sql, values).fetchone()[0]

    def refused(self, code, sql, *values):
        """The sentence after the code."""
        with self.assertRaises(sqlite3.Error) as caught:
            self.one(sql, *values)
        text = str(caught.exception)
        self.assertTrue(text.startswith(code + ": "), text)
        return text

    def test_a_message_commits_with_the_callers_row_or_not_at_all(self):
        for end, rows in (("ROLLBACK", 0), ("COMMIT", 1)):
            self.db.execute("BEGIN IMMEDIATE")
            self.db.execute("INSERT INTO orders VALUES('tea')")
            self.one("SELECT alkstore_outbox_enqueue('box', ?)", b"\0\xff")
            self.db.execute(end)
            self.assertEqual(self.one("SELECT count(*) FROM orders"), rows)
            self.assertEqual(len(self.json("jobs", "--outbox", "box")), rows)
        self.assertEqual(self.run_alkstore("job", 1, "--payload").out,
                         b"\0\xff")

    def test_a_running_node_delivers_what_is_committed_within_50_ms(self):
        node = self.node('outboxes = [{ name = "box", log = true }]')
        took = []
        for i in range(5):
            self.db.execute("BEGIN IMMEDIATE")
            self.db.execute("INSERT INTO orders VALUES(?)", (f"lost {i}",))
            lost = self.one("SELECT alkstore_outbox_enqueue('box', 'lost')")
            self.db.execute("ROLLBACK")
            self.db.execute("BEGIN IMMEDIATE")
            self.db.execute("INSERT INTO orders VALUES(?)", (f"kept {i}",))
            id = self.one("SELECT alkstore_outbox_enqueue('box', 'kept')")
            self.assertEqual(id, lost)  # it was never there
            self.db.execute("COMMIT")
            committed = time.time() * 1000
            line = node.await_line(rf" delivered box job={id} ")
            took.append(programs.log_time(line) - committed)
        self.assertLess(min(took), 50, took)
        self.assertEqual(node.stop(), 0)
        self.assertEqual(sum("delivered box" in x for x in node.lines), 5)
        self.assertEqual(self.one("SELECT count(*) FROM orders"), 5)

    def test_pythons_own_implicit_transaction_will_do(self):
        db = self.connect()  # it begins one before an INSERT
        with db:
            db.execute("INSERT INTO orders VALUES('tea')")
            db.execute("SELECT alkstore_enqueue('q', 'x')").fetchone()
        self.assertEqual(len(self.json("jobs", "q")), 1)

    def test_without_a_transaction_a_call_is_refused(self):
        # Forgotten, the message would be sent though the order is not stored.
        for call in ("alkstore_enqueue('q', 'x')",
                     "alkstore_outbox_enqueue('box', 'x')",
                     "alkstore_schedule('s', '@every 1s', 'q', 'x')",
                     "alkstore_unschedule('s')"):
            self.assertIn("BEGIN IMMEDIATE",
                          self.refused("invalid_argument", "SELECT " + call))
        self.assertEqual(self.json("jobs"), [])

    def test_a_trigger_can_send_within_the_statement_that_set_it_off(self):
        self.db.execute(
            "CREATE TRIGGER announce AFTER INSERT ON orders BEGIN "
            "SELECT alkstore_outbox_enqueue('box', "
            "json_object('item', NEW.item)); END")
        self.db.execute("INSERT INTO orders VALUES('tea'), ('milk')")
        with self.assertRaises(sqlite3.IntegrityError):
            self.db.execute("INSERT INTO orders VALUES('rice'), ('tea')")
        self.assertEqual([self.json("job", x["id"])["payload"]
                          for x in self.json("jobs")],
                         ['{"item":"tea"}', '{"item":"milk"}'])

    def test_each_option_reaches_the_job(self):
        self.db.execute("BEGIN IMMEDIATE")
        id = self.one("SELECT alkstore_enqueue('q', 'x', ?)", json.dumps({
            "priority": -3, "run_at": "2033-05-18T03:33:20Z",
            "expires_in_ms": 10**12, "max_attempts": 7,
            "visibility_timeout_ms": 90_000, "backoff_base_ms": 250,
            "dedupe_key": "key"}))
        again = self.one("SELECT alkstore_enqueue('q', 'y', ?)",
                         '{"dedupe_key": "key", "delay_ms": 0}')
        self.assertEqual(again, id)
        self.assertEqual(self.one("SELECT alkstore_enqueue('q', 'z', NULL)"),
                         id + 1)
        mine = json.loads(self.one("SELECT alkstore_get_job(?)", id))
        self.db.execute("COMMIT")
        self.assertEqual(mine, self.json("job", id))
        self.assertEqual((mine["state"], mine["priority"], mine["run_at"],
                          mine["max_attempts"], mine["visibility_timeout_ms"],
                          mine["backoff_base_ms"], mine["dedupe_key"]),
                         ("delayed", -3, "2033-05-18T03:33:20.000Z", 7, 90_000,
                          250, "key"))

    def test_a_schedule_is_added_and_removed(self):
        self.db.execute("BEGIN IMMEDIATE")
        added = json.loads(self.one(
            "SELECT alkstore_schedule('s', '@every 10s', 'q', 'p', ?)",
            '{"max_attempts": 2}'))
        self.db.execute("COMMIT")
        self.assertEqual(added, self.json("schedule", "show", "s"))
        self.assertEqual(added["max_attempts"], 2)
        self.db.execute("BEGIN IMMEDIATE")
        self.assertEqual(self.one("SELECT alkstore_unschedule('s')"), 1)
        self.assertEqual(self.one("SELECT alkstore_unschedule('s')"), 0)
        self.db.execute("COMMIT")
        self.assertEqual(self.json("schedule", "list"), [])

    def test_get_job_reads_in_and_out_of_a_transaction(self):
        id = self.json("enqueue", "q", "--text", "größer")["id"]
        job = json.loads(self.one("SELECT alkstore_get_job(?)", id))
        self.assertEqual(job["payload"], "größer")
        self.refused("not_found", "SELECT alkstore_get_job(99)")
        for wrong in "x", 1.5, None, 1e300:
            self.refused("invalid_argument", "SELECT alkstore_get_job(?)",
                         wrong)
        self.assertEqual(self.one("SELECT alkstore_get_job(?)", float(id)),
                         self.one("SELECT alkstore_get_job(?)", id))
        self.assertFalse(self.db.in_transaction)

    def test_the_checks_are_the_librarys(self):
        self.db.execute("BEGIN IMMEDIATE")
        for code, call in (
                ("invalid_name", "enqueue('a b', 'x')"),
                ("invalid_argument", "enqueue(NULL, 'x')"),
                ("reserved_name", "enqueue('__alkstore_outbox:box', 'x')"),
                ("reserved_name", "outbox_enqueue('__alkstore', 'x')"),
                ("invalid_argument", "enqueue('q', 17)"),
                ("invalid_argument", "enqueue('q', NULL)"),
                ("payload_too_large", "enqueue('q', zeroblob(1048577))"),
                ("invalid_argument", "enqueue('q', 'x', '{\"prio\": 1}')"),
                ("invalid_argument", "enqueue('q', 'x', '{\"priority\": 32}')"),
                ("invalid_argument", "enqueue('q', 'x', 'priority')"),
                ("invalid_argument", "enqueue('q', 'x', 5)"),
                ("invalid_spec", "schedule('s', 'daily', 'q', 'x')"),
                ("invalid_argument", "schedule('s', '@every 1s', 'q', 'x', "
                                     "'{\"delay_ms\": 1}')")):
            self.refused(code, "SELECT alkstore_" + call)
        self.assertEqual(self.one("SELECT alkstore_enqueue('q', zeroblob(0))"),
                         1)
        self.assertEqual(
            self.one("SELECT alkstore_enqueue('q', zeroblob(1048576))"), 2)
        self.db.execute("COMMIT")
        self.assertEqual(len(self.json("jobs")), 2)

    def test_what_the_docs_show_works(self):
        docs = os.path.join(os.path.dirname(__file__), "..", "..", "docs")
        with open(os.path.join(docs, "sql.md")) as file:
            page = file.read()
        with open(os.path.join(docs, "schema.md")) as file:
            schema = file.read()
        os.symlink(programs.EXTENSION, self.path("alkstore.so"))
        os.symlink(self.database, self.path("shop.db"))
        shop = "\n".join(re.findall(r"```sql\n(.*?)```", page + schema, re.S))
        done = subprocess.run(["sqlite3", "-bail", "store.db"], input=shop,
                              cwd=self.directory, text=True,
                              capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.db.execute("DROP TRIGGER announce")
        self.db.execute("DELETE FROM orders")
        script = re.search(r"```python\n(.*?)```", page, re.S).group(1)
        subprocess.run([sys.executable, "-c", script], cwd=self.directory,
                       check=True)
        self.assertEqual(len(self.json("jobs", "--outbox", "order-events")), 2)

    def test_a_file_without_our_tables_is_refused(self):
        self.database = self.path("other.db")
        self.db = self.connect(isolation_level=None)
        self.db.execute("BEGIN IMMEDIATE")
        for call in "enqueue('q', 'x')", "get_job(1)":
            self.assertIn("no alkstore tables",
                          self.refused("invalid_argument",
                                       "SELECT alkstore_" + call))

    def test_a_stale_snapshot_is_busy_to_the_host_too(self):
        self.db.execute("BEGIN")
        self.one("SELECT count(*) FROM orders")
        self.alkstore("enqueue", "q", "--text", "x")
        with self.assertRaises(sqlite3.OperationalError) as caught:
            self.one("SELECT alkstore_enqueue('q', 'x')")
        self.assertIn("BEGIN IMMEDIATE", str(caught.exception))
        if hasattr(caught.exception, "sqlite_errorcode"):  # Python 3.11
            self.assertEqual(caught.exception.sqlite_errorcode & 0xFF,
                             sqlite3.SQLITE_BUSY)
        self.db.execute("ROLLBACK")

    def test_connections_close_and_load_it_again(self):
        for _ in range(3):
            db = self.connect(isolation_level=None)
            db.execute("BEGIN IMMEDIATE")
            db.execute("SELECT alkstore_enqueue('q', 'x')").fetchone()
            db.execute("COMMIT")
            db.close()  # a statement left over would make it fail
        self.assertEqual(len(self.json("jobs")), 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
