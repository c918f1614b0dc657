"""The phases of a fit. None knows its predecessor or its successor."""
