"""Saved designs with every revision, in an SQLite file or a PostgreSQL database."""
