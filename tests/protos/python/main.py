"""A message there and back; the service's stub is there, beside google.rpc's own files."""

from google.rpc import error_details_pb2  # noqa: F401
from maskd.v1 import compile_service_pb2, mask_service_pb2_grpc, tokenizer_service_pb2_grpc  # noqa: F401

sent = compile_service_pb2.CheckRequest(raw_text=b"\xff")
assert compile_service_pb2.CheckRequest.FromString(sent.SerializeToString()) == sent
assert mask_service_pb2_grpc.MaskServiceStub
