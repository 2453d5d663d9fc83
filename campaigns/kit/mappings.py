"""What mappings hold whose keys are not the fields of a class: one name for each meaning. Pure."""

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]
"""A JSON object that is read: another program or an earlier version wrote it, or a serializer declares its keys."""
JsonObject = dict[str, Any]
"""A JSON object that is built: an output of REST, a part of a document, the body of a request."""
JsonSchema = dict[str, Any]
"""A JSON Schema, or a part of one."""

Levels = Mapping[str, Any]
"""Levels by the names of their factors."""
Parameters = Mapping[str, Any]
"""Parameters of a kind of test by name; the form of its driver declares them."""
Settings = Mapping[str, Any]
"""Values of a server's settings by name; the settings of its target declare them."""
Contrast = Mapping[str, Any]
"""Two levels of one factor: `factor`, `candidate`, `baseline`, and the other levels `at` which they are compared."""

FieldValues = Mapping[str, Any]
"""Values of the fields of a form by name, as a page or REST gave them."""
CleanedData = dict[str, Any]
"""Checked values of the fields of a form by name."""
Columns = dict[str, Any]
"""Values of the columns of a row by name."""
TemplateContext = dict[str, Any]
"""Variables of a template by name."""
HtmlAttributes = dict[str, Any]
"""Attributes of an element of HTML by name."""

ProgramRequest = dict[str, Any]
"""What an engine program is to do."""
ProgramHello = dict[str, Any]
"""What an engine program says of itself before it works: versions, limits, warnings."""
ProgramProgress = dict[str, Any]
"""How far an engine program has come."""
ProgramResult = dict[str, Any]
"""What an engine program measured."""
ProgramMessage = dict[str, Any]
"""A message to or from an engine program, with its request, progress or result inside."""
