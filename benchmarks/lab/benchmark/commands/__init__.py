"""The commands `skde bench` and `skde reproduce`, which `skde` finds by their entry points."""
