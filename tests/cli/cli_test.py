#!/usr/bin/python3
"""The command line, as it was released: what it prints and exits with."""

import base64
import json
import os
import pty
import re
import sqlite3
import stat
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import programs  # noqa: E402

ANY_BYTES = bytes(range(256)) * 3


class JobsTest(programs.ProgramTest):
    def test_a_payload_comes_back_byte_for_byte(self):
        for payload in (ANY_BYTES, b"", "größer\n".encode(), b"\0"):
            for arguments in ((), ("--file", "-"),
                              ("--file", self.write("payload", payload))):
                stored = self.json("enqueue", "q", *arguments, stdin=payload)
                result = self.run_alkstore("job", stored["id"], "--payload")
                self.assertEqual((result.status, result.out), (0, payload))
        stored = self.json("enqueue", "q", "--text", "a b")
        self.assertEqual(self.alkstore("job", stored["id"], "--payload"), "a b")

    def test_json_has_a_payload_as_text_or_as_base64(self):
        text = self.json("enqueue", "q", stdin="größer\n".encode())["id"]
        self.assertEqual(self.json("job", text)["payload"], "größer\n")
        raw = self.json("enqueue", "q", stdin=ANY_BYTES)["id"]
        job = self.json("job", raw)
        self.assertNotIn("payload", job)
        self.assertEqual(base64.b64decode(job["payload_base64"]), ANY_BYTES)

    def test_each_option_reaches_the_job(self):
        id = self.json("enqueue", "q", "--text", "x", "--priority", -3,
                       "--run-at", "2033-05-18T05:33:20+02:00", "--expires-in",
                       "36500d", "--max-attempts", 7, "--visibility-timeout",
                       "90s", "--backoff-base", "250ms", "--dedupe-key",
                       "key")["id"]
        job = self.json("job", id)
        self.assertEqual(job["state"], "delayed")
        self.assertEqual(job["priority"], -3)
        self.assertEqual(job["run_at"], "2033-05-18T03:33:20.000Z")
        self.assertEqual(job["max_attempts"], 7)
        self.assertEqual(job["visibility_timeout_ms"], 90_000)
        self.assertEqual(job["backoff_base_ms"], 250)
        self.assertEqual(job["dedupe_key"], "key")
        self.assertIsNotNone(job["expires_at"])
        again = self.json("enqueue", "q", "--text", "y", "--dedupe-key", "key")
        self.assertEqual(again, {"id": id, "stored": False})
        later = self.json("enqueue", "q", "--text", "x", "--delay", "1h")["id"]
        self.assertEqual(self.json("job", later)["state"], "delayed")

    def test_jobs_lists_by_queue_and_state_and_pages(self):
        for _ in range(3):
            self.alkstore("enqueue", "q", "--text", "x")
        self.alkstore("enqueue", "q", "--text", "x", "--delay", "1h")
        self.alkstore("outbox", "send", "box", "--text", "x")
        def ids(*arguments):
            return [x["id"] for x in self.json("jobs", *arguments)]
        self.assertEqual(ids(), [1, 2, 3, 4, 5])
        self.assertEqual(ids("q"), [1, 2, 3, 4])
        self.assertEqual(ids("--outbox", "box"), [5])
        self.assertEqual(ids("q", "--state", "delayed"), [4])
        self.assertEqual(ids("--state", "running"), [])
        self.assertEqual(ids("--limit", 2, "--after", 1), [2, 3])
        row = self.json("jobs", "--outbox", "box")[0]
        self.assertEqual((row["queue"], row["outbox"]), (None, "box"))
        self.assertNotIn("payload", row)
        result = self.run_alkstore("jobs", "qq")
        self.assertEqual((result.status, result.out), (0, b""))
        self.assertIn('the nearest one is "q"', result.err)

    def test_queues_counts_what_is_where(self):
        self.assertEqual(self.json("queues"), [])
        self.alkstore("enqueue", "q", "--text", "x")
        self.alkstore("enqueue", "q", "--text", "x", "--delay", "1h")
        self.alkstore("outbox", "send", "box", "--text", "x")
        box, q = self.json("queues")
        self.assertEqual((box["queue"], box["outbox"], box["waiting"]),
                         (None, "box", 1))
        self.assertEqual([q[x] for x in ("queue", "waiting", "delayed",
                                         "running", "dead")],
                         ["q", 1, 1, 0, 0])
        self.assertIsNotNone(q["next_due_at"])

    def test_tables_are_aligned_and_show_local_time_or_utc(self):
        self.alkstore("enqueue", "long-queue-name", "--text", "x", "--run-at",
                      "2033-05-18T03:33:20Z")
        self.alkstore("enqueue", "q", "--text", "x", "--run-at",
                      "2033-05-18 05:33:20")  # TZ of these tests is +0200
        head, first, second = self.alkstore("jobs").splitlines()
        self.assertEqual(first.index("long-queue-name"), head.index("queue"))
        self.assertEqual(second[head.index("queue")], "q")
        for line in first, second:
            self.assertIn("2033-05-18 05:33:20.000 +0200", line)
        self.assertIn("2033-05-18T03:33:20.000Z", self.alkstore("jobs", "--utc"))
        shown = self.alkstore("job", 1)
        self.assertIn("2033-05-18 05:33:20.000 +0200 "
                      "(2033-05-18T03:33:20.000Z)", shown)

    def test_a_terminal_gets_no_control_characters(self):
        id = self.json("enqueue", "q", stdin=b"a\x1b[2Jb\n")["id"]
        self.assertIn("a\\x1b[2Jb\\x0a", self.alkstore("job", id))
        id = self.json("enqueue", "q", stdin=b"\xff\0")["id"]
        self.assertIn("2 bytes that are no text", self.alkstore("job", id))


