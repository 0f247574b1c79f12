// A message there and back; the service's stub is there.
#include <memory>

#include "maskd/v1/compile_service.grpc.pb.h"
#include "maskd/v1/mask_service.grpc.pb.h"
#include "maskd/v1/tokenizer_service.grpc.pb.h"

int main() {
  const std::unique_ptr<maskd::v1::MaskService::Stub> stub;
  maskd::v1::CheckRequest sent;
  sent.set_raw_text("\xff");
  maskd::v1::CheckRequest read;
  return read.ParseFromString(sent.SerializeAsString()) && read.raw_text() == "\xff" ? 0 : 1;
}
