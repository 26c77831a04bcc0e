"""Files for other tools: the design as JSON, the bill as workbook and CSV."""
