#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Test the page of `xylem view` in a real browser.

    tests/view/view_test.py XYLEM TRACE_DEMO           run the test (exit code 77: no browser)
    ... --pictures DIRECTORY                           also keep screenshots

Chromium without a window is driven through chromedriver and the WebDriver protocol (plain HTTP).
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import testing # noqa: E402

SKIPPED = 77
COMPUTE = 0x0072b2  # its colour on light ground


class Browser:
    """One session of a browser without a window."""

    def __init__(self, driver, chromium, width=1440, height=900):
        self.session = None
        self._start(driver)
        options = {"binary": chromium, "args": [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            f"--window-size={width},{height}", "--hide-scrollbars", "--force-device-scale-factor=1"]}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options,
                  "goog:loggingPrefs": {"browser": "ALL"}}
        try:
            answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        except Exception:
            self.close()
            raise
        self.session = answer["sessionId"]

    def _start(self, driver):
        """Start the driver. It takes a free port of IPv6 and fails if IPv4 uses the same one."""
        for _ in range(20):
            self.driver = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, text=True)
            for line in self.driver.stdout:
                if "successfully" in line:
                    self.base = "http://127.0.0.1:" + line.rstrip(".\n").split()[-1]
                    return
            self.driver.wait()
        raise RuntimeError("chromedriver did not start")

    def call(self, method, path, body=None):
        url = self.base + (f"/session/{self.session}" if self.session else "") + path
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from error

    def open(self, path):
        self.call("POST", "/url", {"url": Path(path).resolve().as_uri()})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait_frame(self):
        """Until what was asked for is drawn, animations included: these last 250 ms, then one frame is
        drawn, which a busy machine may do late."""
        self.call("POST", "/execute/async", {"args": [], "script":
                  "const done = arguments[0], frame = requestAnimationFrame;"
                  "setTimeout(() => frame(() => frame(() => setTimeout(done, 0))), 320)"})

    def inspect(self):
        self.wait_frame()
        return self.run("return xylem.inspect()")

    def console(self):
        """What the page complained about. The log is emptied by reading it."""
        return [entry for entry in self.call("POST", "/se/log", {"type": "browser"})
                if entry["level"] in ("SEVERE", "WARNING")]

    def key(self, *keys):
        steps = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "k", "actions": steps}]})

    def drag(self, start, end, shift=False):
        moves = [{"type": "pointerMove", "x": x, "y": y, "duration": ms}
                 for (x, y), ms in ((start, 0), (end, 60))]
        pointer = {"type": "pointer", "id": "m", "parameters": {"pointerType": "mouse"}, "actions": [
            moves[0], {"type": "pointerDown", "button": 0}, moves[1], {"type": "pointerUp", "button": 0}]}
        actions = [pointer]
        if shift:
            pause = [{"type": "pause"}] * 3
            actions.append({"type": "key", "id": "k", "actions":
                            [{"type": "keyDown", "value": "\ue008"}, *pause, {"type": "keyUp", "value": "\ue008"}]})
            pointer["actions"].insert(0, {"type": "pause"})
        self.call("POST", "/actions", {"actions": actions})
        self.call("DELETE", "/actions")

    def move(self, x, y):
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "m", "actions": [
            {"type": "pointerMove", "x": x, "y": y, "duration": 0}]}]})

    def click(self, selector):
        found = self.call("POST", "/element", {"using": "css selector", "value": selector})
        self.call("POST", f"/element/{next(iter(found.values()))}/click", {})

    def wheel(self, x, y, delta):
        self.call("POST", "/actions", {"actions": [{"type": "wheel", "id": "w", "actions": [
            {"type": "scroll", "x": x, "y": y, "deltaX": 0, "deltaY": delta, "duration": 0}]}]})

    def picture(self, path):
        self.wait_frame()
        Path(path).write_bytes(base64.b64decode(self.call("GET", "/screenshot")))

    def close(self):
        if self.session:
            self.call("DELETE", "")
        self.driver.terminate()
        self.driver.wait()


