"""A design laid out as shapes and links, once; writers turn the shapes into files."""
