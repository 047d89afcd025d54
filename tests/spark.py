"""A real Spark cluster for tests: a master, two workers and their executors, each in a process of its own.

Everything Spark writes goes to a directory of its own, which is gone afterwards. SPARK_HOME is such a
directory too, with links to the parts of the installed package: a worker writes its logs below SPARK_HOME.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PARTS = ("bin", "jars", "python")
_QUICK_START = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""Tests spend their time starting: a small collector and one compiler halve that."""


class Cluster:
    """Two workers with one executor each, and the session that drives them."""

    def __init__(self, *, executor_megabytes: int = 512, java_options: str = _QUICK_START) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="spark", dir="/tmp"))
        package = _package()
        for part in _PARTS:
            (self._home / part).symlink_to(package / part)
        surroundings = {
            "SPARK_HOME": str(self._home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self._home / "local"),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LAUNCHER_OPTS": _QUICK_START,
        }
        before = {name: os.environ.get(name) for name in surroundings}
        os.environ.update(surroundings)
        try:
            self.session = self._start(executor_megabytes, java_options)
        except BaseException:
            shutil.rmtree(self._home, ignore_errors=True)
            raise
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
        self._gateway = self.session.sparkContext._gateway
        self._driver: subprocess.Popen[bytes] = self._gateway.proc

    def _start(self, executor_megabytes: int, java_options: str) -> SparkSession:
        from pyspark.sql import SparkSession

        options = f"{java_options} -Djava.io.tmpdir={self._home}"
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "1g",
            "spark.driver.extraJavaOptions": options,
            "spark.executor.memory": f"{executor_megabytes}m",
            "spark.executor.extraJavaOptions": options,
            "spark.sql.shuffle.partitions": "4",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.warehouse.dir": str(self._home / "warehouse"),
        }
        builder = SparkSession.builder.master(f"local-cluster[2,1,{executor_megabytes}]").appName("safeside")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        return session

    def executors(self) -> list[int]:
        """The process of each executor that is alive; the workers, inside the driver, start them."""
        return [
            pid for pid in _children(self._driver.pid) if b"CoarseGrainedExecutorBackend" in _command(pid)
        ]

    def kill_executor_of(self, pid: int) -> int:
        """Kill, with signal 9, the executor that `pid` descends from; the process that was killed."""
        executors = set(self.executors())
        while pid not in executors:
            if pid <= 1:
                raise ProcessLookupError("that process belongs to no living executor")
            pid = _parent(pid)
        os.kill(pid, signal.SIGKILL)
        return pid

    def remove(self) -> None:
        """Stop everything and delete everything."""
        self.session.stop()
        self._gateway.shutdown()
        if self._driver.stdin is not None:
            self._driver.stdin.close()
        try:
            self._driver.wait(10)
        except subprocess.TimeoutExpired:
            self._driver.kill()
            self._driver.wait(10)
        shutil.rmtree(self._home, ignore_errors=True)


def _package() -> Path:
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("pyspark is not installed: run `make test`, which installs it")
    return Path(found.origin).parent


def _parent(pid: int) -> int:
    # The name of a process stands in brackets and may hold anything; what follows the last one is regular.
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _children(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if _parent(int(entry.name)) == pid:
                    found.append(int(entry.name))
            except OSError:  # it ended while we looked
                continue
    return sorted(found)
