"""A headless Chromium, driven by the WebDriver protocol: plain HTTP, which needs no package."""

import base64
import json
import shutil
import socket
import subprocess
import time
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

DRIVER = shutil.which("chromedriver")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
MISSING = "needs Chromium and its driver: apt-get install chromium chromium-driver"
OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--hide-scrollbars"),
)
PATIENCE = 120  # seconds that one command may take


class Browser:
    """A browser with one window; ``with Browser(folder) as browser`` ends it in any case."""

    def __init__(self, folder):
        self.folder = folder  # of its profile

    def __enter__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        command = [DRIVER, f"--port={port}"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            self._await_driver()
            options = {"binary": BROWSER, "args": [*OPTIONS, f"--user-data-dir={self.folder}"]}
            asked = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            self.path = ""
            made = self.post("/session", capabilities={"alwaysMatch": asked})
            self.path = f"/session/{made['sessionId']}"
            self.post("/timeouts", script=1000 * PATIENCE, pageLoad=1000 * PATIENCE)
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise
        return self

    def __exit__(self, *error):
        try:
            self._ask("DELETE", "")
        finally:
            self.process.terminate()
            self.process.wait()

    def _await_driver(self):
        for _ in range(200):
            try:
                with urlopen(f"{self.address}/status", timeout=PATIENCE) as answer:
                    if json.load(answer)["value"]["ready"]:
                        return
            except URLError:
                pass
            time.sleep(0.05)
        raise RuntimeError("chromedriver does not answer")

    def _ask(self, verb, path, **data):
        body = json.dumps(data).encode() if verb == "POST" else None
        headers = {"Content-Type": "application/json"}
        request = Request(self.address + self.path + path, body, headers, method=verb)
        try:
            with urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)["value"]
        except HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from None

    def post(self, path, **data):
        """What the driver answers to a command."""
        return self._ask("POST", path, **data)

    def open(self, path, width=1280, height=800):
        """Opens a file in a window of that size, and forgets what was logged before."""
        self.post("/window/rect", width=width, height=height)
        self.errors()
        self.post("/url", url=path.resolve().as_uri())

    def run(self, script, *arguments):
        """What a script returns; ``arguments`` stand in ``arguments``."""
        return self.post("/execute/sync", script=script, args=list(arguments))

    def run_async(self, script, *arguments):
        """What a script gives to ``done``, the last of its arguments."""
        text = f"const done = arguments[arguments.length - 1];\n{script}"
        return self.post("/execute/async", script=text, args=list(arguments))

    def dark(self, dark):
        """Prefers dark pages, or light ones."""
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.post(
            "/goog/cdp/execute", cmd="Emulation.setEmulatedMedia", params={"features": [feature]}
        )

    def resize(self, width, height, ratio=1):
        """The size of the page itself, however small."""
        size = {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": width < 600}
        self.post("/goog/cdp/execute", cmd="Emulation.setDeviceMetricsOverride", params=size)

    def errors(self):
        """What stands in the console since it was last asked for, but for plain words."""
        lines = self.post("/se/log", type="browser")
        return [line["message"] for line in lines if line["level"] in ("SEVERE", "WARNING")]

    def screenshot(self):
        """The window as a PNG."""
        return base64.b64decode(self._ask("GET", "/screenshot"))

    def drag(self, start, *points):
        """Presses the pointer at a place [pixel], drags it over others, and lets go."""
        moves = [
            {"type": "pointerMove", "duration": 80, "x": int(x), "y": int(y)} for x, y in points
        ]
        actions = [
            {"type": "pointerMove", "duration": 0, "x": int(start[0]), "y": int(start[1])},
            {"type": "pointerDown", "button": 0},
            *moves,
            {"type": "pointerUp", "button": 0},
        ]
        pointer = {"type": "pointer", "id": "hand", "parameters": {"pointerType": "mouse"}}
        self.post("/actions", actions=[{**pointer, "actions": actions}])