class Page:
    """The timeline on the screen: where rows are, what colours are drawn."""

    def __init__(self, browser):
        self.browser = browser
        self.box = browser.run("const b = document.getElementById('timeline').getBoundingClientRect();"
                               "return [b.left, b.top, b.width, b.height]")

    def at(self, share, row):
        """Pixel of a share of the time axis on a row."""
        now = self.browser.inspect()
        left, top, width, _ = self.box
        return (round(left + now["gutter"] + share * (width - now["gutter"])), round(top + now["rowTop"][row]))

    def colours(self, row):
        """The colours in the middle of a row, with their shares of its pixels."""
        return self.browser.run(
            "const c = document.getElementById('timeline'), i = xylem.inspect();"
            "const x = Object.assign(document.createElement('canvas'), {width: c.width, height: c.height})"
            " .getContext('2d', {willReadFrequently: true}); x.drawImage(c, 0, 0);"
            "const r = window.devicePixelRatio, d = x.getImageData(i.gutter * r, i.rowTop[arguments[0]] * r,"
            " c.width - i.gutter * r, 1).data; const s = {};"
            "for (let k = 0; k < d.length; k += 4) {"
            " const c = d[k] << 16 | d[k + 1] << 8 | d[k + 2]; s[c] = (s[c] || 0) + 4 / d.length; }"
            "return s", row)


def check(is_right, what):
    if not is_right:
        raise AssertionError(what)


def close_to(a, b, part=1e-6):
    return abs(a - b) <= part * max(abs(a), abs(b), 1)


def test_loading(browser, summary):
    now = browser.inspect()
    check(now["rows"] == [row["name"] for row in summary["rows"]], f"rows: {now['rows']}")
    check(now["states"] == summary["states"] and now["links"] == summary["messages"], "counts differ")
    check(set(now["kinds"]) == set(summary["total"]["kinds"]), f"kinds: {now['kinds']}")
    check(Page(browser).colours(3).get(str(COMPUTE), 0) > .7, "row 3, which computes most of the time, is not drawn")
    text = browser.run("return document.body.innerText")
    for row in now["rows"]:
        check(row in text, f"{row} is not in the table")
    # The page adds up by itself; it must agree with the command.
    for mine, its in zip(summary["rows"], now["summary"]):
        for kind, seconds in mine["kinds"].items():
            check(close_to(its["time"].get(kind, 0), 1e9 * seconds), f"{mine['name']}: {kind}")
        for name in ("idle", "flight", "hidden"):
            check(close_to(its[name], 1e9 * mine[name]), f"{mine['name']}: {name} {its[name]} {mine[name]}")


def test_zoom(browser, page):
    first = browser.inspect()
    span = first["span"]
    check((first["from"], first["to"]) == (0, span), "does not start with the whole trace")
    x, y = page.at(.25, 2)
    browser.wheel(x, y, -500)
    now = browser.inspect()
    check(now["to"] - now["from"] < .5 * span, "the wheel does not zoom in")
    check(now["from"] < .25 * span < now["to"], "the wheel does not zoom at the pointer")
    at = (.25 * span - now["from"]) / (now["to"] - now["from"])
    check(abs(at - .25) < .01, f"the moment under the pointer moved to {at}")
    browser.drag(page.at(.5, 2), page.at(.2, 2))
    moved = browser.inspect()
    share = (moved["from"] - now["from"]) / (now["to"] - now["from"])
    check(abs(share - .3) < .02, f"dragging moved by {share}")
    browser.key("0")
    check(browser.inspect()["to"] == span, "0 does not show all")
    for key, is_closer in (("+", True), ("-", False)):
        before = browser.inspect()
        browser.key(key)
        after = browser.inspect()
        check((after["to"] - after["from"] < before["to"] - before["from"]) == is_closer, f"key {key}")
    browser.key("+")
    before = browser.inspect()
    browser.key("\ue014")
    check(browser.inspect()["from"] > before["from"], "the right arrow does not move")
    browser.key("0")
    browser.drag(page.at(.4, 1), page.at(.6, 1), shift=True)
    now = browser.inspect()
    check(close_to(now["from"], .4 * span, .02) and close_to(now["to"], .6 * span, .02),
          f"range {now['from']} {now['to']}")
    check("from" in browser.run("return document.getElementById('window').textContent"), "summary of the window")
    browser.key("0")


