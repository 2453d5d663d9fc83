"""Only while consumers are converted: read typed values by string keys. To be deleted."""

from dataclasses import is_dataclass

import msgspec

from campaigns.findings import values


def _names(self):
    if isinstance(self, msgspec.Struct):
        return {f.encode_name: f.name for f in msgspec.structs.fields(self)}
    return {name: name for name in self.__dataclass_fields__}


def _getitem(self, name):
    return getattr(self, _names(self)[name])


def _get(self, name, default=None):
    return self[name] if name in _names(self) else default


def _keys(self):
    return list(_names(self))


def _contains(self, name):
    return name in _names(self)


def _patch(kind):
    kind.__getitem__, kind.get, kind.keys, kind.__contains__ = _getitem, _get, _keys, _contains


for each in list(vars(values).values()):
    if isinstance(each, type) and (
        (issubclass(each, msgspec.Struct) and each is not msgspec.Struct) or is_dataclass(each)
    ):
        _patch(each)
from campaigns.stats.cell_summary import MedianInterval

for each in (MedianInterval,):
    _patch(each)
