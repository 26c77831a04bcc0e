"""The server of the app: how it starts, whom it answers, and how sessions share its processor."""
