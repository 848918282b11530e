"""Opens what `ciphermark export` writes with the programs that people have.

    tables.py CIPHERMARK RECORD DIRECTORY

Parquet with pandas (pyarrow) and with DuckDB, CSV with both, JSON Lines with pandas: the same rows and numbers as the record
has. Prints the number of values that were compared; exits with 1 and a line for each difference when there are any.
"""

import json
import pathlib
import subprocess
import sys

import duckdb
import pandas

NUMBERS = ["ns_per_byte", "mb_per_s", "cycles_per_byte", "instructions_per_byte", "limit_fraction"]
TEXTS = ["algorithm", "direction", "model", "tier", "state", "reason", "warning"]


def export(ciphermark, record, kind, path):
    command = [ciphermark, "export", record, "--format", kind, "-o", path]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0 or done.stdout or done.stderr:
        sys.exit(f"{kind}: exit code {done.returncode}: {done.stdout}{done.stderr}")
    return path


def same(found, wanted):
    if wanted is None:
        return found is None or found != found
    if isinstance(wanted, float):
        return abs(found - wanted) <= 1e-12 * abs(wanted)
    return found == wanted


def compare(name, rows, measurements, size):
    """Differences between rows by column and the record's measurements."""
    if len(rows) != len(measurements):
        return 0, [f"{name}: {len(rows)} rows of {len(measurements)}"]
    compared, differences = 0, []
    for i, (row, m) in enumerate(zip(rows, measurements)):
        wanted = {column: m.get(column) for column in NUMBERS + TEXTS}
        wanted |= {size: m["size"], "library_name": m["library"]["name"]}
        wanted["ns_per_op_low"] = m["ns_per_op"] and m["ns_per_op"]["low"]
        for column, value in wanted.items():
            compared += 1
            if not same(row[column], value):
                differences.append(f"{name}, row {i}, {column}: {row[column]!r}, the record has {value!r}")
    return compared, differences


def types(path):
    """What pandas makes of the columns."""
    frame = pandas.read_parquet(path, engine="pyarrow")
    kinds = {"size_bytes": "iuf", "mb_per_s": "f", "ns_per_op_median": "f", "in_place": "bO", "algorithm": "OTS"}
    wrong = [f"{c} is {frame[c].dtype}" for c, k in kinds.items() if frame[c].dtype.kind not in k]
    import pyarrow.parquet

    metadata = pyarrow.parquet.read_schema(path).metadata
    host = json.loads(metadata[b"ciphermark.host"])
    return wrong + ([] if "cpu" in host else ["no host in the metadata"])


def main(ciphermark, record, directory):
    directory = pathlib.Path(directory)
    measurements = json.loads(pathlib.Path(record).read_text())["measurements"]
    parquet = str(export(ciphermark, record, "parquet", str(directory / "r.parquet")))
    csv = export(ciphermark, record, "csv", str(directory / "r.csv"))
    jsonl = export(ciphermark, record, "jsonl", str(directory / "r.jsonl"))
    frame = pandas.read_parquet(parquet, engine="pyarrow")
    tables = {
        "pandas, Parquet": (frame.to_dict("records"), "size_bytes"),
        "DuckDB, Parquet": (duck(f"select * from '{parquet}'"), "size_bytes"),
        "pandas, CSV": (pandas.read_csv(csv).to_dict("records"), "size"),
        "DuckDB, CSV": (duck(f"select * from read_csv('{csv}', header = true, sample_size = -1)"), "size"),
    }
    total, differences = 0, types(parquet)
    for name, (rows, size) in tables.items():
        compared, found = compare(name, rows, measurements, size)
        total, differences = total + compared, differences + found
    lines = pandas.read_json(jsonl, lines=True)
    if list(lines["size"]) != [m["size"] for m in measurements]:
        differences.append("pandas, JSON Lines: other sizes")
    query = f"select max(mb_per_s) from '{parquet}' where state = 'measured'"
    fastest = max(m["mb_per_s"] for m in measurements if m["state"] == "measured")
    if not same(duckdb.sql(query).fetchone()[0], fastest):
        differences.append("DuckDB: another maximum")
    if differences:
        print("\n".join(differences[:50]))
        return 1
    print(f"{total} values the same")
    return 0


def duck(query):
    result = duckdb.sql(query)
    return [dict(zip(result.columns, row)) for row in result.fetchall()]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
