"""The layout, run where it runs: in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

import pytest

from tests.support.browser import Page
from tests.support.served_page import served_page

pytestmark = pytest.mark.browser

_RUN = """
    const [cards, links, done] = arguments;
    import('/explorer/layout/layout.mjs').then(({ layout }) => {
      const { x, y, routes } = layout(cards, links);
      done({ x: [...x], y: [...y], routes });
    }, (error) => done(String(error)));
"""
ROW = 20.0


@dataclass(frozen=True, slots=True)
class Card:
    """A card of the graph: how many columns it has."""

    rows: int = 4

    def sent(self) -> dict[str, float]:
        return {"width": 200, "height": 40 + self.rows * ROW}


@dataclass(frozen=True, slots=True)
class Placed:
    """Where the cards stand and which points the links pass."""

    x: list[float]
    y: list[float]
    routes: list[list[float]]


Link = tuple[int, int, int, int]  # from card, its row, to card, its row


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with served_page(tmp_path_factory.mktemp("layout"), lambda client: None) as served:
        yield served.show("", 0)


def placed(page: Page, cards: list[Card], links: list[Link]) -> Placed:
    port = 40 + ROW / 2
    sent = [
        {"from": source, "to": target, "fromY": port + row * ROW, "toY": port + other * ROW}
        for source, row, target, other in links
    ]
    answer = page.driver.execute_async_script(_RUN, [card.sent() for card in cards], sent)
    assert isinstance(answer, dict), answer
    return Placed(answer["x"], answer["y"], answer["routes"])


def crossings(routes: list[list[float]]) -> int:
    """Pairs of straight pieces, of different links, that cross."""
    pieces = [
        (number, x1, y1, x2, y2)
        for number, points in enumerate(routes)
        for (x1, y1), (x2, y2) in pairwise(zip(points[::2], points[1::2], strict=True))
        if x2 > x1
    ]
    return sum(_cross(a[1:], b[1:]) for a, b in combinations(pieces, 2) if a[0] != b[0])


def _cross(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    left, right = max(a[0], b[0]), min(a[2], b[2])
    if left >= right:
        return False

    def height(piece: tuple[float, ...], x: float) -> float:
        return piece[1] + (piece[3] - piece[1]) * (x - piece[0]) / (piece[2] - piece[0])

    return (height(a, left) - height(b, left)) * (height(a, right) - height(b, right)) < -1e-6


def overlaps(cards: list[Card], at: Placed) -> list[tuple[int, int]]:
    return [
        (a, b)
        for a, b in combinations(range(len(cards)), 2)
        if abs(at.x[a] - at.x[b]) < 200
        and at.y[a] < at.y[b] + cards[b].sent()["height"]
        and at.y[b] < at.y[a] + cards[a].sent()["height"]
    ]


def test_what_can_be_drawn_without_crossings_is(page: Page) -> None:
    lanes, length = 6, 5
    scattered = [(number * 7) % (lanes * length) for number in range(lanes * length)]
    card = {(lane, step): scattered[lane * length + step] for lane in range(lanes) for step in range(length)}
    links = [
        (card[lane, step], row, card[lane, step + 1], row)
        for lane in range(lanes)
        for step in range(length - 1)
        for row in (3, 0, 2)
    ]
    links += [(card[lane, 0], 3, card[lane + 1, 1], 0) for lane in range(0, lanes - 1, 2)]
    at = placed(page, [Card()] * (lanes * length), links)
    assert crossings(at.routes) == 0


def test_columns_count_as_ports_not_only_cards(page: Page) -> None:
    sources = [Card() for _ in range(4)]
    links = [(number, 0, 4, 3 - number) for number in range(4)]
    at = placed(page, [*sources, Card()], links)
    assert crossings(at.routes) == 0
    assert [at.y[number] for number in range(4)] == sorted((at.y[number] for number in range(4)), reverse=True)


def test_links_lead_from_left_to_right_and_long_ones_around_cards(page: Page) -> None:
    cards = [Card() for _ in range(4)]
    at = placed(page, cards, [(0, 0, 1, 0), (1, 0, 2, 0), (2, 0, 3, 0), (0, 1, 3, 1)])
    assert at.x == sorted(at.x)
    points = at.routes[3]
    for x, y in zip(points[2:-2:2], points[3:-2:2], strict=True):
        inside = [c for c in (1, 2) if at.x[c] <= x <= at.x[c] + 200 and at.y[c] < y < at.y[c] + 120]
        assert inside == []


def test_a_cycle_is_laid_out_with_as_few_links_back_as_can_be(page: Page) -> None:
    cards = [Card() for _ in range(5)]
    ring = [(number, 0, (number + 1) % 5, 0) for number in range(5)]
    at = placed(page, cards, [*ring, (0, 1, 1, 1)])
    back = [link for link in ring if at.x[link[0]] >= at.x[link[2]]]
    assert len(back) == 1
    assert overlaps(cards, at) == []


def test_cards_never_overlap_and_the_same_graph_looks_the_same(page: Page) -> None:
    cards = [Card(2 + number % 9) for number in range(60)]
    links = [(number // 3, 1, number, 0) for number in range(1, 60)] + [
        (number % 7, 0, number, 1) for number in range(20, 50)
    ]
    links += [(30, 0, 2, 0), (41, 1, 5, 1), (7, 0, 7, 1)]
    first, second = placed(page, cards, links), placed(page, cards, links)
    assert first == second
    assert overlaps(cards, first) == []


def test_parts_without_a_link_between_them_stand_apart(page: Page) -> None:
    cards = [Card(3) for _ in range(9)]
    at = placed(page, cards, [(0, 0, 1, 0), (2, 0, 3, 0)])
    assert overlaps(cards, at) == []
    assert placed(page, [], []) == Placed([], [], [])
