"""What docs/render.py writes, page by page."""
