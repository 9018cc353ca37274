"""Looking inside a trained model: what its attentions look at."""
