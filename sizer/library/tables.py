"""Tables of the library: designs, their revisions, and the version of this schema."""

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, MetaData, String, Table, Text

# Raised with every change of the tables that an older program cannot read.
DATABASE_VERSION = 1
# ISO 8601 with its offset, such as 2026-11-22T05:30:00.000000+00:00: sorts as text, the same in both databases.
_INSTANT = String(40)
_DIGEST = String(64)

metadata = MetaData()

schema = Table("library_schema", metadata, Column("version", Integer, primary_key=True))

designs = Table(
    "designs",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("name", Text, nullable=False),
    Column("search_text", Text, nullable=False),  # the name as searches compare it
    Column("created_at", _INSTANT, nullable=False),
    Column("is_hidden", Boolean, nullable=False),
)

# Rows are added and read, never changed.
revisions = Table(
    "revisions",
    metadata,
    Column("design_id", String(64), ForeignKey("designs.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("parent", Integer),  # revision of the same design that it was made from
    Column("author", Text, nullable=False),
    Column("comment", Text, nullable=False),
    Column("created_at", _INSTANT, nullable=False),
    Column("customer", Text, nullable=False),
    Column("search_text", Text, nullable=False),  # customer and parts as searches compare them
    Column("request", Text, nullable=False),  # JSON, as typed
    Column("price_book", Text, nullable=False),  # CSV, or empty
    Column("digest", _DIGEST, nullable=False),  # of request, price book, catalogue and calibration
    Column("catalog_digest", _DIGEST, nullable=False),
    Column("calibration_digest", _DIGEST, nullable=False),
    Column("snapshot", Text, nullable=False),  # JSON
    Index("revisions_by_time", "created_at"),
)
