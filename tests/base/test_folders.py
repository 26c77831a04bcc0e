"""Folders that a user names."""

import pytest

from sizer.base.errors import OutputError, RequestError
from sizer.documents import known_kinds
from sizer.export.files import write_whole


def test_a_folder_of_a_thousand_parts_is_refused(tmp_path):
    with pytest.raises(OutputError, match="folders deep"):
        write_whole(tmp_path.joinpath(*["a"] * 1000), {"b": b""})
    assert not (tmp_path / "a").exists()


def test_a_long_name_of_a_document_is_not_repeated_whole():
    with pytest.raises(RequestError) as error:
        known_kinds(["x" * 7000])
    assert len(str(error.value)) < 1000
