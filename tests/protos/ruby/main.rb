# A message there and back; the service's stub is there.
require 'maskd/v1/compile_service_services_pb'
require 'maskd/v1/mask_service_services_pb'
require 'maskd/v1/tokenizer_service_services_pb'

sent = Maskd::V1::CheckRequest.new(raw_text: "\xff".b)
read = Maskd::V1::CheckRequest.decode(Maskd::V1::CheckRequest.encode(sent))
abort 'the message is not what was sent' unless sent == read && Maskd::V1::MaskService::Stub
