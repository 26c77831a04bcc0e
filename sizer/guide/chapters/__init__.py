"""The chapters of the guide, one module each: it prepares text, tables and figures of its section in the templates."""
