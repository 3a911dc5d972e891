"""What a run works in: Spark, Java, signals, schedule, logs, progress, the disk."""
