"""Is a benchmark sound, and does a judge agree with people?"""
