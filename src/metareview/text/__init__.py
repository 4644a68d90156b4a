"""Text against text: ROUGE-L, exact and ROUGE matching, precision and recall of retrieved contexts."""