class JsonLinesTest(programs.ProgramTest):
    def test_a_file_of_json_lines_is_enqueued_whole(self):
        lines = [json.dumps({"payload": str(i), "priority": i % 3})
                 for i in range(2500)]
        lines.insert(7, "  ")
        lines.append(json.dumps({"payload_base64":
                                 base64.b64encode(ANY_BYTES).decode()}))
        path = self.write("in.jsonl", "\n".join(lines).encode())
        self.assertEqual(self.json("enqueue", "q", "--jsonl", path),
                         {"stored": 2501, "repeated": 0})
        self.assertEqual(self.json("queues")[0]["waiting"], 2501)
        result = self.run_alkstore("job", 2501, "--payload")
        self.assertEqual(result.out, ANY_BYTES)
        self.assertEqual(self.json("job", 5)["priority"], 1)

    def test_a_line_has_the_options_of_the_command_line_unless_it_has_its_own(
            self):
        lines = (b'{"payload": "a", "dedupe_key": "k", "delay_ms": 5000000}\n'
                 b'{"payload": "b", "max_attempts": 9}\r\n'
                 b'{"payload": "c", "dedupe_key": "k"}\n')
        self.assertEqual(
            self.json("outbox", "send", "box", "--jsonl", "-", "--max-attempts",
                      2, "--run-at", "2020-01-01T00:00:00Z", stdin=lines),
            {"stored": 2, "repeated": 1})
        first, second = self.json("job", 1), self.json("job", 2)
        self.assertEqual((first["state"], first["max_attempts"]),
                         ("delayed", 2))
        self.assertEqual((second["run_at"], second["max_attempts"]),
                         ("2020-01-01T00:00:00.000Z", 9))

    def test_a_wrong_line_ends_it_and_says_what_is_stored(self):
        good = b'{"payload": "x"}\n' * 1500
        for line, why in ((b"{", "no JSON, from byte 2 on"),
                          (b"[1]", "the JSON is no object"),
                          (b"{}", "either payload or payload_base64"),
                          (b'{"payload": 1}', "payload: must be a text"),
                          (b'{"payload_base64": "AA="}', "is no base64"),
                          (b'{"payload": "x", "prio": 1}',
                           'unknown key "prio"; the nearest one is "priority"'),
                          (b'{"payload": "x", "priority": 99}',
                           "it is -32 to 31"),
                          (b'{"payload": "x", "priority": 1.5}',
                           "priority: must be an integer"),
                          (b'{"payload": "x", "max_attempts": 99999999999}',
                           "max_attempts: is out of range"),
                          (b'{"payload": "' + b"x" * 1048577 + b'"}',
                           "the limit is 1048576")):
            said = self.refused(65, "enqueue", "q", "--jsonl", "-",
                                stdin=good + line)
            self.assertIn("-:1501: ", said)
            self.assertIn(why, said)
            self.assertIn("lines 1 to 1000 are stored", said)
        self.assertEqual(self.json("queues")[0]["waiting"], 10 * 1000)
        said = self.refused(65, "enqueue", "p", "--jsonl", "-", stdin=b"x")
        self.assertIn("nothing was stored", said)


