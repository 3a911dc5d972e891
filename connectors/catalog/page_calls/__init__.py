"""The calls about the past and about what people correct, as the page makes them."""

from __future__ import annotations

from fastapi import APIRouter

from connectors.catalog.page_calls import corrections, time

ROUTERS: tuple[APIRouter, ...] = (time.router, corrections.router)
