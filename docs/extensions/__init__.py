"""Extensions of Sphinx for the site."""
