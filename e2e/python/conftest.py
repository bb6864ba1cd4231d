"""A server of its own for each test that asks for one."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("DOGEAR_BINARY", str(ROOT / "bin" / "dogear"))


class Server:
    """A running dogear, spoken to by its command line."""

    def __init__(self, data: pathlib.Path, *flags: str):
        self.data = data
        self.process = subprocess.Popen(
            [BINARY, "serve", "--data", str(data), "--addr", "127.0.0.1:0", *flags],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        self.said("/signin?token=")

    def said(self, text: str) -> str:
        """Waits for a line of the server that holds text, and returns it."""
        for line in self.process.stdout:
            if text in line:
                return line
        raise RuntimeError(f"the server ended before it said {text}")

    def ask(self, *command: str):
        """Runs a command and returns its JSON answer."""
        out = subprocess.run(
            [BINARY, *command, "--data", str(self.data), "--json"], check=True, capture_output=True, text=True, timeout=120
        )
        return json.loads(out.stdout)

    def ended(self, run: str):
        """Waits for the end of a run and returns it."""
        subprocess.run(
            [BINARY, "run", "log", "--follow", run, "--data", str(self.data)], check=True, capture_output=True, timeout=300
        )
        return self.ask("run", "show", run)

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=30)


@pytest.fixture
def serve(tmp_path):
    servers = []

    def start(*flags: str) -> Server:
        servers.append(Server(tmp_path / "data", *flags))
        return servers[-1]

    yield start
    for server in servers:
        server.close()
