"""The block `workflowConfig` of the YAML: the catalog that names are resolved in, and when a run counts as failed."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, ValidationInfo, field_validator, model_validator

from connectors.catalog import DEFAULT_CATALOG
from connectors.fields import (
    NO_EFFECT,
    Bool,
    FilePath,
    KeptFile,
    MisfitCollector,
    Misfits,
    Model,
    OrEmpty,
    Percent,
    Port,
    Secret,
    Text,
    existing_file,
    http_url,
    token_or_file,
)

EMBEDDED = "embedded"


class SecurityConfig(Model):
    jwt_token: Secret | None = Field(
        default=None,
        description="The token, or the path of a file that holds it; no_token where authentication is off.",
    )


class SslConfig(Model):
    ca_certificate: FilePath | None = Field(default=None, description="A PEM file with the authorities to trust.")
    ssl_certificate: FilePath | None = Field(default=None, description="A PEM file with the client's certificate.")
    ssl_key: FilePath | None = Field(default=None, description="A PEM file with the client's key.")


def _api_url(written: str) -> str:
    if written == EMBEDDED:
        return written
    url = http_url(written, "http://openmetadata:8585/api", also=EMBEDDED)
    if not url.endswith("/api"):
        raise ValueError("the API's URL ends in /api, as in http://openmetadata:8585/api")
    return url


class Server(Model):
    """`workflowConfig.openMetadataServerConfig`: the API of a metadata server, or `embedded`."""

    host_port: Annotated[Text, AfterValidator(_api_url)] = Field(
        default=EMBEDDED, description="`embedded`, or the API of an OpenMetadata: http://host:8585/api."
    )
    auth_provider: Text = Field(
        default="openmetadata", description="Not used: the token is sent as it is.", json_schema_extra=NO_EFFECT
    )
    security_config: Annotated[SecurityConfig, OrEmpty] = Field(
        default_factory=SecurityConfig, description="How to authenticate."
    )
    verify_ssl: Literal["no-ssl", "ignore", "validate"] = Field(
        default="no-ssl",
        alias="verifySSL",
        description="`ignore` accepts any certificate; the others verify it where the URL is https.",
    )
    ssl_config: SslConfig | None = Field(default=None, description="Certificates.")
    api_version: Literal["v1"] = Field(default="v1", description="The API's version.")
    enable_version_validation: Bool = Field(default=True, description="Ask the server for its version before the run.")
    extra_headers: dict[str, str] = Field(
        default_factory=dict, description="Headers to send with every request.", repr=False
    )
    type: Literal["OpenMetadata"] = Field(default="OpenMetadata", description="The kind of target.")
    cluster_name: Text = Field(default="openmetadata", description="Not used.", json_schema_extra=NO_EFFECT)
    store_service_connection: Bool = Field(
        default=True, description="Not used: connections are never sent.", json_schema_extra=NO_EFFECT
    )
    force_entity_overwriting: Bool = Field(default=False, description="Not used.", json_schema_extra=NO_EFFECT)
    secrets_manager_provider: Text = Field(default="db", description="Not used.", json_schema_extra=NO_EFFECT)
    secrets_manager_loader: Text = Field(default="noop", description="Not used.", json_schema_extra=NO_EFFECT)

    @field_validator("security_config")
    @classmethod
    def _find_token(cls, given: SecurityConfig, info: ValidationInfo) -> SecurityConfig:
        # What an embedded catalog does not need may be left over from another environment.
        if given.jwt_token is None or info.data.get("host_port", EMBEDDED) == EMBEDDED:
            return given
        try:
            return SecurityConfig.model_construct(jwt_token=token_or_file(given.jwt_token, info))
        except ValueError as error:
            raise Misfits((("jwtToken",), str(error))) from None

    @field_validator("ssl_config")
    @classmethod
    def _find_certificates(cls, given: SslConfig | None, info: ValidationInfo) -> SslConfig | None:
        if given is None or info.data.get("host_port", EMBEDDED) == EMBEDDED:
            return given
        found, misfits = given, MisfitCollector()
        for name, key in SslConfig.yaml_keys():
            if (file := getattr(given, name)) is not None:
                with misfits.at(key):
                    found = found.with_value(name, existing_file(file, info))
        misfits.check()
        return found

    @model_validator(mode="after")
    def _has_a_token(self) -> Self:
        if not self.is_embedded and self.security_config.jwt_token is None:
            message = "needed by any hostPort but embedded; write no_token where authentication is off"
            raise Misfits((("securityConfig", "jwtToken"), message))
        return self

    @property
    def is_embedded(self) -> bool:
        """Whether the catalog is the embedded one."""
        return self.host_port == EMBEDDED

    @property
    def token(self) -> SecretStr:
        """The token, or the path of the file that holds it."""
        return self.security_config.jwt_token or SecretStr("")

    @property
    def verifies_certificates(self) -> bool:
        """Whether a certificate that nobody vouches for is refused."""
        return self.verify_ssl != "ignore"


class EmbeddedCatalog(Model):
    """`headwater.catalog`, used where hostPort is `embedded`."""

    file: KeptFile = Field(
        default=DEFAULT_CATALOG, description="The embedded catalog's file; made where there is none."
    )
    port: Port = Field(default=0, description="The loopback port it answers on during a run; 0 takes a free one.")
    token: Secret | None = Field(
        default=None, description="The token that it demands; none by default, since it is on loopback."
    )


class WorkflowConfig(Model):
    """`workflowConfig`."""

    logger_level: Literal["DEBUG", "INFO", "WARN", "ERROR"] = Field(
        default="INFO", description="Log from this level up."
    )
    raise_on_error: Bool = Field(
        default=True, description="Exit with 3 below the success threshold; false only reports it."
    )
    success_threshold: Percent = Field(default=90, description="Per cent of statements that must not be given up on.")

    @property
    def demanded_percent(self) -> int | None:
        """Per cent of statements that have to succeed, None where a run never fails by that."""
        return self.success_threshold if self.raise_on_error else None

    open_metadata_server_config: Annotated[Server, OrEmpty] = Field(
        default_factory=Server, description="The catalog to publish to."
    )
