"""Op hints: functions of a graph marked to become one operator."""
