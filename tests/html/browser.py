#!/usr/bin/env python3
"""The pages of the HTML view in a headless Chromium: what they show, that every value of a replay is the token game's,
that keys alone reach everything, and that nothing is asked of the network.

usage: browser.py FOLDER [PICTURES]    FOLDER has NAME.html and what must be seen there, NAME.json. 77: no Chromium.
"""
import json
import os
import sys
import time

sys.dont_write_bytecode = True  # the source folder stays as it is
from devtools import Browser, Failed, executable


def check(holds, what):
    if not holds:
        raise Failed(what)


def same(found, wanted, what):
    check(found == wanted, f"{what}: found {found!r}, wanted {wanted!r}")


def quiet(browser, page):
    """No word on the console, no exception, and nothing loaded but the file itself."""
    same(browser.errors, [], f"{page}: complaints")
    check(all(url.startswith("file://") or url.startswith("data:") for url in browser.requests),
          f"{page}: requests {browser.requests}")
    same(len(browser.requests), 1, f"{page}: requests")


BUILD = """new Promise((done, failed) => {
  setTimeout(() => failed(new Error('the views are not built')), 20000);
  const wait = () => [...document.querySelectorAll('.views')].every((v) => v.dataset.built) ? done(1) : setTimeout(wait, 20);
  wait();
})"""

# What the tables of one replay show.
SHOWN = """(() => {
  const place = document.getElementById(ID).querySelector('.views');
  const table = (name) => [...place.querySelectorAll('.state')].find((s) => s.querySelector('h4').textContent === name);
  const rows = (name) => Object.fromEntries([...(table(name)?.querySelectorAll('tbody tr') ?? [])].map((tr) =>
    [tr.querySelector('th')?.textContent, tr.querySelector('td')?.textContent]));
  return {count: place.querySelector('.count').textContent, semaphores: rows('Semaphores'), fifos: rows('FIFOs'),
          engines: rows('Engine programs'), slider: Number(place.querySelector('input[type=range]').value),
          most: Number(place.querySelector('input[type=range]').max)};
})()"""


def number(text):
    return int(text.replace(",", ""))


class Replay:
    """One counterexample of an open page, by number of its program and by rule."""

    def __init__(self, browser, program, rule):
        self.browser = browser
        self.id = f"p{program}-{rule}"

    def run(self, expression):
        return self.browser.run(expression.replace("ID", json.dumps(self.id)))

    def shown(self):
        return self.run(SHOWN)

    def find(self, selector):
        return f'[id="{self.id}"] {selector}'

    def choose(self, which):
        self.run(f"(() => {{ const r = document.getElementById(ID).querySelectorAll('.player input[type=radio]')"
                 f"[{which}]; if (r) r.click(); }})()")

    def agree(self, states, skipped):
        """All at once: the page goes to every step and tells what it shows."""
        steps = [state["step"] - skipped for state in states]
        shown = self.run(f"""{json.dumps(steps)}.map((at) => {{
          const s = document.getElementById(ID).querySelector('input[type=range]');
          s.value = at;
          s.dispatchEvent(new Event('input'));
          return {SHOWN};
        }})""")
        for state, there in zip(states, shown, strict=True):
            self.agrees(state, there)

    def agrees(self, state, shown):
        what = f"{self.id} step {state['step']}"
        same(number(shown["count"].split()[1]), state["step"], what)
        for kind in ("semaphores", "fifos"):
            for name, value in shown[kind].items():
                same(int(value), state[kind][name], f"{what}: {kind} {name}")
        compared = 0
        for name, text in shown["engines"].items():
            if name in state["engines"]:
                wanted = state["engines"][name]
                check(text.endswith(wanted), f"{what}: {name}: {text!r}, wanted {wanted!r}")
                compared += 1
        check(compared > 0, f"{what}: no engine program")


def replays(browser, wanted, least):
    """Every state that is expected of a page."""
    states = 0
    for i, program in enumerate(wanted, 1):
        for counterexample in program["counterexamples"]:
            replay = Replay(browser, i, counterexample["rule"])
            for which, schedule in enumerate(counterexample["schedules"]):
                replay.choose(which)
                skipped = schedule["total"] - replay.shown()["most"]
                replay.agree(schedule["states"], skipped)
                states += len(schedule["states"])
    check(states >= least, f"only {states} states were compared")


