"""What the page does while the camera moves: little in a frame, everything once it rests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.browser import Page
from tests.support.served_page import served_page

pytestmark = pytest.mark.browser

_CARDS = """
    const done = arguments[arguments.length - 1];
    const box = (at) => ({
      id: `c${at}`, x: (at % 40) * 220, y: Math.floor(at / 40) * 80, width: 200, height: 48, rows: [], more: 0,
      mode: 'none', name: 'n', schema: 's', port: new Map(), card: {
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
    const camera = (x, k = 1) => ({ x, y: 0, k, size: { width: 800, height: 600 } });
    const paint = () => ({ colour: '#000', width: 1, opacity: 1 });
    import('/explorer/picture/wire_canvas.mjs').then(({ WireCanvas }) => {
      const canvas = document.createElement('canvas');
      document.body.append(canvas);
      const wires = new WireCanvas(canvas);
      wires.show(Array.from({ length: count }, (_, at) => wire(at)));
      const before = wires.move(camera(0));
      wires.draw(camera(0), paint, { haste: true });
      done([before, wires.move(camera(200)), wires.move(camera(300)), wires.move(camera(-800, 3))]);
    }, (error) => done(String(error)));
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with served_page(tmp_path_factory.mktemp("moving"), lambda client: None) as served:
        yield served.show("", 0)


def test_on_the_move_cards_come_over_several_frames_and_all_of_them_come(page: Page) -> None:
    told = page.driver.execute_async_script(_CARDS)
    counts = told["counts"]
    assert len(counts) > 2 and counts[0] < 1000
    assert counts == sorted(counts) and counts[-1] == 2000
    assert told["far"] == 2000 and told["replaced"]
    assert told["left"] < 20


@pytest.mark.parametrize(("count", "beyond"), [(20, False), (2000, True)])
def test_drawn_wires_move_along_until_they_no_longer_fill_the_window(page: Page, count: int, beyond: bool) -> None:
    """Of many, drawn again in a frame they would hold it up, so that they move on until the camera rests."""
    assert page.driver.execute_async_script(_WIRES, count) == [False, True, beyond, beyond]
