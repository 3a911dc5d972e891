"""`sink.config` of the sink datahub-rest: where DataHub is, and what the services are called there."""

from __future__ import annotations

import hashlib
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, SecretStr, ValidationInfo, field_validator

from connectors.datahub.settings import DatahubSettings
from connectors.fields import FieldContext, NotNegative, Positive, Secret, Text, http_url


class DatahubRestSettings(DatahubSettings):
    written_to: ClassVar[str] = "DataHub's REST API"
    one_writer: ClassVar[bool] = True

    server: Annotated[Text, AfterValidator(lambda url: http_url(url, "http://datahub-gms:8080"))] = Field(
        default="http://localhost:8080", description="The metadata service (GMS), or the frontend's /api/gms."
    )
    token: Secret | None = Field(default=None, repr=False, description="A personal access token.")
    timeout_sec: Positive = Field(default=30, description="Seconds for one call.")
    retry_max_times: NotNegative = Field(default=4, description="How often a call is tried again that may succeed.")

    @field_validator("token")
    @classmethod
    def _never_shown(cls, given: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if given is not None:
            FieldContext.of(info).secrets.append(given.get_secret_value())
        return given

    @property
    def location(self) -> str:
        return self.server

    def identity(self, catalog: str) -> str:
        named = f"{self.server} {self.env} {sorted(self.services.items())} {catalog}"
        return f"datahub {hashlib.sha256(named.encode()).hexdigest()[:32]}"


SETTINGS = DatahubRestSettings
