"""An S3 server on loopback, in this process."""

from __future__ import annotations

import boto3
import httpx2
from moto.server import ThreadedMotoServer


class Bucket:
    """A bucket of a server in this process."""

    def __init__(self) -> None:
        self.server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
        self.server.start()
        _, port = self.server.get_host_and_port()
        self.address = f"http://127.0.0.1:{port}"
        self.client = boto3.client("s3", endpoint_url=self.address, region_name="us-east-1")

    def empty(self) -> None:
        """Take all objects away."""
        httpx2.post(f"{self.address}/moto-api/reset").raise_for_status()
        self.client.create_bucket(Bucket="payloads")

    def objects(self) -> dict[str, bytes]:
        listed = self.client.list_objects_v2(Bucket="payloads").get("Contents", [])
        keys = [each["Key"] for each in listed]
        read = self.client.get_object
        return {key: read(Bucket="payloads", Key=key)["Body"].read() for key in keys}
