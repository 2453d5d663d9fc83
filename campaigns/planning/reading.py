"""Read a definition: JSON of REST, of YAML, or of the form, into `Definition`."""

from campaigns.kit.mappings import FieldValues
from campaigns.kit.structs import Problems, converted
from campaigns.planning.definition import Definition
from campaigns.planning.design import FIELDS

NOTHING: tuple[object, ...] = (None, "", {}, [], ())
PARTS = frozenset(Definition.__struct_fields__) - FIELDS.keys() - {"hard_to_change"}
"""Fields that no form field cleans, and that are not stated where they are empty."""


def decode(data: FieldValues, problems: Problems) -> Definition:
    """Return what was sent, its leaves cleaned, and note what is wrong by path.

    What is wrong has the default of its field. An empty part is one that was not sent, but for a list of factors that are hard
    to change: an empty one says that none is.
    """
    stated = {
        name: value for name, value in data.items() if name not in PARTS or value not in NOTHING
    }
    return converted(stated, Definition, problems)
