"""Runs the programs under test: alkstore, and a node beside it.

ctest names them in the environment: ALKSTORE, ALKSTORE_NODE and
ALKSTORE_EXTENSION are paths.
"""

import calendar
import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
import unittest

ALKSTORE = os.environ["ALKSTORE"]
NODE = os.environ["ALKSTORE_NODE"]
EXTENSION = os.environ["ALKSTORE_EXTENSION"]

PATIENCE = 30  # seconds, for a machine that has other things to do


class Result:
    def __init__(self, done):
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr.decode()

    def text(self):
        return self.out.decode()


class Node:
    """alkstore-node, ended with the test. Waits until it leads."""

    def __init__(self, directory, block):
        path = os.path.join(directory, "node.conf")
        with open(path, "w") as file:
            file.write("alkstore {\n" + block + "\n}\n")
        self.lines = []
        self.changed = threading.Condition()
        self.process = subprocess.Popen(
            [NODE, "--config-file", path], cwd=directory, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        self.reading = threading.Thread(target=self._read)
        self.reading.start()
        try:
            self.await_line(r" leading ")
        except BaseException:
            self.kill()
            raise

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line)
                self.changed.notify_all()
        with self.changed:
            self.lines.append("(ended)\n")
            self.changed.notify_all()

    def await_line(self, pattern):
        """The first line in which the pattern is found."""
        def found():
            return next((x for x in self.lines if re.search(pattern, x)), None)
        with self.changed:
            if not self.changed.wait_for(
                    lambda: found() or "(ended)\n" in self.lines, PATIENCE):
                raise AssertionError(pattern + " not in\n" + "".join(self.lines))
            if found() is None:
                raise AssertionError(pattern + " not in\n" + "".join(self.lines))
            return found()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        self.reading.join()
        return status

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reading.join()
        self.process.stdout.close()


def log_time(line):
    """When the node wrote a line, in ms since the epoch."""
    stamp = line.split()[0]
    seconds, ms = re.fullmatch(r"(.*)\.(\d{3})Z", stamp).groups()
    return calendar.timegm(time.strptime(seconds, "%Y-%m-%dT%H:%M:%S")) * 1000 \
        + int(ms)


class ProgramTest(unittest.TestCase):
    """Each case has a directory of its own, and in it a store."""

    create = True

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="alkstore-")
        self.addCleanup(folder.cleanup)
        self.directory = folder.name
        self.database = self.path("store.db")
        self.environment = dict(os.environ, ALKSTORE_DATABASE=self.database,
                                TZ="UTC-2")
        if self.create:
            self.alkstore("--create", "queues")

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def run_alkstore(self, *arguments, stdin=b""):
        """Whatever it exits with."""
        return Result(subprocess.run(
            [ALKSTORE, *map(str, arguments)], input=stdin, cwd=self.directory,
            env=self.environment, capture_output=True, timeout=PATIENCE))

    def alkstore(self, *arguments, stdin=b""):
        """Its standard output, after success."""
        result = self.run_alkstore(*arguments, stdin=stdin)
        self.assertEqual((result.status, result.err), (0, ""), arguments)
        return result.text()

    def json(self, *arguments, stdin=b""):
        return json.loads(self.alkstore("--json", *arguments, stdin=stdin))

    def refused(self, status, *arguments, stdin=b""):
        """What it says on standard error."""
        result = self.run_alkstore(*arguments, stdin=stdin)
        self.assertEqual((result.status, result.out), (status, b""),
                         (arguments, result.err))
        self.assertTrue(result.err.startswith("alkstore: "), result.err)
        return result.err

    def node(self, block):
        node = Node(self.directory, 'database = "store.db"\n' + block)
        self.addCleanup(node.kill)
        return node
