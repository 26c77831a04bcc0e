"""One way to make a table: fields of records, or labels with their values."""

from sizer.present.tables import Cell, Field, fact_table, record_table, row


def test_a_record_table_has_a_row_for_each_record_and_a_column_for_each_field():
    fields = [Field("Server", str.upper), Field("Letters", lambda name: Cell(str(len(name))), "right", 20)]
    table = record_table("servers", "Servers", ["dgx", "apollo"], fields, kind=lambda name: "strong" * (name == "dgx"))
    assert [(column.title, column.align, column.width) for column in table.columns] == [
        ("Server", "left", 0),
        ("Letters", "right", 20),
    ]
    assert [([cell.text for cell in line.cells], line.kind) for line in table.rows] == [
        (["DGX", "3"], "strong"),
        (["APOLLO", "6"], ""),
    ]


def test_a_fact_without_a_value_is_left_out():
    table = fact_table("facts", "Facts", [("Rate", "5 GB/s"), ("Price", None), row("Total", "1", kind="total")])
    assert [[cell.text for cell in line.cells] for line in table.rows] == [["Rate", "5 GB/s"], ["Total", "1"]]
    assert [column.width for column in table.columns] == [45, 55]
