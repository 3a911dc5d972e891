#!/usr/bin/env bash
# Puts a Spark that Delta Lake and Apache Iceberg are built for, their jars, and those of Avro and of two databases'
# JDBC drivers into a folder: fetch_formats.sh DIR
set -euo pipefail
spark=4.0.5
folder=$1
mkdir -p "$folder/jars"
if test ! -e "$folder/done"; then
  (
    "${PYTHON:-python3}" -m pip download -q --no-deps --no-binary :all: -d "$folder" "pyspark==$spark"
    tar xzf "$folder/pyspark-$spark.tar.gz" -C "$folder" "pyspark-$spark/pyspark" "pyspark-$spark/deps"
    rm "$folder/pyspark-$spark.tar.gz"
    ln -sfn "pyspark-$spark" "$folder/spark"
  ) &
  download=$!
fi
for artifact in io.delta:delta-spark_2.13:4.0.1 io.delta:delta-storage:4.0.1 \
  org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.1 org.apache.spark:spark-avro_2.13:4.0.1 \
  org.xerial:sqlite-jdbc:3.47.1.0 com.h2database:h2:2.3.232; do
  IFS=: read -r _group name version <<< "$artifact"
  test -e "$folder/jars/$name-$version.jar" ||
    mvn -q -B dependency:copy -Dartifact="$artifact" -DoutputDirectory="$folder/jars"
done
test -z "${download:-}" || wait "$download"
touch "$folder/done"
