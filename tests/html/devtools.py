"""A headless Chromium, driven over its DevTools pipe: JSON messages that end in a zero byte.

Only what the tests of pages need: open a page, evaluate, press keys, click, take pictures; what the page says on its
console, throws or asks of the network is kept.
"""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-default-apps", "--disable-extensions", "--mute-audio", "--remote-debugging-pipe"]

KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36,
        "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


def executable():
    return next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)


def high_pipe():
    low = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in low]
    for end in low:
        os.close(end)
    return high


class Failed(Exception):
    pass


class Browser:
    def __init__(self, path, width=1400, height=1000):
        self.folder = tempfile.mkdtemp(prefix="spatialcert-browser-")
        # The pipe is expected as descriptors 3 and 4; a shell moves them there, from numbers that are neither.
        to_read, self.write_end = high_pipe()
        self.read_end, to_write = high_pipe()
        command = f'exec "$0" "$@" 3<&{to_read} 4>&{to_write}'
        self.process = subprocess.Popen(
            ["bash", "-c", command, path, *FLAGS, f"--user-data-dir={self.folder}", f"--window-size={width},{height}"],
            pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.errors = []
        self.requests = []
        self.loaded = False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def close(self):
        try:
            session, self.session = self.session, None
            self.call("Browser.close")
        except Failed:
            self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read_end)
        os.close(self.write_end)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        end = time.monotonic() + 60
        while True:
            answer = self.receive(end)
            if answer.get("id") != self.number:
                continue
            if "error" in answer:
                raise Failed(f"{method}: {answer['error']}")
            return answer["result"]

    def receive(self, end):
        """The next message; what it tells is noted."""
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], max(0, end - time.monotonic()))
            data = os.read(self.read_end, 1 << 20) if ready else b""
            if not data:
                raise Failed("the browser does not answer")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(message)
        self.note(message.get("method"), message.get("params", {}))
        return message

    def note(self, method, parameters):
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled":
            texts = [str(a.get("value", a.get("description"))) for a in parameters["args"]]
            self.errors.append("console: " + " ".join(texts))
        elif method == "Log.entryAdded":
            self.errors.append("log: " + parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loaded = True

    def open(self, path):
        self.errors.clear()
        self.requests.clear()
        self.loaded = False
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        end = time.monotonic() + 30
        while not self.loaded:
            self.receive(end)

    def run(self, expression):
        """Value of a JavaScript expression, which may be a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Failed(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def press(self, key, times=1, shift=False):
        for _ in range(times):
            common = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": KEYS.get(key, 0),
                      "modifiers": 8 if shift else 0}
            text = {"Enter": "\r", " ": " "}.get(key)
            self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **common,
                      **({"text": text} if text else {}))
            self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def click(self, selector):
        """With the mouse, at the middle of what the selector finds first."""
        at = self.run(f"""(() => {{
          const node = document.querySelector({json.dumps(selector)});
          node.scrollIntoView({{block: 'center'}});
          const box = node.getBoundingClientRect();
          return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left", clickCount=1)

    def settle(self):
        """Until everything that was asked of the page is drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def emulate(self, **features):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def picture(self, path, selector=None):
        clip = {}
        if selector:
            box = self.run(f"""(() => {{
              const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
              return [box.x + scrollX, box.y + scrollY, box.width, box.height];
            }})()""")
            clip = {"clip": {"x": box[0], "y": box[1], "width": box[2], "height": min(box[3], 4000), "scale": 1},
                    "captureBeyondViewport": True}
        data = self.call("Page.captureScreenshot", format="png", **clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
