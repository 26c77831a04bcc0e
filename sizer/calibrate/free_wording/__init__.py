"""Reads observation files of others, which name software and parts in their own words: suggests the ids they lack."""
