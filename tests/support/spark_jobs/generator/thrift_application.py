"""A Thrift server, and two JDBC clients at once: sessions with a USE of their own, a view, and failures.

python thrift_application.py --root DIR [--conf key=value ...]
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
from pathlib import Path

import pyspark
from application import session

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--root", required=True, type=Path)
parser.add_argument("--conf", action="append", default=[])
options = parser.parse_args()
root: Path = options.root
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
more = [
    "spark.sql.catalogImplementation=hive",
    f"spark.hadoop.javax.jdo.option.ConnectionURL=jdbc:derby:;databaseName={root / 'metastore'};create=true",
    f"spark.hadoop.hive.exec.scratchdir={root / 'scratch'}",
    f"spark.hadoop.hive.server2.thrift.port={port}",
    "spark.hadoop.hive.server2.thrift.bind.host=127.0.0.1",
]
spark = session("thrift", root, [*more, *options.conf])
spark.sparkContext.setLogLevel("ERROR")
thrift = spark._jvm.org.apache.spark.sql.hive.thriftserver.HiveThriftServer2
server = thrift.startWithContext(spark._jsparkSession.sqlContext())
script = root / "sessions.sql"
script.write_text((Path(__file__).parent / "thrift_sessions.sql").read_text().replace("%PORT%", str(port)))
home = Path(pyspark.__file__).parent
given = os.environ.get("SPARK_SUBMIT_OPTS", "")  # what begins a JVM quickly, if anything is known
java = {"SPARK_HOME": str(home), "SPARK_BEELINE_OPTS": f"{given} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC".strip()}
beeline = [str(home / "bin" / "beeline"), "--force=true", "--silent=true", "-f", str(script)]
subprocess.run(beeline, env={**os.environ, **java}, cwd=root, check=False, timeout=300)
server.stop()
spark.stop()