def make_dead(case, count, kind, name, *options):
    """As a node leaves them whose command fails; their ids."""
    command, key = {"queue": (["enqueue"], "queues"),
                    "outbox": (["outbox", "send"], "outboxes")}[kind]
    ids = [case.json(*command, name, "--text", "x", "--max-attempts", 1,
                     *options)["id"] for _ in range(count)]
    node = case.node(key + ' = [{ name = "' + name
                     + '", command = ["/bin/false"] }]')
    for id in ids:
        node.await_line(rf" dead {name} job={id} ")
    case.assertEqual(node.stop(), 0)
    return ids


class DeadLettersTest(programs.ProgramTest):
    def test_dead_letters_are_listed_shown_requeued_and_deleted(self):
        one, two, three = make_dead(self, 3, "queue", "q")
        box = make_dead(self, 1, "outbox", "box")[0]
        self.assertEqual([x["id"] for x in self.json("dead", "list")],
                         [one, two, three, box])
        rows = self.json("dead", "list", "q", "--limit", 1, "--after", one)
        self.assertEqual([(x["id"], x["state"], x["last_error"])
                          for x in rows], [(two, "dead", "exit status 1")])
        self.assertEqual(self.json("dead", "show", one)["payload"], "x")
        self.assertEqual(self.alkstore("dead", "show", one, "--payload"), "x")
        said = self.refused(66, "dead", "requeue", one, 99)
        self.assertIn("dead letter 99: there is none; nothing was requeued",
                      said)
        self.assertEqual(self.json("dead", "requeue", one),
                         {"requeued": 1, "held": 0})
        job = self.json("job", one)
        self.assertEqual((job["state"], job["attempts"]), ("waiting", 0))
        self.refused(66, "dead", "show", one)
        self.assertEqual(self.json("dead", "delete", two),
                         {"deleted": 1, "held": 0})
        self.refused(66, "job", two)
        self.assertEqual(self.json("dead", "requeue", "--queue", "q"),
                         {"requeued": 1, "held": 0})
        self.assertEqual(self.json("dead", "delete", "--outbox", "box"),
                         {"deleted": 1, "held": 0})
        self.assertEqual(self.json("dead", "list"), [])
        self.refused(64, "dead", "requeue")
        self.refused(64, "dead", "requeue", 1, "--queue", "q")

    def test_a_key_that_a_live_job_holds_keeps_its_dead_letter_back(self):
        id = make_dead(self, 1, "queue", "q", "--dedupe-key", "k")[0]
        self.alkstore("enqueue", "q", "--text", "new", "--dedupe-key", "k")
        self.assertIn("holds its dedupe key",
                      self.refused(73, "dead", "requeue", id))
        self.assertEqual(self.json("dead", "requeue", "--queue", "q"),
                         {"requeued": 0, "held": 1})


