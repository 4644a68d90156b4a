"""HTTP as every part that uses a network needs it: connections through the user's proxy, deadlines, secrets."""
