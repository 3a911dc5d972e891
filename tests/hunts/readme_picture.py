"""Makes the picture of the README: where a column of the sample comes from, in the page as it is now.

Run after `ingest run -c config/lineage.yaml`: python -m tests.hunts.readme_picture .headwater/catalog.db
"""

from __future__ import annotations

import argparse
import base64
import shutil
import tempfile
import time
from pathlib import Path

from connectors.catalog.http.server import CatalogConfig, running_catalog
from tests.support.browser import browser
from tests.support.catalog_contents import REPOSITORY
from tests.support.served_page import resize

_TABLE = "shop.shopdb.mart.info"
_VIEW = f"t=4.0.{_TABLE}&columns=all"
_SIZE = (1500, 760)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("catalog", type=Path)
    parser.add_argument("--out", type=Path, default=REPOSITORY / ".readme" / "explorer.png")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(arguments.catalog, folder))
        with running_catalog(CatalogConfig(copy, port=0)) as address, browser(Path(folder)) as page:
            resize(page, _SIZE)
            page.open(f"{address.url.removesuffix('api')}#{_VIEW}", 6)
            page.click(page.column("info", "wpage"))
            page.until(lambda: "Looking" not in page.text("#panel"), "the chain and what breaks")
            page.js("document.querySelector('#zoom-fit').click()")
            time.sleep(1)  # the picture moves there
            taken = page.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    arguments.out.write_bytes(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    main()
