"""The calls about the past and about what people correct, as the page makes them."""

from __future__ import annotations

from fastapi import APIRouter

from connectors.catalog.http import _corrections as corrections
from connectors.catalog.http import _page as page

ROUTERS: tuple[APIRouter, ...] = (page.past_router, corrections.router)
