"""The parameters of the kind `remote_execution`."""

import ipaddress
import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kinds.base.parameters import (
    ChoiceParameter,
    IntegerParameter,
    NumberParameter,
    ParameterField,
)
from campaigns.kinds.hosts.answering import MOST_HOSTS as MOST_VIRTUAL
from campaigns.kinds.hosts.answering_ssh import FIRST_PORT, LAST_PORT, MOST_SSH_HOSTS
from campaigns.kit.forms import Text
from campaigns.kit.mappings import Parameters
from campaigns.kit.network import BadUrl, parse_url

SCRIPT_DEFAULT, ANSIBLE_DEFAULT = "Run Command - Script Default", "Run Command - Ansible Default"
MOST_HOSTS = 20_000
MOST_INPUTS = 20
REGISTERED, VIRTUAL, VIRTUAL_SSH = "registered", "virtual", "virtual_ssh"
VIRTUALS = (VIRTUAL, VIRTUAL_SSH)
"""Values of `hosts_are` with which perfdash answers for the hosts of a population: by MQTT, and by SSH."""
PORT = re.compile(r":\d{1,5}\Z", re.ASCII)
BROKER_EXAMPLE = "Give a host and a port, such as proxy.example:1883."
MOST_LETTERS_OF_NAME = 255
HARMLESS = ({"command": "date"}, {"command": "true"})
"""Inputs of the two templates above that change nothing on a host."""


_POPULATION = {"population": "the number of a population of the target"}
_PROXY = {"proxy_url": "the address of the smart proxy"}
NEEDS = {
    VIRTUAL: _POPULATION | {"broker": "host and port of the MQTT broker"} | _PROXY,
    VIRTUAL_SSH: _POPULATION
    | _PROXY
    | {"address": "an IP address of the worker that the smart proxy reaches"},
}
"""What virtual hosts need, by the way in which they are reached."""
MOST_OF = {VIRTUAL: MOST_VIRTUAL, VIRTUAL_SSH: MOST_SSH_HOSTS}


def check_server(url: str, example: str) -> None:
    """Raise ValidationError where a URL is neither empty nor https: with a host, and nothing behind it. example: what to give."""
    if not url:
        return
    try:
        parse_url(url, ("https",))
    except BadUrl:
        raise ValidationError(example) from None
    if re.search(r"[/?#]", url.removeprefix("https://")):
        raise ValidationError(example)


class Named(ParameterField, Text):
    """The name of something in Foreman, or a query."""


class Inputs(ParameterField, forms.CharField):
    """Values of a template's inputs, a line each as name=value."""

    def __init__(self, **named: Any) -> None:
        super().__init__(widget=forms.Textarea({"rows": 2, "spellcheck": "false"}), **named)

    def to_python(self, value: Any) -> str:
        """Return the lines, without blank ones. Raise ValidationError."""
        lines = [line.strip() for line in str(super().to_python(value)).splitlines()]
        lines = [line for line in lines if line]
        names = [line.partition("=")[0].strip() for line in lines]
        for line, name in zip(lines, names, strict=True):
            if "=" not in line or not 0 < len(name) <= MOST_LETTERS_OF_NAME:
                raise ValidationError(
                    f"“{line[:60]}” is no input; give a line each, such as command=date."
                )
        if twice := next((name for name in names if names.count(name) > 1), ""):
            raise ValidationError(f"{twice} is given twice; an input has one value.")
        if len(lines) > MOST_INPUTS:
            raise ValidationError(f"Give at most {MOST_INPUTS} inputs.")
        return "\n".join(lines)


class Broker(ParameterField, Text):
    """A host and a port."""

    def validate(self, value: str) -> None:
        """Raise ValidationError where it is neither empty nor a host and a port."""
        super().validate(value)
        if value and not PORT.search(value):
            raise ValidationError(BROKER_EXAMPLE)
        check_server(f"https://{value}" if value else "", BROKER_EXAMPLE)


