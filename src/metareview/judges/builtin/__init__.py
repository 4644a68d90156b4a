"""The judges that come with metareview, one module each, named as the judge is. Nothing else belongs here."""
