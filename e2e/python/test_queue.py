"""A bucket tells of new objects through a queue, and the trigger that hears of
them starts a run. The bucket and the queue are those of moto, which speaks the
protocols of S3 and SQS and sends the notifications itself."""

import json
import subprocess
import time
from datetime import UTC, datetime, timedelta

import boto3
import pytest
from conftest import BINARY
from moto.server import ThreadedMotoServer

WORKFLOW = """
dogear: 1
workflow:
  name: landed
  triggers:
    - name: arrivals
      type: event
      event: {{source: files, batch_size: 2, path: 's3://shop/sales/*.csv', queue: '{queue}'}}
      start: [{{job: copy}}]
jobs:
  - name: copy
    kind: sql
    bookmark: enabled
    sources: [{{name: input, path: 's3://shop/sales/*.csv', format: csv}}]
    steps: [{{name: out, sql: SELECT * FROM input}}]
    sinks: [{{from: out, path: out, format: parquet}}]
"""


@pytest.fixture
def aws(monkeypatch):
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    yield lambda service: boto3.client(service)
    server.stop()


def until(what, holds, seconds=40):
    """Asks again until what holds."""
    end = time.monotonic() + seconds
    while True:
        found = what()
        if holds(found):
            return found
        assert time.monotonic() < end, f"still {found}"
        time.sleep(0.2)


def test_objects_that_a_queue_tells_of_start_a_run(serve, aws):
    s3, sqs = aws("s3"), aws("sqs")
    s3.create_bucket(Bucket="shop")
    queue = sqs.create_queue(QueueName="arrivals", Attributes={"VisibilityTimeout": "1"})["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    s3.put_bucket_notification_configuration(
        Bucket="shop", NotificationConfiguration={"QueueConfigurations": [{"QueueArn": arn, "Events": ["s3:ObjectCreated:*"]}]}
    )
    s3.put_object(Bucket="shop", Key="sales/before.csv", Body=b"id\n0\n")
    made = s3.head_object(Bucket="shop", Key="sales/before.csv")["LastModified"]
    until(lambda: datetime.now(UTC) - made, lambda age: age > timedelta(seconds=1))  # a bucket knows times by the second
    server = serve()
    subprocess.run([BINARY, "workflow", "import", "--data", str(server.data), "-"], input=WORKFLOW.format(queue=queue), check=True, text=True)

    s3.put_object(Bucket="shop", Key="sales/a one+.csv", Body=b"id\n1\n")
    s3.put_object(Bucket="shop", Key="sales/note.txt", Body=b"hello")
    s3.put_object(Bucket="shop", Key="sales/b.csv", Body=b"id\n2\n")

    (run,) = until(lambda: server.ask("run", "list"), lambda runs: len(runs) == 1)
    shown = server.ended(run["id"])
    assert shown["outcome"] == "succeeded" and shown["by"] == "event"
    ids = shown["properties"]["aws:eventIds"]
    assert ids.startswith("[") and ids.endswith("]") and len(ids[1:-1].split(", ")) == 2
    count = lambda: {
        name: int(value)
        for name, value in sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"])["Attributes"].items()
    }
    until(count, lambda n: sum(n.values()) == 0)

    # A message that comes again, and another server after a kill, change nothing.
    body = {"Records": [{"eventName": "ObjectCreated:Put", "eventTime": "2099-01-01T00:00:00Z", "s3": {"bucket": {"name": "shop"}, "object": {
        "key": "sales/b.csv", "size": 5, "eTag": s3.head_object(Bucket="shop", Key="sales/b.csv")["ETag"].strip('"')}}}]}
    server.process.kill()
    server.process.wait()
    sqs.send_message(QueueUrl=queue, MessageBody=json.dumps(body))
    again = serve()
    until(count, lambda n: sum(n.values()) == 0)
    assert len(again.ask("run", "list")) == 1