class ProxyUrl(ParameterField, Text):
    """The address of a smart proxy."""

    def to_python(self, value: Any) -> str:
        """Return it without a slash at its end."""
        return str(super().to_python(value)).rstrip("/")

    def validate(self, value: str) -> None:
        """Raise ValidationError where it is neither empty nor an address with https:."""
        super().validate(value)
        check_server(
            value, "Give the address of a smart proxy, such as https://proxy.example:9090."
        )


class Address(ParameterField, Text):
    """An IP address of the machine that is to listen there."""

    def to_python(self, value: Any) -> str:
        """Return it in its usual form. Raise ValidationError where it is neither empty nor an address of one machine."""
        text = str(super().to_python(value)).strip("[]")
        if not text:
            return ""
        try:
            known = ipaddress.ip_address(text)
        except ValueError:
            raise ValidationError("Give an IP address, such as 192.0.2.10.") from None
        if known.is_unspecified or known.is_multicast:
            raise ValidationError(
                f"{known} is no address of one machine: give the one that the smart proxy connects to."
            )
        return str(known)


class RemoteExecutionForm(forms.Form):
    """One job on a number of hosts."""

    hosts = IntegerParameter(
        label="Hosts",
        role="load",
        essential=True,
        initial=100,
        min_value=1,
        max_value=MOST_HOSTS,
        help_text="How many of the hosts that the query finds the job runs on: those with the lowest ids.",
    )
    hosts_are = ChoiceParameter(
        label="Hosts are",
        role="work",
        essential=True,
        initial=REGISTERED,
        choices=[
            (REGISTERED, "registered: machines of yours that the query finds"),
            (
                VIRTUAL,
                "virtual (MQTT): of a population; perfdash fetches their jobs and reports them",
            ),
            (VIRTUAL_SSH, "virtual (SSH): of a population; the smart proxy logs in to perfdash"),
        ],
        help_text="Virtual hosts execute nothing. MQTT needs a smart proxy in the mode pull-mqtt, SSH one in the mode ssh.",
    )
    search_query = Named(
        label="Search query",
        role="work",
        essential=True,
        required=False,
        max_length=1000,
        help_text="Which hosts of Foreman there are for it, as in Foreman's own search, such as name ~ container.",
    )
    template = Named(
        label="Template",
        essential=True,
        required=False,
        initial=SCRIPT_DEFAULT,
        max_length=255,
        help_text="Its name in Foreman. The template decides which backend works on the hosts.",
    )
    feature = Named(
        label="Feature",
        required=False,
        max_length=100,
        help_text="In place of a template: the label of a feature of remote execution, such as katello_package_update.",
    )
    inputs = Inputs(
        label="Inputs of the template",
        role="work",
        essential=True,
        required=False,
        initial="command=date",
        max_length=10_000,
        help_text="A line each, as name=value. They are stored with the campaign: give no secrets.",
    )
    concurrency_level = IntegerParameter(
        label="Concurrency level",
        required=False,
        min_value=1,
        max_value=MOST_HOSTS,
        help_text="Foreman works on at most so many hosts at a time. Empty: no limit.",
    )
    execution_timeout_seconds = IntegerParameter(
        label="Timeout of a host in seconds",
        role="work",
        initial=3600,
        min_value=1,
        max_value=86_400,
        help_text="After which the smart proxy ends the script on a host.",
    )
    time_to_pickup_seconds = IntegerParameter(
        label="Time to pickup in seconds",
        role="work",
        initial=600,
        min_value=1,
        max_value=86_400,
        help_text="Until when a host that is asked by MQTT has to fetch its job. Other hosts ignore it.",
    )
    give_up_seconds = IntegerParameter(
        label="Give up after seconds",
        role="work",
        essential=True,
        initial=1800,
        min_value=60,
        max_value=86_400,
        help_text="Without any host that ends: the job is cancelled then, and the run has failed.",
    )

    population = IntegerParameter(
        label="Population",
        role="work",
        required=False,
        min_value=1,
        help_text="Of virtual hosts: the number of a population, as the page of the target shows it.",
    )
    broker = Broker(
        label="MQTT broker",
        role="work",
        required=False,
        max_length=300,
        help_text="Of virtual hosts by MQTT: host and port of the smart proxy's broker, such as proxy.example:1883.",
    )
    proxy_url = ProxyUrl(
        label="Address of the smart proxy",
        role="work",
        required=False,
        max_length=300,
        help_text="Of virtual hosts: where they fetch their jobs, or its public key is read by SSH; such as https://proxy.example:9090.",
    )
    address = Address(
        label="Address of the hosts",
        role="work",
        required=False,
        max_length=50,
        help_text="Of virtual hosts by SSH: an IP address of the worker, to which the smart proxy can connect. It is set as theirs in Foreman.",
    )
    first_port = IntegerParameter(
        label="First port",
        role="work",
        initial=22_000,
        min_value=FIRST_PORT,
        max_value=LAST_PORT,
        help_text="Of virtual hosts by SSH: each listens at a port of its own, from this one on.",
    )
    script_seconds = NumberParameter(
        label="Time of a script in seconds",
        role="work",
        initial=0,
        min_value=0,
        max_value=3600,
        help_text="Of virtual hosts: how long each of them says that the script has taken.",
    )

    def clean(self) -> dict[str, Any]:
        """Ask for a template or a feature, and for what the hosts need."""
        cleaned = super().clean() or {}
        self._check_hosts(cleaned)
        template, feature = cleaned.get("template"), cleaned.get("feature")
        if template and feature:
            self.add_error("feature", "Give a job template or a feature, not both.")
        elif not template and not feature and "template" not in self.errors:
            self.add_error(
                "template", f"Name a job template, such as {SCRIPT_DEFAULT}, or a feature."
            )
        return cleaned

    def _check_hosts(self, cleaned: dict[str, Any]) -> None:
        way = cleaned.get("hosts_are")
        if way not in VIRTUALS:
            if not cleaned.get("search_query") and "search_query" not in self.errors:
                self.add_error(
                    "search_query",
                    "Say which hosts of Foreman there are, such as name ~ container.",
                )
            return
        for name, what in NEEDS[way].items():
            if not cleaned.get(name) and name not in self.errors:
                self.add_error(name, f"Virtual hosts need it: give {what}.")
        hosts, most = cleaned.get("hosts") or 0, MOST_OF[way]
        if hosts > most:
            kind = " that are SSH servers" if way == VIRTUAL_SSH else ""
            self.add_error("hosts", f"One generator holds at most {most:,} virtual hosts{kind}.")
        elif way == VIRTUAL_SSH and (cleaned.get("first_port") or 0) + hosts - 1 > LAST_PORT:
            self.add_error(
                "first_port",
                f"{hosts:,} virtual hosts need as many ports: give a first port of at most {LAST_PORT - hosts + 1}.",
            )


def broker_of(parameters: Parameters) -> tuple[str, int]:
    """Return host and port of the MQTT broker of virtual hosts."""
    host, _, port = str(parameters["broker"]).rpartition(":")
    return host.strip("[]"), int(port)


def inputs_of(parameters: Parameters) -> dict[str, str]:
    """Return the inputs by name."""
    lines = str(parameters.get("inputs") or "").splitlines()
    parts = [line.partition("=") for line in lines if line.strip()]
    return {name.strip(): value.strip() for name, _, value in parts}


def changes_nothing(parameters: Parameters) -> bool:
    """Return whether the job is one that changes nothing on a host, whoever has written the campaign."""
    known = parameters.get("template") in (SCRIPT_DEFAULT, ANSIBLE_DEFAULT)
    return known and inputs_of(parameters) in HARMLESS
