#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Frames of the page of `xylem view` while its timeline is dragged, with a million states.

    bench/view_frames.py [--build DIRECTORY] [--steps N] [--seconds T]

Pages with few rows and with 1024 ranks (as a heat map, as nodes, and zoomed into single ranks) are opened in Chromium without a
window and dragged to and fro, so that every frame differs. The table has the share of frames that come within 33 ms of the one before, the
median and the 95th percentile of these times, the same of the drawing alone, and the mean processor time of a frame, which
says more on a machine that does other work. --steps: of the program with 1024 ranks; 170
are a million states.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/view"))
from view_test import Browser, Page  # noqa: E402

MACHINE = "node:32(latency=1us bandwidth=12.5GB/s) core:32"
# The button is down; each frame moves the pointer, and the time from frame to frame is kept.
DRAG = """const done = arguments[1], until = performance.now() + 1000 * arguments[0], canvas = document.getElementById('timeline');
          const box = canvas.getBoundingClientRect(), times = [];
          let n = 0;
          xylem.frames.length = 0;
          const step = (now) => {
            times.push(now);
            if (now > until) { done([times, xylem.frames]); return; }
            const x = box.left + box.width / 2 + 240 * Math.sin(n++ / 25), y = box.top + box.height / 2 + 20 * Math.sin(n / 40);
            canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: x, clientY: y, buttons: 1, pointerId: 1, bubbles: true }));
            requestAnimationFrame(step);
          };
          requestAnimationFrame(step);"""


def make_pages(build, work, steps):
    """{name: page}"""
    xylem, traces = build / "bin/xylem", {"8 cores": work / "few.xyt", "1024 ranks": work / "many.xyt"}
    subprocess.run([build / "tests/view/trace_demo", traces["8 cores"], "8", "31500"], check=True)
    subprocess.run([build / "bin/mpicc", "-g", "-O2", ROOT / "examples/heat2d.c", "-o", work / "heat2d"], check=True)
    subprocess.run([build / "bin/mpiexec", "-n", "1024", "--virtual", MACHINE, "--compute", "none", "--trace",
                    traces["1024 ranks"], work / "heat2d", "512", str(steps)], check=True, stdout=subprocess.DEVNULL)
    for trace in traces.values():
        subprocess.run([xylem, "view", trace, "-o", trace.with_suffix(".html")], check=True)
    return {name: trace.with_suffix(".html") for name, trace in traces.items()}


def drag(browser, page, seconds):
    """Times of frames, and of their drawing."""
    left, top, width, height = page.box
    down = [{"type": "pointerMove", "x": round(left + width / 2), "y": round(top + height / 2), "duration": 0},
            {"type": "pointerDown", "button": 0}]
    browser.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "m", "parameters": {"pointerType": "mouse"},
                                                   "actions": down}]})
    result = browser.call("POST", "/execute/async", {"args": [seconds], "script": DRAG})
    browser.call("DELETE", "/actions")
    return result


def line(name, states, times):
    ordered = sorted(times)
    share = sum(one < 33 for one in times) / len(times)
    return (f"{name:<34}{states:>10}{100 * share:>9.1f} %{statistics.median(times):>10.1f}"
            f"{ordered[min(len(ordered) - 1, int(.95 * len(ordered)))]:>10.1f}{len(times):>8}")


def execute(browser, command, parameters):
    return browser.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})


def processor_time(browser):
    """Seconds of the thread that runs the page."""
    metrics = execute(browser, "Performance.getMetrics", {})["metrics"]
    return next(one["value"] for one in metrics if one["name"] == "TaskDuration")


def measure(browser, name, seconds, setup=None):
    if setup:
        browser.run(setup)
    span = browser.inspect()["span"]
    browser.run("xylem.look(arguments[0], arguments[1])", .3 * span, .7 * span)
    browser.wait_frame()
    states = browser.run("return xylem.trace.states")
    before = processor_time(browser)
    stamps, drawn = drag(browser, Page(browser), seconds)
    busy = 1000 * (processor_time(browser) - before) / max(1, len(stamps))
    print(line(name, states, [b - a for a, b in zip(stamps, stamps[1:])]), flush=True)
    print(line("  drawing alone", "", drawn), flush=True)
    print(f"  processor time of the page, mean {busy:>32.1f} ms a frame", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/dev")
    parser.add_argument("--steps", type=int, default=170)
    parser.add_argument("--seconds", type=float, default=6)
    options = parser.parse_args()
    driver, chromium = shutil.which("chromedriver"), shutil.which("chromium")
    if not driver or not chromium:
        print("needs chromium and chromedriver (Debian: chromium, chromium-driver)", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        pages = make_pages(options.build.resolve(), Path(folder), options.steps)
        print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores\n\n"
              f"{'view':<34}{'states':>10}{'< 33 ms':>11}{'median ms':>10}{'95 % ms':>10}{'frames':>8}")
        browser = Browser(driver, chromium)
        try:
            for name, page in pages.items():
                before = time.monotonic()
                browser.open(page)
                browser.inspect()
                execute(browser, "Performance.enable", {"timeDomain": "threadTicks"})
                print(f"{name}: {page.stat().st_size / 1e6:.1f} MB, opened in {time.monotonic() - before:.1f} s")
                measure(browser, name, options.seconds)
                if name == "1024 ranks":
                    measure(browser, "1024 ranks as 32 nodes", options.seconds, "xylem.setMode('node')")
                    measure(browser, "1024 ranks, one by one", options.seconds, "xylem.setMode('rank'); xylem.zoomRows(40)")
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
