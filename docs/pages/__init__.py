"""The pages that docs/render.py writes."""
