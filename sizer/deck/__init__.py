"""The deck: slides that a presales engineer presents, of native shapes, tables and charts."""
