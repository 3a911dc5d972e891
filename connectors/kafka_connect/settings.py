"""The source type kafka-connect: where the configurations of connectors are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, Field, model_validator

from connectors.fields import InputLocation, Misfits, Model, OrEmpty, Secret, Text, http_url
from connectors.source_settings import LineageConfig


def _address(written: str) -> str:
    return http_url(written, "http://connect:8083")


class ConnectWorker(Model):
    """`connectWorker`: a worker of Kafka Connect, asked over its REST API."""

    host_port: Annotated[Text, AfterValidator(_address)] | None = Field(
        default=None, description="The address of the worker, such as http://connect:8083."
    )
    username: Text | None = Field(default=None, description="Who asks, where the worker wants to know.")
    password: Secret | None = Field(default=None, description="The password.")


class KafkaConnectConfig(LineageConfig):
    """`source.sourceConfig.config` of the source type kafka-connect; its own keys are Headwater's."""

    has_own_log: ClassVar[bool] = True
    has_engine_names: ClassVar[bool] = True
    names_services: ClassVar[bool] = True
    is_whole: ClassVar[bool] = True

    connector_path: InputLocation | None = Field(
        default=None, description="Configurations of connectors: a file (JSON, properties, YAML), a folder, a ZIP."
    )
    connect_worker: Annotated[ConnectWorker, OrEmpty] = Field(
        default_factory=ConnectWorker, description="Or a worker that runs them.", repr=False
    )

    @model_validator(mode="after")
    def _has_a_location(self) -> Self:
        if (self.connector_path is None) == (self.connect_worker.host_port is None):
            message = "the source type kafka-connect needs connectorPath or connectWorker.hostPort, one of them"
            raise Misfits((("connectorPath",), message))
        return self

    @property
    def path(self) -> Path:
        """The files, where they are what is read."""
        return Path(self.connector_path or "")

    @property
    def location(self) -> str | None:
        return self.connector_path or self.connect_worker.host_port

    def implied_connection(self) -> str | None:
        """No database in particular: each connector tells its own."""
        return "CustomDatabase"


SETTINGS = KafkaConnectConfig
