"""A real Spark standalone cluster on 127.0.0.1, for the tests of the Spark engine: a master and two workers."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import pytest

import metareview

WORKERS = 2
_WORK = Path(__file__).parent / "engines"
"""Where workers find what tests give them to do."""
_PATIENCE = 120
"""Seconds, on a machine that runs other tests beside this one."""
QUICK = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""What a Java process that lives for a minute is started with: less to compile, less to collect with."""


class SparkCluster:
    """Started by `start`, ended by `stop` whatever happened between. Its processes are all in sessions of their own,
    so that a worker is killed together with the executor that it runs."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        self._home = Path(pyspark.__file__).parent
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._started = 0
        self.url = ""

    def start(self) -> None:
        self._start("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0")
        self.url = self._wait_for("master", r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
        for _ in range(WORKERS):
            self.add_worker()

    def wait(self) -> None:
        """Until every worker that runs is known to the master."""
        for name in self.workers:
            self._wait_for(name, r"(Successfully registered with master)")

    @property
    def workers(self) -> list[str]:
        """Those that run."""
        return [name for name, process in self._processes.items() if name != "master" and process.poll() is None]

    def add_worker(self) -> str:
        """Another worker, of one core; its name."""
        self._started += 1
        name = f"worker-{self._started}"
        folder = str(self._folder / name)
        limits = ("--cores", "1", "--memory", "1g", "--work-dir", folder)
        self._start(name, "org.apache.spark.deploy.worker.Worker", *limits, "--host", "127.0.0.1", self.url)
        return name

    def replace_worker(self) -> None:
        """After a kill: the next test finds two workers again."""
        while len(self.workers) < WORKERS:
            self.add_worker()
        self.wait()

    def kill_worker(self) -> str:
        """The first worker, with its executor, as if the machine had lost power; its name."""
        name = self.workers[0]
        process = self._processes[name]
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return name

    @contextmanager
    def killing_a_worker(self):
        """While this lasts, a worker is killed as soon as tasks of every worker say that they have begun."""
        for each in self._folder.glob("begun-by-*"):
            each.unlink()
        stopped = Event()

        def kill():
            while len(list(self._folder.glob("begun-by-*"))) < WORKERS and not stopped.wait(0.05):
                pass
            if not stopped.is_set():
                self.kill_worker()

        killer = Thread(target=kill)
        killer.start()
        try:
            yield
        finally:
            stopped.set()
            killer.join()

    def stop(self) -> None:
        for process in self._processes.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _start(self, name: str, main: str, *arguments: str) -> None:
        environment = {
            **os.environ,
            "SPARK_HOME": str(self._home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_SCALA_VERSION": "2.13",  # without which a worker cannot tell the executor what to run
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join(map(str, (Path(metareview.__file__).parents[1], _WORK))),
            "BEGUN": str(self._folder),
        }
        with self._log(name).open("wb") as log:
            self._processes[name] = subprocess.Popen(
                [
                    *("java", *QUICK.split(), "-Xmx256m", "-Dspark.master.rest.enabled=false"),
                    *("-cp", str(self._home / "jars" / "*"), main, "--webui-port", "0", *arguments),
                ],
                env=environment,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.log"

    def _wait_for(self, name: str, pattern: str) -> str:
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            said = self._log(name).read_text("utf-8", "replace")
            if found := re.search(pattern, said):
                return found[1]
            if self._processes[name].poll() is not None:
                break
            time.sleep(0.1)
        pytest.fail(f"the Spark {name} did not start:\n{said[-3000:]}")


@pytest.fixture(scope="session")
def spark_cluster(tmp_path_factory):
    """The cluster; without Java these tests fail, because nothing else shows that the engine works on one."""
    if shutil.which("java") is None:
        pytest.fail("no java: `make java` installs it")
    cluster = SparkCluster(tmp_path_factory.mktemp("cluster"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="session")
def spark(spark_cluster, tmp_path_factory):
    """A session on the cluster, as a notebook would have one."""
    from pyspark.sql import SparkSession

    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    session = (
        SparkSession.builder.master(spark_cluster.url)
        .appName("metareview's tests")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.executor.memory", "600m")
        .config("spark.executor.extraJavaOptions", QUICK)
        .config("spark.driver.extraJavaOptions", QUICK)
        .config("spark.driver.memory", "600m")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.session.timeZone", "Pacific/Auckland")  # no figure may depend on it
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    try:
        spark_cluster.wait()
        yield session
    finally:
        session.stop()
