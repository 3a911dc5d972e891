"""What the page does while the camera moves: little in a frame, everything once it rests."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.support.browser import Page
from tests.support.sample_catalog import fill, name
from tests.support.served_page import served_page

pytestmark = pytest.mark.browser

_CARDS = """
    const done = arguments[arguments.length - 1];
    const box = (at) => ({
      id: `c${at}`, x: (at % 40) * 220, y: Math.floor(at / 40) * 80, width: 200, height: 48, head: 48, rows: [],
      more: 0, mode: 'none', name: 'n', schema: 's', port: new Map(), card: {
        id: `c${at}`, kind: 'table', name: 'n', title: 's.n', schema: 's', columns: [], tables: null, tags: [],
        hidden: { upstream: 0, downstream: 0 } },
    });
    const sight = () => ({ left: 0, top: 0, right: 8800, bottom: 4000 });
    import('/explorer/picture/card_layer.mjs').then(({ CardLayer }) => {
      const layer = new CardLayer(() => undefined);
      layer.show(Array.from({ length: 2000 }, (_, at) => box(at)), new Set());
      const counts = [];
      const moving = { moving: true };
      while (!layer.look({ k: 1, sight }, moving)) counts.push(layer.element.childElementCount);
      counts.push(layer.element.childElementCount);
      const element = layer.elements.get('c0');
      const drawn = element.parentNode === layer.element;
      layer.look({ k: 0.2, sight }, { moving: false });
      const far = layer.element.querySelectorAll('.far').length;
      layer.look({ k: 0.2, sight: () => ({ left: 0, top: 0, right: 100, bottom: 40 }) }, { moving: false });
      done({ counts, far, replaced: drawn && element.parentNode === null, left: layer.element.childElementCount });
    }, (error) => done(String(error)));
"""
_WIRES = """
    const [count, done] = arguments;
    const wire = (at) => ({ points: [0, at % 700, 900, (at * 7) % 700], kind: 'direct' });
    const [on, sight] = [{ x: 0, y: 0, k: 1 }, (left) => ({ left, top: 0, right: left + 800, bottom: 600 })];
    const paint = () => ({ colour: '#000', width: 1, opacity: 1 });
    const pixel = (canvas) => {
      const copy = document.createElement('canvas');
      [copy.width, copy.height] = [1280, 1080];
      copy.getContext('2d').drawImage(canvas, 0, 0);
      return copy.getContext('2d').getImageData(0, 0, 1280, 1080).data.some((value) => value > 0);
    };
    import('/explorer/picture/wire_canvas.mjs').then(async ({ WireCanvas }) => {
      const canvas = document.createElement('canvas');
      document.body.append(canvas);
      const wires = new WireCanvas(canvas);
      wires.show(Array.from({ length: count }, (_, at) => wire(at)));
      const before = wires.covers(on, sight(0));
      wires.draw(on, sight(0), paint, { atOnce: true });
      const covered = [before, wires.covers(on, sight(200)), wires.covers(on, sight(300))];
      wires.place({ x: 20, y: 10, k: 2 });
      const placed = canvas.style.transform;
      wires.draw(on, sight(300), paint, {});
      const late = wires.drawing > 0;
      while (wires.drawing) await new Promise(requestAnimationFrame);
      const drawn = pixel(canvas);
      canvas.remove();
      done({ covered, placed, late, drawn, after: wires.covers(on, sight(300)) });
    }, (error) => done(String(error)));
"""
_STEPS = """
    const [done] = arguments;
    import('/explorer/picture/wires.mjs').then(({ drawWires, prepareWires }) => {
      const paint = () => ({ colour: '#000', width: 1, opacity: 1 });
      const stepsOf = (kind) => {
        const wires = Array.from({ length: 100 }, (_, at) => ({ points: [0, at, 900, at * 7], kind }));
        prepareWires(wires);
        const how = { camera: { x: 0, y: 0, k: 1 }, width: 800, height: 600, paint, haste: false };
        return [...drawWires(new OffscreenCanvas(1, 1), wires, how)].length;
      };
      done([stepsOf('direct'), stepsOf('indirect')]);
    }, (error) => done(String(error)));