def test_parts(browser, page):
    browser.inspect()
    x, y = page.at(.3, 1)
    browser.move(x, y)
    browser.wait_frame()
    tip = browser.run("const t = document.getElementById('tip'); return t.hidden ? '' : t.innerText")
    check("core 1" in tip and "length" in tip, f"tooltip: {tip!r}")
    check(browser.inspect()["arrows"]["drawn"] == 0, "arrows without being asked for")
    browser.click("#arrows")
    now = browser.inspect()
    check(now["arrows"]["drawn"] == now["links"], f"arrows: {now['arrows']}")
    browser.click("#arrows")
    browser.click("#legend-arrows")
    check(browser.inspect()["arrows"]["drawn"] == now["links"], "the legend does not show messages")
    browser.click("#legend-arrows")
    row, share = browser.run("const l = xylem.trace.links; return [l.to[100], l.end[100] / xylem.trace.span]")
    browser.drag(page.at(share, row), page.at(share, row))
    check(0 < browser.inspect()["arrows"]["drawn"] < 8, "a chosen state does not show its messages")
    browser.key("\ue00c")
    check(browser.inspect()["arrows"]["drawn"] == 0, "Escape does not give it up")
    before = page.colours(0)
    browser.click(".kind")
    browser.wait_frame()
    check(page.colours(0) != before, "hiding a kind changes nothing")
    browser.click(".kind")
    browser.run("const s = document.getElementById('search'); s.value = 'border'; s.dispatchEvent(new Event('input'))")
    browser.wait_frame()
    found = browser.run("return document.getElementById('hits').textContent")
    check(found == "192 found", f"search: {found}")
    browser.run("const s = document.getElementById('search'); s.value = ''; s.dispatchEvent(new Event('input'))")
    is_dark = browser.inspect()["dark"]
    browser.click("#theme")
    check(browser.inspect()["dark"] != is_dark, "the theme does not change")
    browser.click("#theme")


def make(xylem, demo, work, *size):
    trace, page = work / "t.xyt", work / "t.html"
    subprocess.run([demo, trace, *size], check=True)
    out = subprocess.run([xylem, "view", trace, "-o", page, "--json"], check=True, stdout=subprocess.PIPE)
    return page, json.loads(out.stdout)


def test_picture_zoom(browser, xylem, work):
    """The pictures of any page: zoomed by the wheel with control, moved, and whole again."""
    page = work / "film.html"
    subprocess.run([xylem, "stencil", "--blocks", "6x5", "--iterations", "4", "-o", page], check=True,
                   stdout=subprocess.DEVNULL)
    browser.open(page)
    def look():
        return [float(v) for v in browser.run("return document.querySelector('svg').getAttribute('viewBox')").split()]

    whole = look()
    at = browser.run("const r = document.querySelector('svg').getBoundingClientRect();"
                     "return [r.left + r.width / 2, r.top + r.height / 2]")
    send = ("document.querySelector('svg').dispatchEvent(new WheelEvent('wheel', {deltaY: arguments[0], ctrlKey: "
            "arguments[1], clientX: arguments[2], clientY: arguments[3], cancelable: true}))")
    browser.run(send, -300, False, *at)
    check(look() == whole, "the wheel alone, which scrolls the page, zooms")
    browser.run(send, -300, True, *at)
    zoomed = look()
    check(zoomed[2] < .6 * whole[2] and abs(zoomed[2] / zoomed[3] - whole[2] / whole[3]) < 1e-6, f"not zoomed: {zoomed}")
    check(abs(zoomed[0] + zoomed[2] / 2 - whole[2] / 2) < 1, f"what is under the pointer moved: {zoomed}")
    browser.drag(at, (at[0] + 60, at[1]))
    moved = look()
    check(moved[0] < zoomed[0] and moved[2:] == zoomed[2:], f"not moved: {moved}")
    browser.run(send, 3000, True, *at)
    check(look() == whole, f"zoomed out beyond the picture: {look()}")
    browser.run(send, -300, True, *at)
    browser.run("document.querySelector('svg').dispatchEvent(new MouseEvent('dblclick'))")
    check(look() == whole, "a double click does not show all")
    check(not (said := browser.console()), f"console: {said}")


def test_many(browser, xylem, demo, work, pictures):
    """10^6 states: everything is there, and a frame costs what the window costs."""
    page, summary = make(xylem, demo, work, "8", "31500" if pictures else "3200")
    browser.open(page)
    test_loading(browser, summary)
    check(not (said := browser.console()), f"console: {said}")
    if pictures:
        browser.picture(pictures / "many.png")


WAITS = {"late sender": "late_sender", "late receiver": "late_receiver", "collective": "collective", "lock": "lock"}


