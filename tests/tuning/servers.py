"""Database servers that tests start and end."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest


def program(name: str, *folders: str) -> Path:
    """Return where a program of a server is; without it the test is left out."""
    found = shutil.which(name) or max((str(p) for f in folders for p in Path("/").glob(f"{f}/{name}")), default=None)
    if found is None:
        pytest.skip(f"there is no {name}")
    return Path(found).resolve()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def account(name: str, folder: Path) -> dict[str, Any]:
    """Return options of Popen. Servers refuse root: then they run as another account, which gets the folder."""
    if os.getuid() != 0:
        return {}
    found = pwd.getpwnam(name)
    os.chown(folder, found.pw_uid, found.pw_gid)
    return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}


@contextmanager
def running(command: list[Any], connects: Callable[[], Any], stop: signal.Signals, **options: Any) -> Iterator[None]:
    """Run a server, from when one can connect to it."""
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    try:
        end = time.monotonic() + 30
        while True:
            with suppress(Exception):
                connects().close()
                break
            assert server.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        yield
    finally:
        server.send_signal(stop)
        server.wait(20)


def postgresql_programs(folder: Path) -> Path:
    """Return where PostgreSQL's programs are: those of the system, else a copy of the test extra's."""
    spec = importlib.util.find_spec("pgserver")
    installed = shutil.which("initdb") or any(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if installed or spec is None or spec.origin is None:
        return program("initdb", "usr/lib/postgresql/*/bin").parent
    # Another user may not enter the environment that they are installed in.
    packages = Path(spec.origin).parents[1]
    for name in ("pgserver.libs", "pgserver/pginstall"):
        shutil.copytree(packages / name, folder / name)
    return folder / "pgserver" / "pginstall" / "bin"


@contextmanager
def postgresql() -> Iterator[str]:
    """Run PostgreSQL; yield the URL of a database."""
    psycopg2: Any = pytest.importorskip("psycopg2")
    with tempfile.TemporaryDirectory(prefix="skde-") as name:
        folder, port = Path(name), free_port()
        programs = postgresql_programs(folder)
        user = account("nobody", folder)
        data = ["-D", folder / "data"]
        subprocess.run(
            [programs / "initdb", *data, "-A", "trust", "-U", "skde"], check=True, capture_output=True, **user
        )
        command = [programs / "postgres", *data, "-p", str(port), "-k", folder, "-h", "127.0.0.1", "-F"]
        where = {"host": "127.0.0.1", "port": port, "user": "skde", "dbname": "postgres"}
        with running(command, lambda: psycopg2.connect(**where), signal.SIGINT, cwd=folder, **user):
            yield f"postgresql+psycopg2://skde@127.0.0.1:{port}/postgres"


@contextmanager
def mysql() -> Iterator[str]:
    """Run MariaDB, which speaks MySQL's protocol; yield the URL of a database."""
    install, server = program("mariadb-install-db"), program("mariadbd", "usr/sbin")
    pymysql: Any = pytest.importorskip("pymysql")
    with tempfile.TemporaryDirectory(prefix="skde-") as name:
        folder, port = Path(name), free_port()
        data = [f"--datadir={folder / 'data'}", f"--user={pwd.getpwuid(os.getuid()).pw_name}"]
        normal = "--auth-root-authentication-method=normal"
        subprocess.run([install, "--no-defaults", *data, normal], check=True, capture_output=True)
        command = [server, "--no-defaults", *data, f"--port={port}", "--bind-address=127.0.0.1"]
        where = {"host": "127.0.0.1", "port": port, "user": "root"}
        with running([*command, f"--socket={folder / 'socket'}"], lambda: pymysql.connect(**where), signal.SIGTERM):
            with pymysql.connect(**where) as connection, connection.cursor() as cursor:
                cursor.execute("CREATE DATABASE tunings")
            yield f"mysql+pymysql://root@127.0.0.1:{port}/tunings"
