"""The search for parameters of estimators: EvolutionSearchCV, and what it is made of."""
