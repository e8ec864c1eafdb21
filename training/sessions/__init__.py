"""Monitored sessions, hooks, queue runners and coordinators."""