def make_ranks(xylem, work, what):
    """The page of a program of tests/report/planted.c on two nodes, and what `xylem report` says of its trace."""
    tools, trace, page = Path(xylem).parent, work / f"{what}.xyt", work / f"{what}.html"
    program = work / "planted"
    if not program.exists():
        source = Path(__file__).resolve().parent.parent / "report/planted.c"
        subprocess.run([tools / "mpicc", "-g", "-O1", source, "-o", program], check=True)
    subprocess.run([tools / "mpiexec", "-n", "8", "--virtual", "node:2(latency=1us bandwidth=12.5GB/s) core:4", "--compute", "none",
                    "--trace", trace, program, what], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([xylem, "view", trace, "-o", page], check=True)
    out = subprocess.run([xylem, "report", trace, "--json"], check=True, stdout=subprocess.PIPE)
    return page, json.loads(out.stdout)


def test_waits(browser, report):
    """Waits, calls, lines and culprits are those of `xylem report`."""
    now = browser.inspect()
    check(now["mode"] == "rank" and len(now["rows"]) == report["ranks"], f"rows: {now['rows']}")
    check(browser.run("return document.querySelector('h1').textContent") == report["finding"], "the headline is another finding")
    check("predicted on" in browser.run("return document.title"), "the title does not say that the run is predicted")
    for rank, row in zip(report["by_rank"], now["summary"]):
        check(close_to(row["time"].get("compute", 0), 1e9 * rank["computation"], 1e-3), f"rank {rank['rank']}: computation")
        for kind, key in WAITS.items():
            check(close_to(row["time"].get(kind, 0), 1e9 * rank[key]), f"rank {rank['rank']}: {kind}")
    mine = {(call["function"], call["place"]): call for call in now["calls"]}
    check(len(mine) == len(report["calls"]), f"calls: {list(mine)}")
    for its in report["calls"]:
        call = mine[its["function"], its["place"]]
        check(call["calls"] == its["calls"] and close_to(call["time"], 1e9 * its["time"]), f"{its['function']}: {call}")
        for kind, key in WAITS.items():
            check(close_to(call["wait"][kind], 1e9 * its[key]), f"{its['function']}: {kind}")
        if its["waiting"] > .01 * report["run"]:
            check(call["root"] == its["blames"][0]["rank"], f"{its['function']} blames rank {call['root']}, not {its['blames']}")


def test_cause(browser, page):
    """A click on a wait shows the arrow to its culprit."""
    row, share = browser.run("const w = xylem.trace.why.waits; let most = 0;"
                             "for (let i = 0; i < w.count; i++) if (w.end[i] - w.start[i] > w.end[most] - w.start[most]) most = i;"
                             "return [w.rank[most], (w.start[most] + w.end[most]) / 2 / xylem.trace.span]")
    at = page.at(share, row)
    browser.move(*at)
    browser.wait_frame()
    tip = browser.run("return document.getElementById('tip').innerText")
    check("waits for" in tip and "planted.c:" in tip, f"tooltip: {tip!r}")
    browser.drag(at, at)
    cause = browser.inspect()["cause"]
    check(cause >= 0, "a click on a wait shows no cause")
    expected = browser.run("const w = xylem.trace.why.waits, i = arguments[0]; return [w.rank[i], w.who[i], w.root[i]]", cause)
    said = browser.run("return document.getElementById('why').innerText")
    check(expected[0] == row and all(f"rank {rank}" in said for rank in expected), f"{expected}: {said!r}")
    browser.key("\ue00c")
    check(browser.inspect()["cause"] < 0, "Escape does not give up the cause")
    browser.key("w")
    check(browser.inspect()["cause"] >= 0, "W shows no wait")


def test_rows(browser, page):
    """By rank, as recorded, by node; folded; sorted."""
    first = browser.inspect()
    check(first["modes"] == ["rank", "core", "node"], f"modes: {first['modes']}")
    browser.click("#by-node")
    nodes = browser.inspect()
    check(nodes["lines"] == ["node 0", "node 1"], f"nodes: {nodes['lines']}")
    box = browser.run("const b = document.getElementById('timeline').getBoundingClientRect(); return [b.left, b.top]")
    heading = (round(box[0] + 30), round(box[1] + nodes["rowTop"][0]))
    browser.drag(heading, heading)
    check(browser.inspect()["lines"] == ["node 0", *first["rows"][:4], "node 1"], "a click does not unfold a node")
    browser.click("#by-core")
    check(browser.inspect()["kinds"] == ["compute", "MPI", "wait"], "not as recorded")
    browser.click("#by-rank")
    back = browser.inspect()
    check(back["summary"] == first["summary"] and back["lines"] == first["lines"], "the ranks are not what they were")
    browser.run("[...document.querySelectorAll('#summary th button')].find((b) => b.textContent === 'compute').click()")
    order = [line for line in browser.inspect()["lines"] if line.startswith("rank")]
    time = {name: row["time"].get("compute", 0) for name, row in zip(back["rows"], back["summary"])}
    check(all(time[a] >= time[b] for half in (order[:4], order[4:]) for a, b in zip(half, half[1:])), f"not sorted: {order}")


def test_heat(browser, xylem, demo, work):
    """More rows than fit are a heat map, which zooms into single rows."""
    page, _ = make(xylem, demo, work, "600", "2")
    browser.open(page)
    whole = browser.inspect()
    check(len(whole["rows"]) == 600 and whole["pitch"] < 2 and whole["scrollMax"] < 8, f"not all rows are in sight: {whole['pitch']}")
    shown = Page(browser)
    check(max(shown.colours(3).values()) > .2, "the heat map is not drawn")
    x, y = shown.at(.5, 300)
    browser.drag((x, y), (x + 200, y + 30), shift=True)
    now = browser.inspect()
    check(now["pitch"] > 8 * whole["pitch"] and now["to"] - now["from"] < .3 * whole["span"], f"not zoomed: {now['pitch']}")
    browser.key(*["]"] * 4)
    check(browser.inspect()["pitch"] >= 12, "rows do not get higher")
    browser.key("0")
    check(browser.inspect()["pitch"] == whole["pitch"], "not all rows again")
    check(not (said := browser.console()), f"console: {said}")


def take_pictures(browser, page, directory):
    browser.run("document.documentElement.classList.contains('dark') && document.getElementById('theme').click()")
    browser.picture(directory / "light.png")
    browser.click("#theme")
    browser.picture(directory / "dark.png")
    browser.click("#theme")
    span = browser.inspect()["span"]
    browser.run("xylem.look(arguments[0], arguments[1])", .62 * span, .78 * span)
    browser.click("#arrows")
    x, y = page.at(.77, 3)
    browser.move(x, y)
    browser.picture(directory / "zoomed.png")
    browser.click("#arrows")
    browser.run("const s = document.getElementById('search'); s.value = 'Allreduce'; s.dispatchEvent(new Event('input'))")
    browser.key("0")
    browser.picture(directory / "search.png")
    browser.run("const s = document.getElementById('search'); s.value = ''; s.dispatchEvent(new Event('input'))")


def take_rank_pictures(browser, xylem, work, directory):
    """Ranks with the cause of a wait, and 1024 of them."""
    browser.open(make_ranks(xylem, work, "chain")[0])
    browser.inspect()
    browser.key("w")
    browser.picture(directory / "ranks.png")
    tools, trace, page = Path(xylem).parent, work / "heat.xyt", work / "heat.html"
    source = Path(__file__).resolve().parent.parent.parent / "examples/heat2d.c"
    subprocess.run([tools / "mpicc", "-g", "-O2", source, "-o", work / "heat2d"], check=True)
    subprocess.run([tools / "mpiexec", "-n", "1024", "--virtual", "node:32(latency=1us bandwidth=12.5GB/s) core:32", "--compute", "none",
                    "--trace", trace, work / "heat2d", "512", "20"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([xylem, "view", trace, "-o", page], check=True)
    browser.open(page)
    browser.inspect()
    browser.key("w")
    browser.picture(directory / "heat.png")
    browser.click("#theme")
    browser.picture(directory / "heat-dark.png")
    browser.click("#theme")
    browser.click("#by-node")
    browser.picture(directory / "nodes.png")


def main():
    arguments = sys.argv[1:]
    pictures = None
    if "--pictures" in arguments:
        pictures = Path(arguments[arguments.index("--pictures") + 1])
        pictures.mkdir(parents=True, exist_ok=True)
    xylem, demo = map(os.path.abspath, arguments[:2])
    driver, chromium = shutil.which("chromedriver"), shutil.which("chromium") or shutil.which("google-chrome")
    if not driver or not chromium:
        print("left out: needs chromium and chromedriver (Debian: chromium, chromium-driver)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        page, summary = make(xylem, demo, work)
        browser = Browser(driver, chromium)
        try:
            browser.open(page)
            test_loading(browser, summary)
            shown = Page(browser)
            test_zoom(browser, shown)
            test_parts(browser, shown)
            check(not (said := browser.console()), f"console: {said}")
            if pictures:
                take_pictures(browser, shown, pictures)
            test_heat(browser, xylem, demo, work)
            if (Path(xylem).parent / "mpiexec").exists():
                for what in ("chain", "imbalance") if testing.SOAK else ("chain",):
                    page, report = make_ranks(xylem, work, what)
                    browser.open(page)
                    test_waits(browser, report)
                    test_cause(browser, Page(browser))
                    test_rows(browser, page)
                    check(not (said := browser.console()), f"console: {said}")
            if pictures:
                take_rank_pictures(browser, xylem, work, pictures)
            test_picture_zoom(browser, xylem, work)
            test_many(browser, xylem, demo, work, pictures)
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