class SchedulesTest(programs.ProgramTest):
    def test_a_schedule_is_added_shown_paused_resumed_and_removed(self):
        added = self.json("schedule", "add", "s", "@every 10s", "q", "--text",
                          "p", "--priority", 3, "--expires-in", "1h")
        self.assertEqual((added["spec"], added["priority"],
                          added["expires_in_ms"], added["max_attempts"],
                          added["payload"], added["paused"]),
                         ("@every 10s", 3, 3_600_000, None, "p", False))
        self.assertEqual(self.json("schedule", "list"), [added])
        self.assertEqual(self.json("schedule", "show", "s"), added)
        self.assertEqual(self.alkstore("schedule", "show", "s", "--payload"),
                         "p")
        for action, changed in (("pause", True), ("pause", False),
                                ("resume", True), ("resume", False)):
            self.assertEqual(self.json("schedule", action, "s"),
                             {"name": "s", "changed": changed})
        self.json("schedule", "remove", "s")
        self.assertEqual(self.json("schedule", "list"), [])
        self.refused(66, "schedule", "remove", "s")

    def test_what_is_no_schedule_is_refused(self):
        self.alkstore("schedule", "add", "nightly", "@every 1d", "q")
        self.assertIn('the nearest one is "nightly"',
                      self.refused(66, "schedule", "pause", "nihgtly"))
        self.assertIn("invalid_spec",
                      self.refused(64, "schedule", "add", "s", "daily", "q"))
        self.assertIn("invalid_name",
                      self.refused(64, "schedule", "add", "s", "@every 1s",
                                   "a b"))
        self.assertIn("reserved_name",
                      self.refused(64, "schedule", "add", "__alkstore_s",
                                   "@every 1s", "q"))

    def test_next_names_the_boundaries_to_come(self):
        first = self.json("schedule", "add", "a", "@every 10s",
                          "q")["next_fire_at"]
        self.json("schedule", "add", "b", "@every 15s", "p")
        rows = self.json("schedule", "next", "--count", 3)
        self.assertEqual([x["schedule"] for x in rows], ["a", "b", "a"])
        self.assertEqual(rows[0]["fire_at"], first)
        self.assertTrue(0 < rows[0]["in_ms"] <= 10_000)
        self.assertEqual(rows[2]["in_ms"] - rows[0]["in_ms"], 10_000)
        self.assertEqual(len(self.json("schedule", "next", "b")), 5)
        self.json("schedule", "add", "c", "@every 90000000000d", "q")
        self.assertEqual(len(self.json("schedule", "next", "c")), 1)
        self.json("schedule", "pause", "b")
        result = self.run_alkstore("schedule", "next", "b", "--json")
        self.assertEqual((result.status, json.loads(result.out)), (0, []))
        self.assertIn("b is paused", result.err)


