"""Models fitted to data: ModelRegressor, ModelClassifier, and what they are made of."""