"""
_GESTURE = """
    const [kind, done] = arguments;
    const surface = document.getElementById('picture');
    const seen = [];
    const watch = new MutationObserver((all) => seen.push(...all));
    watch.observe(document.getElementById('view'), { subtree: true, childList: true, attributes: true });
    const moves = { pan: { deltaY: 6, shiftKey: true }, zoom: { deltaY: -20, clientX: 500, clientY: 300 } };
    let count = 0;
    // To and fro until what the browser did has been asked for: at rest it draws anew.
    const goOn = () => {
      if (window.asked) return delete window.asked;
      const way = count++ % 2 ? 1 : -1;
      const move = { ...moves[kind], deltaY: way * moves[kind].deltaY };
      surface.dispatchEvent(new WheelEvent('wheel', { cancelable: true, ...move }));
      return requestAnimationFrame(goOn);
    };
    const step = () => {
      if (count++ < 20) {
        surface.dispatchEvent(new WheelEvent('wheel', { cancelable: true, ...moves[kind] }));
        return requestAnimationFrame(step);
      }
      const moved = getComputedStyle(document.getElementById('layer')).transform;
      const at = (e) => e.getBoundingClientRect();
      const column = [...document.querySelectorAll('.column')].find((e) => at(e).left > 0 && at(e).right < 1000
        && at(e).top > 80 && at(e).bottom < 600);
      const { left, top, width, height } = at(column);
      const under = document.elementFromPoint(left + width / 2, top + height / 2).closest('.column') === column;
      const what = (one) => `${one.target.id || one.target.tagName} ${one.attributeName ?? 'children'}`;
      seen.push(...watch.takeRecords());
      watch.disconnect();
      requestAnimationFrame(goOn);
      done({ changed: [...new Set(seen.map(what))].sort(), moved, under });
    };
    requestAnimationFrame(step);
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with served_page(tmp_path_factory.mktemp("moving"), fill) as served:
        yield served.show(f"t=100.100.{name('takings')}&days=0", None)


def test_on_the_move_cards_come_over_several_frames_and_all_of_them_come(page: Page) -> None:
    told = page.driver.execute_async_script(_CARDS)
    counts = told["counts"]
    assert len(counts) > 2 and counts[0] < 1000
    assert counts == sorted(counts) and counts[-1] == 2000
    assert told["far"] == 2000 and told["replaced"]
    assert told["left"] < 20


@pytest.mark.parametrize(("count", "beyond"), [(20, False), (2000, True)])
def test_drawn_wires_move_along_until_they_no_longer_fill_the_window(page: Page, count: int, beyond: bool) -> None:
    """Of many, drawn again on the move they would hold it up, so that they move on until the camera rests."""
    told = page.driver.execute_async_script(_WIRES, count)
    assert told["covered"] == [False, True, beyond]
    assert told["placed"] == "translate(-460px, -470px) scale(2)"
    assert (told["late"] or count == 20) and told["drawn"] and told["after"]


def test_dotted_wires_are_drawn_in_smaller_steps_than_whole_lines(page: Page) -> None:
    """Nothing ends a step: a hundred dotted ones in one held the page up, and each move was taken for a rest."""
    whole, dotted = page.driver.execute_async_script(_STEPS)
    assert whole == 1 and dotted > 10


@pytest.mark.parametrize("kind", ["pan", "zoom"])
def test_while_the_camera_moves_one_layer_is_moved_and_nothing_laid_out_or_drawn(page: Page, kind: str) -> None:
    page.until(lambda: page.tables > 2, "the picture")
    time.sleep(0.5)  # until it rests
    before = _counts(page)
    told = page.driver.execute_async_script(_GESTURE, kind)
    after = _counts(page)
    page.js("window.asked = true")
    assert told["changed"] == ["layer style"]
    assert told["moved"].startswith("matrix(1, 0, 0, 1, -" if kind == "pan" else "matrix(1.")
    assert told["under"], "what is under the pointer is what is seen there"
    assert after["LayoutCount"] == before["LayoutCount"]
    assert after["RecalcStyleCount"] > before["RecalcStyleCount"]
    rested = "return getComputedStyle(document.getElementById('layer')).transform"
    page.until(lambda: page.js(rested) == "none", "the picture drawn anew where the camera rests")


def _counts(page: Page) -> dict[str, float]:
    """How often the browser did what, since it was asked first."""
    page.driver.execute_cdp_cmd("Performance.enable", {})
    told = page.driver.execute_cdp_cmd("Performance.getMetrics", {})
    return {one["name"]: one["value"] for one in told["metrics"]}


_BROUGHT = """
    const [done] = arguments;
    const surface = document.getElementById('picture');
    surface.dispatchEvent(new WheelEvent('wheel', { cancelable: true, deltaY: -400, clientX: 700, clientY: 400 }));
    requestAnimationFrame(() => requestAnimationFrame(() => {
      const scrolled = [];
      for (const card of document.querySelectorAll('.card')) {
        card.focus();
        card.scrollIntoView();
        for (let one = card; one; one = one.parentElement)
          if (one.scrollLeft || one.scrollTop) scrolled.push(one.id || one.tagName);
      }
      done([...new Set(scrolled)]);
    }));
"""


def test_nothing_but_the_camera_moves_the_picture(page: Page) -> None:
    """A browser that looks for a text, or brings the focus into sight, would scroll it away from the camera."""
    page.until(lambda: page.tables > 2, "the picture")
    assert page.driver.execute_async_script(_BROUGHT) == []