class StoreTest(programs.ProgramTest):
    def test_a_copy_made_while_a_node_works_is_a_store(self):
        node = self.node('queues = [{ name = "q", log = true }]')
        self.alkstore("enqueue", "q", "--text", "kept", "--delay", "1h")
        told = self.json("backup", "copy.db")
        copy = self.path("copy.db")
        self.assertEqual(told, {"file": "copy.db",
                                "bytes": os.path.getsize(copy)})
        self.assertEqual(stat.S_IMODE(os.stat(copy).st_mode), 0o600)
        self.assertEqual(self.json("-d", copy, "job", 1)["payload"], "kept")
        said = self.refused(73, "backup", "copy.db")
        self.assertIn("File exists", said)
        self.assertEqual(node.stop(), 0)

    def test_vacuum_makes_the_file_smaller(self):
        self.alkstore("enqueue", "q", "--text", "kept")
        with sqlite3.connect(self.database) as db:
            db.execute("CREATE TABLE ballast(x)")
            db.execute("INSERT INTO ballast VALUES(zeroblob(4000000))")
            db.execute("DROP TABLE ballast")
        db.close()
        self.assertGreater(self.json("stats")["free_bytes"], 3_900_000)
        told = self.json("vacuum")
        self.assertLess(told["bytes_after"], told["bytes_before"] - 3_900_000)
        self.assertEqual(self.json("stats")["free_bytes"], 0)
        self.assertEqual(self.json("job", 1)["payload"], "kept")

    def test_locks_leader_and_stats_show_the_node_that_leads(self):
        self.assertEqual(self.json("locks"), [])
        self.assertEqual(self.json("leader"), {"leads": False})
        node = self.node('schedules = [{ name = "s", spec = "@every 1h", '
                         'queue = "q" }]')
        leader = self.json("leader")
        self.assertEqual((leader["leads"], leader["token"]), (True, 1))
        lock = self.json("locks")[0]
        self.assertEqual((lock["name"], lock["held"], lock["owner"]),
                         ("__alkstore_scheduler", True, leader["owner"]))
        self.alkstore("enqueue", "q", "--text", "x")
        stats = self.json("stats")
        self.assertEqual((stats["leader"], stats["schedules"],
                          stats["waiting"], stats["database"]),
                         (leader["owner"], 1, 1, self.database))
        result = self.run_alkstore("vacuum")
        self.assertEqual(result.status, 0)
        self.assertIn("a node leads here", result.err)
        self.assertEqual(node.stop(), 0)
        self.assertEqual(self.json("leader"), {"leads": False})
        self.assertFalse(self.json("locks")[0]["held"])

    def test_a_running_node_notices_at_once(self):
        node = self.node('queues = [{ name = "q", log = true }]\n'
                         'outboxes = [{ name = "box", log = true }]')
        took = []
        for _ in range(5):
            stored = self.json("outbox", "send", "box", "--text", "x")["id"]
            ended = time.time() * 1000
            line = node.await_line(rf" delivered box job={stored} ")
            took.append(programs.log_time(line) - ended)
        self.assertLess(min(took), 50, took)
        stored = self.json("enqueue", "q", "--text", "x")["id"]
        node.await_line(rf" delivered q job={stored} ")
        self.alkstore("schedule", "add", "s", "@every 1s", "q")
        node.await_line(r" fired s ")
        self.assertEqual(node.stop(), 0)

    def test_check_has_a_good_word_for_a_sound_store(self):
        self.alkstore("enqueue", "q", "--text", "x")
        rows = self.json("check")
        self.assertEqual({x["subject"] for x in rows},
                         {"permissions", "file system", "integrity", "schema",
                          "rows", "clock"})
        self.assertNotIn("damaged", [x["result"] for x in rows])

    def test_check_warns_of_open_permissions(self):
        os.chmod(self.database, 0o644)
        rows = [x for x in self.json("check") if x["subject"] == "permissions"]
        self.assertEqual({x["result"] for x in rows}, {"warning"})
        self.assertIn("store.db has mode 0644", rows[0]["text"])

    def test_check_finds_damage_and_exits_with_65(self):
        self.alkstore("enqueue", "q", "--text", "x")
        with sqlite3.connect(self.database) as db:
            db.execute("DELETE FROM alkstore_payloads")
        db.close()
        result = self.run_alkstore("check")
        self.assertEqual(result.status, 65)
        self.assertIn("1 jobs without a payload", result.text())
        self.write("store.db", b"no database" * 1000)
        result = self.run_alkstore("check", "--json")
        self.assertEqual(result.status, 65)
        self.assertEqual(json.loads(result.out)[-1]["result"], "damaged")

    def test_check_reads_the_configuration(self):
        good = self.write("good.conf", b'alkstore { database = "store.db" }')
        del self.environment["ALKSTORE_DATABASE"]
        self.assertEqual(self.json("--config-file", good, "check")[0]["subject"],
                         "configuration")
        bad = self.write("bad.conf", b"alkstore { databse = 1 }")
        result = self.run_alkstore("--config-file", bad, "check")
        self.assertEqual(result.status, 78)
        self.assertIn("bad.conf:1: alkstore.databse", result.err)


