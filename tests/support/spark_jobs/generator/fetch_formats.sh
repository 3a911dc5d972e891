#!/usr/bin/env bash
# Puts a Spark that Delta Lake and Apache Iceberg are built for, and their jars, into a folder: fetch_formats.sh DIR
set -euo pipefail
spark=4.0.5
folder=$1
test ! -e "$folder/done" || exit 0
mkdir -p "$folder/jars"
(
  "${PYTHON:-python3}" -m pip download -q --no-deps --no-binary :all: -d "$folder" "pyspark==$spark"
  tar xzf "$folder/pyspark-$spark.tar.gz" -C "$folder" "pyspark-$spark/pyspark" "pyspark-$spark/deps"
  rm "$folder/pyspark-$spark.tar.gz"
  ln -sfn "pyspark-$spark" "$folder/spark"
) &
for artifact in io.delta:delta-spark_2.13:4.0.1 io.delta:delta-storage:4.0.1 \
  org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.1; do
  mvn -q -B dependency:copy -Dartifact="$artifact" -DoutputDirectory="$folder/jars"
done
wait $!
touch "$folder/done"
