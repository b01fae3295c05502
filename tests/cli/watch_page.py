#!/usr/bin/python3
"""Requests pages of runs with --watch, as browsers and as other clients: watch_page.py PROGRAM sample ARGUMENTS...

Nothing waits for a fixed time: the page is requested until it has the expected content."""
import re
import signal
import socket
import subprocess
import sys
import threading
import time

COMMAND = sys.argv[1:]


class Run:
    """A run with --watch, from its address to its end."""
    started = []

    def __init__(self, *more):
        self.process = subprocess.Popen([*COMMAND, "--watch", *more], stderr=subprocess.PIPE, text=True)
        Run.started.append(self.process)
        line = self.process.stderr.readline()
        found = re.fullmatch(r"sbps: to watch: http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})\n", line)
        assert found, line
        self.port, self.token, self.last, self.rest = int(found[1]), found[2], "", ""
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        self.rest = self.process.stderr.read()

    def talk(self, request):
        """The whole answer to these bytes."""
        got = b""
        with socket.create_connection(("127.0.0.1", self.port), 60) as link:
            try:
                link.sendall(request)
                while part := link.recv(65536):
                    got += part
            except (BrokenPipeError, ConnectionResetError):
                pass  # the server has closed the connection
        return got

    def ask(self, target, method="GET", host=None, lines=()):
        host = f"127.0.0.1:{self.port}" if host is None else host
        head = [f"{method} {target} HTTP/1.0", *([f"Host: {host}"] if host else []), *lines]
        return self.talk("\r\n".join([*head, "", ""]).encode())

    def page(self):
        """The page, or None if the server does not answer."""
        try:
            answer = self.ask("/" + self.token)
        except ConnectionRefusedError:
            return None
        assert code(answer) == 200, answer[:200]
        head, body = answer.split(b"\r\n\r\n", 1)
        assert b"Cache-Control: no-store" in head and b"Referrer-Policy: no-referrer" in head, head
        assert int(re.search(rb"Content-Length: (\d+)", head)[1]) == len(body)
        return body.decode()

    def until(self, words):
        """Requests the page until the update satisfies the condition; returns the page."""
        while (page := self.page()) is not None:
            self.last = news(page)
            if re.search(words, self.last):
                return page
            time.sleep(0.02)
        raise AssertionError(f"'{words}' was never printed; the last was '{self.last}'")

    def end(self):
        code_ = self.process.wait()
        self.reader.join()
        try:
            socket.create_connection(("127.0.0.1", self.port), 5).close()
        except ConnectionRefusedError:
            return code_
        raise AssertionError("the door is open after the run")


def code(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.0 ") else None


def news(page):
    return re.search(r'<p id="news" role="status">([^<]*)</p>', page)[1]


def check_page(run):
    page = run.until("Running: .*smallest ESS .*largest R-hat .*stated bias")
    for words in ("Trace of", "largest R-hat", "stated bias, posterior sd", "connect-src 'self'", "--watch",
                  '<noscript><meta http-equiv="refresh"'):
        assert words in page, words
    assert "interrupted" not in page
    later = run.until("Running: ")
    while later == page:  # the run continues
        later = run.until("Running: ")


def check_strangers(run):
    token, port = run.token, run.port
    other = ("1" if token[0] == "0" else "0") + token[1:]
    for target in ("/", "/" + other, f"/{token}/", f"/{token}x", f"/{token[:-1]}", f"/{token}?a", f"/x/{token}", "/favicon.ico",
                   "/../../etc/passwd", f"http://127.0.0.1:{port}/{token}", "*", "//" + token, "/" + token.upper() + "G"):
        assert code(run.ask(target)) == 404, target
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "get", "HEAD"):
        answer = run.ask("/" + token, method)
        assert code(answer) == 405 and b"Allow: GET" in answer, (method, answer[:200])
    assert run.ask("/" + token, "HEAD").endswith(b"\r\n\r\n")
    for host in ("example.org", f"example.org:{port}", "127.0.0.1", f"127.0.0.1:{port}.example.org", f"[::1]:{port}"):
        assert code(run.ask("/" + token, host=host)) == 404, host
    assert code(run.ask("/" + token, host="")) == 404
    assert code(run.ask("/" + token, lines=["Host: example.org"])) == 404
    assert code(run.ask("/" + token, host=f"localhost:{port}")) == 200


def check_odd_requests(run):
    page = "/" + run.token
    for request in (b"\r\n\r\n", b"GET\r\n\r\n", f"GET {page}\r\n\r\n".encode(), b"GET / HTTP/2.0\r\n\r\n", b"\0\0\0\0", b"nonsense\n\n"):
        assert code(run.talk(request)) == 400, request
    assert code(run.ask(page, lines=["X: " + "a" * 3000])) == 200
    assert code(run.ask(page, lines=["X: " + "a" * 5000])) == 431
    assert code(run.talk(b"a" * 4096)) == 431
    assert code(run.talk(b"GET " + b"a" * 200000)) in (431, None)


def check_loopback(run):
    """The server listens on this address only."""
    with open("/proc/net/tcp", encoding="ascii") as table:
        listening = [line.split()[1] for line in table if line.split()[3] == "0A"]
    at = [place.split(":")[0] for place in listening if place.endswith(":%04X" % run.port)]
    assert at == ["0100007F"], at


def check_slow_clients(run):
    """Clients that do not read the answer or never finish a request do not block others."""
    links = [socket.create_connection(("127.0.0.1", run.port), 60) for _ in range(40)]
    for i, link in enumerate(links):
        try:
            whole = f"GET /{run.token} HTTP/1.0\r\nHost: 127.0.0.1:{run.port}\r\n\r\n"
            link.sendall(whole.encode() if i % 2 else b"GET /")
        except (BrokenPipeError, ConnectionResetError):
            pass  # it was replaced by another connection
    for _ in range(5):
        assert "Running" in news(run.page())
    for link in links:
        link.close()


def check_interrupt():
    run = Run("--ess", "1e9", "--progress", "off", "-o", "stopped.nc")
    check_page(run)
    check_strangers(run)
    check_odd_requests(run)
    check_loopback(run)
    check_slow_clients(run)
    run.process.send_signal(signal.SIGINT)
    page = run.until("interrupted. This is its last state")
    assert 'class="over"' in page and "http-equiv=\"refresh\"" not in page and "fetch(" not in page
    assert run.end() == 130 and "the draws are in" not in run.rest
    with open("stopped.nc", "rb") as file:
        assert file.read(4) == b"\x89HDF"


def check_end():
    """Draws do not depend on a client that requests pages all the time."""
    same = ["--sampler", "sbps", "--epochs", "3000", "--warmup", "2000"]
    run = Run(*same, "-o", "watched.csv")
    page = run.until("The run is finished. This is its last state")
    assert "Trace of" in page
    assert run.end() == 0, run.rest
    subprocess.run([*COMMAND, *same, "-o", "unseen.csv"], check=True, stderr=subprocess.DEVNULL)
    with open("watched.csv", "rb") as one, open("unseen.csv", "rb") as other:
        assert one.read() == other.read(), "other draws"


def check_nobody():
    """Without clients the run ends without waiting."""
    run = Run("--sampler", "sbps", "--epochs", "20", "--warmup", "200", "-o", "alone.csv")
    assert run.end() == 0


for check in (check_interrupt, check_end, check_nobody):
    try:
        check()
    except AssertionError as error:
        for process in Run.started:
            process.kill()
        sys.exit(f"{check.__name__}: {error!r}")