class MistakesTest(programs.ProgramTest):
    create = False

    def test_a_store_is_made_only_when_asked_to(self):
        self.write("shop.db", b"")
        for command in (("queues",), ("enqueue", "q", "--text", "x")):
            said = self.refused(66, "-d", "shp.db", *command)
            self.assertIn('the nearest one is "shop.db"', said)
            # An application's file: ours it becomes only with --create.
            self.assertIn("no alkstore tables",
                          self.refused(64, "-d", "shop.db", *command))
        self.assertFalse(os.path.exists(self.path("shp.db")))
        self.json("-d", "shop.db", "enqueue", "q", "--text", "x", "--create")
        self.assertEqual(len(self.json("-d", "shop.db", "jobs")), 1)

    def test_the_database_is_named_by_option_configuration_or_environment(self):
        config = self.write("a.conf", b'alkstore { database = "b.db", '
                                      b'max-payload = 3 }')
        for name in "b.db", "c.db", "store.db":
            self.json("-d", name, "--create", "queues")
        def database(*arguments):
            return os.path.basename(self.json(*arguments, "stats")["database"])
        self.assertEqual(database(), "store.db")
        self.assertEqual(database("--config-file", config), "b.db")
        self.assertEqual(database("--config-file", config, "-d", "c.db"),
                         "c.db")
        self.refused(65, "--config-file", config, "enqueue", "q", "--text",
                     "long")
        del self.environment["ALKSTORE_DATABASE"]
        self.assertIn("which database?", self.refused(64, "stats"))

    def test_each_kind_of_mistake_has_its_exit_status(self):
        self.json("--create", "queues")
        for status, arguments in (
                (64, ()), (64, ("jbos",)), (64, ("jobs", "--sate", "running")),
                (64, ("jobs", "--state", "dead")), (64, ("job", "x")),
                (64, ("jobs", "q", "--outbox", "b")),
                (64, ("enqueue", "a b", "--text", "x")),
                (64, ("enqueue", "__alkstore_q", "--text", "x")),
                (64, ("enqueue", "q", "--text", "x", "--delay", "5")),
                (64, ("enqueue", "q", "--text", "x", "--run-at", "tomorrow")),
                (64, ("enqueue", "q", "--text", "x", "--run-at",
                      "2033-02-30T00:00:00Z")),
                (64, ("enqueue", "q", "--text", "x", "--priority", "32")),
                (64, ("enqueue", "q", "--text", "x", "--file", "y")),
                (66, ("enqueue", "q", "--file", "none")),
                (66, ("enqueue", "q", "--jsonl", "none")),
                (66, ("job", "1")), (66, ("schedule", "show", "s")),
                (74, ("backup", "none/copy.db"))):
            self.refused(status, *arguments)
        self.refused(65, "enqueue", "q", stdin=b"x" * 1048577)
        self.assertEqual(self.json("queues"), [])
        self.assertIn('the nearest one is "jobs"', self.refused(64, "jbos"))
        self.assertIn('the nearest one is "--state"',
                      self.refused(64, "jobs", "--sate", "running"))
        with sqlite3.connect(self.database) as db:
            db.execute("UPDATE alkstore_meta SET value = 99")
        self.refused(65, "queues")
        db.close()

    def test_a_lock_that_another_holds_too_long_is_75(self):
        self.json("--create", "queues")
        config = self.write("a.conf", b'alkstore { database = "store.db", '
                                      b'busy-timeout = 10ms }')
        db = sqlite3.connect(self.database, isolation_level=None)
        db.execute("BEGIN IMMEDIATE")
        self.refused(75, "--config-file", config, "enqueue", "q", "--text", "x")
        db.close()


