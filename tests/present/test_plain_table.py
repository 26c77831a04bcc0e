"""Tables as plain text: columns line up, long cells break, and nothing of a user's moves the cursor."""

from sizer.present.tables import Table, columns, row, table_text


def test_columns_line_up_and_numbers_stand_right() -> None:
    table = Table(
        "x",
        "Servers",
        columns("Server", ("GPUs", "right")),
        (row("Compute", "", kind="group"), row("DGX-1", "72"), row("C4140", "8")),
        "Two kinds.",
    )
    assert table_text(table).splitlines() == [
        "Servers",
        "Server  GPUs",
        "------------",
        "Compute",
        "DGX-1     72",
        "C4140      8",
        "Two kinds.",
    ]


def test_long_cells_are_broken_to_the_width() -> None:
    table = Table("x", "", columns("What", "Why"), (row("short", "a reason of many words " * 8),))
    lines = table_text(table, 60).splitlines()
    assert max(map(len, lines)) <= 60
    assert len(lines) > 4
    assert "".join(lines[2:]).split().count("reason") == 8


def test_control_characters_are_blanks() -> None:
    table = Table("x", "\x1b[31mred", columns("a"), (row("\x1b]0;title\x07\nnext"),))
    assert not {"\x1b", "\x07"} & set(table_text(table))
    assert len(table_text(table).splitlines()) == 4