def fits(browser, page):
    """No page has to be scrolled sideways; what is wide scrolls by itself."""
    for width in (1400, 480):
        browser.resize(width, 1000)
        browser.settle()
        wide = browser.run("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        check(wide <= 0, f"{page} at {width}: {wide} pixels too wide")
    browser.resize(1400, 1000)


def kinds(browser, folder, pictures):
    """Every kind of counterexample has its text, its views, and the states of its schedules."""
    wanted = json.load(open(os.path.join(folder, "kinds.json")))
    browser.open(os.path.join(folder, "kinds.html"))
    browser.run(BUILD)
    same(browser.run("document.querySelectorAll('article').length"), len(wanted), "programs")
    same(browser.run("document.querySelectorAll('nav.contents li').length"), len(wanted), "table of contents")
    seen = set()
    for i, program in enumerate(wanted, 1):
        same(browser.run(f"document.querySelector('#p{i} h2').textContent"), program["name"], "name")
        same(browser.run(f"document.getElementById('p{i}').dataset.verdict"), program["verdict"], "verdict")
        for c in program["counterexamples"]:
            seen.add(c["kind"])
            replay = Replay(browser, i, c["rule"])
            same(replay.run("document.getElementById(ID).querySelector('pre').textContent"), c["text"], "text")
            has = replay.run("""(() => { const s = document.getElementById(ID); const n = (q) => s.querySelectorAll(q).length;
              return {maps: n('.memory'), paths: n('.path'), slices: n('.slices'), lanes: n('.lane'), shared: n('.track .shared'),
                culprits: n('.memrow.culprit'), marks: n('.op .label'), missing: n('.arrow.missing'),
                conflicts: n('.arrow.conflict'), sections: n('.strip .section.culprit'), replays: n('.replay')}; })()""")
            views(c["kind"], c["rule"], has, replay.id)
    check(len(seen) >= 18, f"kinds: {sorted(seen)}")
    replays(browser, wanted, 150)
    fits(browser, "kinds")
    quiet(browser, "kinds")
    if pictures:
        browser.picture(os.path.join(pictures, "kinds.png"))


def views(kind, rule, has, where):
    """The views that a counterexample of a kind must have."""
    if rule == "slices":
        return check(has["slices"] > 0 and has["culprits"] > 0, f"{where}: no slices")
    if kind in ("overlap", "out-of-memory", "misaligned"):
        return check(has["maps"] == 1 and has["culprits"] > 0 and has["shared"] > 0 and has["sections"] > 0,
                     f"{where}: {has}")
    check(has["lanes"] > 0, f"{where}: no engine programs")
    if kind not in ("wrong-result", "leftover"):
        check(has["marks"] > 0 and has["sections"] > 0, f"{where}: {has}")
    if kind == "cycle":
        check(has["missing"] > 1, f"{where}: the circle is not drawn")
    if kind == "race":
        check(has["conflicts"] == 1 and has["marks"] >= 2, f"{where}: the pair is not drawn")
    if rule == "shard" and has["replays"]:
        check(has["paths"] == 1, f"{where}: no way of the data")


def clicks(browser, folder):
    """Buttons, schedules, rows, gaps, filters, theme."""
    browser.open(os.path.join(folder, "kinds.html"))
    browser.run(BUILD)
    i = 1 + next(n for n, p in enumerate(json.load(open(os.path.join(folder, "kinds.json"))))
                 if p["name"] == "double-buffer-overwrite")
    replay = Replay(browser, i, "ordering")
    last = replay.shown()["slider"]
    same(last, replay.shown()["most"], "a replay begins where the counterexample is")
    browser.click(replay.find("[data-action=back]"))
    same(replay.shown()["slider"], last - 1, "step back")
    browser.click(replay.find("[data-action=first]"))
    same(replay.shown()["slider"], 0, "first step")
    browser.click(replay.find("[data-action=forward]"))
    same(replay.shown()["slider"], 1, "step forward")
    browser.click(replay.find("[data-action=last]"))
    same(replay.shown()["slider"], last, "last step")
    browser.run(f"document.querySelector({json.dumps(replay.find('.player select'))}).value = '20'")
    browser.click(replay.find("[data-action=play]"))
    end = time.monotonic() + 5
    while replay.shown()["slider"] == last and time.monotonic() < end:
        time.sleep(0.01)
    check(replay.shown()["slider"] < last, "playing from the end begins again")
    while replay.shown()["slider"] < last and time.monotonic() < end:
        time.sleep(0.05)
    same(replay.shown()["slider"], last, "played to the end")
    browser.click(replay.find(".player label:nth-of-type(2) input"))
    caption = replay.run("document.getElementById(ID).querySelector('.caption').textContent")
    check("(a)" in caption, f"the second schedule ends with (a): {caption}")
    browser.click(replay.find(".op.access"))
    check("reads slots" in replay.run("document.getElementById(ID).querySelector('.detail').textContent"), "detail")
    # Themes: the button goes through three, each with its colours.
    paper = "getComputedStyle(document.body).backgroundColor"
    browser.emulate(prefers_color_scheme="dark")
    dark = browser.run(paper)
    browser.emulate(prefers_color_scheme="light")
    light = browser.run(paper)
    check(dark != light, "dark and light by the system")
    browser.click("#theme")
    same(browser.run(paper), light, "light")
    browser.click("#theme")
    same(browser.run(paper), dark, "dark by choice")
    browser.click("#theme")
    same(browser.run(paper), light, "as the system again")
    browser.click("#find")
    browser.type("overlap-by")
    same(browser.run("[...document.querySelectorAll('nav.contents li')].filter((li) => !li.hidden).length"), 1, "filter")
    browser.click("nav.contents li:not([hidden]) a")
    browser.settle()
    top = browser.run("document.querySelector(location.hash).getBoundingClientRect().top")
    check(abs(top) < 40, f"a link leads to its program: {top}")
    quiet(browser, "clicks")


def keyboard(browser, folder):
    """Without a mouse: skip link, slider, buttons; and whatever has the focus can be seen."""
    wanted = json.load(open(os.path.join(folder, "long.json")))
    browser.open(os.path.join(folder, "long.html"))
    browser.run(BUILD)
    browser.press("Tab")
    same(browser.run("document.activeElement.className"), "skip", "the first stop is the skip link")
    browser.press("Enter")
    same(browser.run("document.activeElement.id"), "programs", "and it skips")
    seen = []
    for _ in range(40):
        browser.press("Tab")
        seen.append(browser.run("""(() => { const n = document.activeElement;
          if (n === document.body) return 'end';
          const s = getComputedStyle(n);
          if (s.outlineStyle === 'none' || parseFloat(s.outlineWidth) < 1) return 'invisible: ' + n.outerHTML.slice(0, 80);
          return n.dataset.action ?? n.type ?? n.tagName.toLowerCase(); })()"""))
        if seen[-1] == "end" or seen[-1] == "range":
            break
    check(not any(s.startswith("invisible") for s in seen), f"focus that cannot be seen: {seen}")
    for stop in ("first", "back", "play", "forward", "last", "range"):
        check(stop in seen, f"{stop} cannot be reached: {seen}")
    rule = wanted[0]["counterexamples"][0]["rule"]
    replay = Replay(browser, 1, rule)
    schedule = wanted[0]["counterexamples"][0]["schedules"][0]
    most = replay.shown()["most"]
    same(most, 2000, "steps of a long schedule")
    check("last 2,000" in replay.run("document.getElementById(ID).querySelector('.replay .note').textContent"), "said so")
    skipped = schedule["total"] - most
    browser.press("Home")
    same(replay.shown()["slider"], 0, "Home")
    browser.press("ArrowRight", 7)
    browser.press("ArrowLeft", 2)
    same(replay.shown()["slider"], 5, "arrows")
    browser.press("PageUp")
    same(replay.shown()["slider"], 205, "PageUp")
    browser.press("End")
    same(replay.shown()["slider"], most, "End")
    browser.press("ArrowLeft", 3)
    state = next(s for s in schedule["states"] if s["step"] == schedule["total"] - 3)
    shown = replay.shown()
    for kind in ("semaphores", "fifos"):
        for name, value in shown[kind].items():
            same(int(value), state[kind][name], f"by keys: {name}")
    check(skipped > 100_000, f"a long schedule: {skipped}")
    # Backwards to a button, and press it.
    browser.press("Tab", 2, shift=True)
    same(browser.run("document.activeElement.dataset.action"), "last", "back to the buttons")
    browser.press(" ")
    same(replay.shown()["slider"], most, "pressed by the space bar")
    # On to the lanes: a gap is opened and an op is chosen by keys.
    before = browser.run("document.querySelectorAll('.op').length")
    browser.run("document.querySelector('.gap button').focus()")
    browser.press("Enter")
    check(browser.run("document.querySelectorAll('.op').length") > before, "a gap opens")
    check(browser.run("document.activeElement.className") == "what", "and the focus is on what it showed")
    at = browser.run("document.activeElement.closest('li').dataset.t")
    browser.press("ArrowDown")
    below = browser.run("document.activeElement.closest('li').dataset.t")
    same(int(below), int(at) + 1, "an arrow key goes to the op below")
    browser.press("Enter")
    same(browser.run("document.querySelector('.op.selected').dataset.t"), below, "and Enter chooses it")
    same(browser.run("document.querySelectorAll('.board [tabindex=\"0\"]').length"), 1, "one stop in the lanes")
    replays(browser, wanted, 5)
    quiet(browser, "keyboard")


def hundred_lanes(browser, folder, pictures):
    """Usable: it opens, steps, filters and scrolls without making anybody wait."""
    wanted = json.load(open(os.path.join(folder, "ring.json")))
    start = time.monotonic()
    browser.open(os.path.join(folder, "ring.html"))
    browser.run(BUILD)
    browser.settle()
    opened = time.monotonic() - start
    check(opened < 12, f"opening took {opened:.1f} s")
    same(browser.run("document.querySelectorAll('.lane').length"), 100, "lanes")
    start = time.monotonic()
    browser.run("document.querySelector('input[type=range]').focus()")
    browser.press("ArrowLeft", 20)
    browser.settle()
    stepped = time.monotonic() - start
    check(stepped < 8, f"20 steps took {stepped:.1f} s")
    # From lane to lane by keys.
    browser.run("document.querySelector('.op .what[tabindex=\"0\"]').focus()")
    browser.press("ArrowRight", 3)
    same(browser.run("document.activeElement.closest('.lane').dataset.lane"), "3", "three lanes on")
    # The head of a lane stays in sight, whichever way its board is scrolled.
    browser.run("(() => { const b = document.querySelector('.board'); b.scrollLeft = 9000; b.scrollTop = 200; })()")
    browser.settle()
    gap = browser.run("""document.querySelector('.lane[data-lane="40"] header').getBoundingClientRect().top -
      document.querySelector('.board').getBoundingClientRect().top""")
    check(0 <= gap <= 2, f"heads are not sticky: {gap}")
    check(browser.run("document.querySelectorAll('.arrow').length") > 5, "arrows where it was scrolled to")
    if pictures:
        browser.picture(os.path.join(pictures, "ring.png"), ".scene")
    browser.click(".lanebar input[type=search]")
    browser.type("(42,0)")
    browser.settle()
    same(browser.run("[...document.querySelectorAll('.lane header b')].map((b) => b.textContent)"),
         ["compute at chip 0 (42,0)"], "filter")
    replays(browser, wanted, 5)
    fits(browser, "ring")
    quiet(browser, "ring")


def hostile(browser, folder):
    """Names that are markup are shown, and do nothing."""
    wanted = json.load(open(os.path.join(folder, "hostile.json")))
    browser.open(os.path.join(folder, "hostile.html"))
    browser.run(BUILD)
    same(browser.run("document.querySelector('#p1 h2').textContent"), wanted[0]["name"], "name")
    same(browser.run("'hacked' in window"), False, "a name was run")
    same(browser.run("document.querySelectorAll('img, iframe, object').length"), 0, "elements out of names")
    check(browser.run("document.querySelector('.lane header b').textContent").startswith("</script>"), "lane")
    check("<img src=x" in browser.run("document.querySelector('.strip .section').textContent"), "section")
    replays(browser, wanted, 1)
    # Even if something got in, the policy keeps it from running and from loading.
    refused = browser.run("""new Promise((done) => {
      const refused = new Set();
      const finish = () => done([...refused].sort());
      setTimeout(finish, 5000);
      document.addEventListener('securitypolicyviolation', (e) => {
        refused.add(e.effectiveDirective);
        if (refused.size === 4) finish();
      });
      const script = document.createElement('script');
      script.textContent = 'window.hacked = 2';
      const style = document.createElement('style');
      style.textContent = 'body { display: none }';
      document.body.append(script, style);
      new Image().src = 'http://127.0.0.1:9/x.png';
      fetch('http://127.0.0.1:9/').catch(() => 0);
    })""")
    same(refused, ["connect-src", "img-src", "script-src-elem", "style-src-elem"], "what the policy refuses")
    same(browser.run("window.hacked"), None, "an inline script ran")


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 64
    path = executable()
    if path is None:
        print("skipped: no Chromium")
        return 77
    folder, pictures = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    browser = Browser(path)
    try:
        for name, part in (("kinds", lambda: kinds(browser, folder, pictures)), ("clicks", lambda: clicks(browser, folder)),
                           ("keyboard", lambda: keyboard(browser, folder)),
                           ("hundred lanes", lambda: hundred_lanes(browser, folder, pictures)),
                           ("hostile", lambda: hostile(browser, folder))):
            start = time.monotonic()
            part()
            print(f"{name}: {time.monotonic() - start:.1f} s", flush=True)
    except Failed as failure:
        print(f"FAILED: {failure}\n  {browser.errors}")
        return 1
    finally:
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
