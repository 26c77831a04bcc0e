"""The guide: charts, prepared words and numbers, pages."""
