"""What the sample pipeline writes, worked out once more from its input by
Python's own csv module and read by pyarrow: neither shares a line with the
server that made it."""

import csv
import decimal
import gzip

import pyarrow.dataset as ds


def newest_orders(folder):
    """The orders of a folder of CSV files as a merge on order_id leaves them:
    of several rows of one order, the one that was updated last."""
    orders = {}
    for path in sorted(folder.glob("*.csv*")):
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                known = orders.get(row["order_id"])
                if known is None or row["updated_at"] >= known["updated_at"]:
                    orders[row["order_id"]] = row
    return orders


def test_the_sample_pipeline_loses_and_doubles_nothing(serve):
    server = serve("--sample")
    run = server.said("has started: run ").split()[-1]
    assert server.ended(run)["outcome"] == "succeeded"
    files = server.data / "files"

    orders = newest_orders(files / "raw" / "sales")
    table = ds.dataset(files / "curated" / "sales", format="parquet", partitioning="hive").to_table()

    assert table.num_rows == len(orders) > 900_000
    ids = table.column("order_id").to_pylist()
    assert len(set(ids)) == len(ids)
    amount = sum(decimal.Decimal(o["unit_price"]) * int(o["quantity"]) for o in orders.values())
    assert sum(table.column("amount").to_pylist()) == amount
    notes = {str(i): note for i, note in zip(ids, table.column("note").to_pylist())}
    for order_id, row in orders.items():
        assert (notes[order_id] or "") == row["note"], f"the note of order {order_id}"
    months = {(str(y), str(m).zfill(2)) for y, m in zip(table.column("year").to_pylist(), table.column("month").to_pylist())}
    assert months == {(o["ordered_at"][:4], o["ordered_at"][5:7]) for o in orders.values()}
