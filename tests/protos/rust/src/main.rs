//! A message there and back; the service's client is there.
use prost::Message;

// A grammar is larger than the other members of the oneofs it is in.
#[allow(clippy::large_enum_variant)]
mod v1 {
    tonic::include_proto!("maskd.v1");
}

fn main() {
    let _ = v1::mask_service_client::MaskServiceClient::<tonic::transport::Channel>::new;
    let input = v1::check_request::Input::RawText(vec![255]);
    let sent = v1::CheckRequest { input: Some(input), ..Default::default() };
    let read = v1::CheckRequest::decode(sent.encode_to_vec().as_slice()).expect("a message");
    assert_eq!(sent, read);
}