class PagesTest(programs.ProgramTest):
    def commands(self):
        """Every command, from the pages of --help themselves."""
        def walk(path):
            text = self.alkstore(*path, "--help")
            below = re.search(r"\nSubcommands:\n((?:  .*\n?)+)", text)
            if not below:
                return [(path, text)]
            names = re.findall(r"^  (\S+)", below.group(1), re.M)
            return [x for name in names for x in walk(path + [name])]
        return walk([])

    def test_every_command_of_the_issue_is_there(self):
        self.assertEqual(
            {" ".join(path) for path, _ in self.commands()},
            {"enqueue", "outbox send", "queues", "jobs", "job", "dead list",
             "dead show", "dead requeue", "dead delete", "schedule add",
             "schedule list", "schedule show", "schedule remove",
             "schedule pause", "schedule resume", "schedule next", "locks",
             "leader", "stats", "check", "backup", "vacuum", "completion",
             "manual"})

    def test_the_example_of_each_page_works(self):
        make_dead(self, 2, "queue", "reports")
        self.alkstore("enqueue", "reports", "--text", "x")
        self.alkstore("schedule", "add", "nightly-report", "@every 1h", "q")
        env = dict(self.environment, PATH=os.path.dirname(programs.ALKSTORE)
                   + ":" + os.environ["PATH"])
        # `dead show 2` before the requeue: in the order of the pages.
        for path, text in self.commands():
            example = re.search(r"\nExample:\n  (.*)\n", text)
            self.assertIsNotNone(example, path)
            self.assertIn("alkstore " + " ".join(path), example.group(1))
            done = subprocess.run(["sh", "-c", example.group(1)], env=env,
                                  cwd=self.directory, capture_output=True)
            self.assertEqual(done.returncode, 0, (example.group(1), done))

    def test_the_manual_page_has_every_command_option_and_status(self):
        page = self.alkstore("manual").replace("\\-", "-")
        for path, text in self.commands():
            name = "alkstore " + " ".join(path)
            section = re.search(r"\n\.SS " + name + r" .*\n((?:(?!\.S[SH]).*\n)+)",
                                page)
            self.assertIsNotNone(section, name)
            for option in re.findall(r"--[a-z-]+", text):
                self.assertIn(option, page)
        for status in (0, 64, 65, 66, 70, 73, 74, 75, 77, 78):
            self.assertIn(f"\n.B {status}\n", page)

    def test_bash_completes_every_command_and_option(self):
        script = self.write("completion.bash",
                            self.alkstore("completion").encode())
        def complete(*words):
            line = " ".join(f"'{x}'" for x in ("alkstore",) + words)
            done = subprocess.run(
                ["bash", "-uec", f"source {script}; COMP_WORDS=({line}); "
                 f"COMP_CWORD={len(words)}; _alkstore; "
                 'printf "%s\\n" "${COMPREPLY[@]-}"'],
                capture_output=True, text=True, check=True)
            return done.stdout.split()
        for path, text in self.commands():
            self.assertIn(path[0], complete(""))
            self.assertIn(path[-1], complete(*path[:-1], ""))
            for option in re.findall(r"--[a-z-]+", text):
                if option in text.split("Example:")[0].split("Excludes")[0]:
                    self.assertIn(option, complete(*path, "--")
                                  + complete("--"))
        self.assertEqual(complete("sche"), ["schedule"])
        self.assertEqual(complete("--json", "-d", "x", "schedule", "pa"),
                         ["pause"])
        self.assertEqual(complete("--database", ""), [])  # a file, by bash

    def test_every_command_of_the_docs_works(self):
        self.write("order.json", b"{}")
        self.write("jobs.jsonl", b'{"payload": "x"}')
        docs = os.path.join(os.path.dirname(__file__), "..", "..", "docs")
        with open(os.path.join(docs, "cli.md")) as file:
            page = file.read()
        script = re.search(r"```sh\n(.*?)```", page, re.S).group(1)
        env = dict(self.environment, PATH=os.path.dirname(programs.ALKSTORE)
                   + ":" + os.environ["PATH"])
        done = subprocess.run(["bash", "-euxc", script], env=env, text=True,
                              cwd=self.directory, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        for status in re.findall(r"\n\.B (\d+)\n(.*)\n",
                                 self.alkstore("manual")):
            self.assertIn("| %s | %s |" % status, page)

    def on_terminal(self, *arguments):
        """What a terminal gets to see on standard error."""
        ours, theirs = pty.openpty()
        with subprocess.Popen(
                [programs.ALKSTORE, *arguments], env=self.environment,
                cwd=self.directory, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=theirs) as process:
            os.close(theirs)
            shown = b""
            while True:
                try:
                    piece = os.read(ours, 4096)
                except OSError:  # its end
                    break
                if not piece:
                    break
                shown += piece
        os.close(ours)
        self.assertEqual(process.returncode, 0, shown)
        return shown

    def test_a_terminal_sees_how_far_a_long_work_is(self):
        self.write("in.jsonl", b"".join(b'{"payload": "%d"}\n' % i
                                        for i in range(50_000)))
        for arguments, pattern in (
                (("enqueue", "q", "--jsonl", "in.jsonl"),
                 rb"enqueueing: \d+, \d+ %"),
                (("backup", "copy.db"), rb"copying, \d+ %"),
                (("vacuum",), rb"writing the file anew, \d+ s")):
            shown = self.on_terminal(*arguments)
            self.assertRegex(shown, pattern)
            self.assertTrue(shown.endswith(b"\r\x1b[K"), shown)
        self.assertEqual(self.json("queues")[0]["waiting"], 50_000)

    def test_it_starts_without_caf(self):
        linked = subprocess.run(["ldd", programs.ALKSTORE], text=True,
                                capture_output=True, check=True).stdout
        self.assertIn("libsqlite3", linked)
        self.assertNotIn("libcaf", linked)


if __name__ == "__main__":
    unittest.main(verbosity=2)
