//! Makes the wire's types of the published protos; protoc must be on the machine.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<String> = [
        "compile_service",
        "grammar",
        "mask_service",
        "tokenizer_service",
    ]
    .iter()
    .map(|name| format!("protos/maskd/v1/{name}.proto"))
    .collect();
    tonic_prost_build::configure()
        .build_server(false)
        .codec_path("crate::codec::WholeCodec")
        .bytes(".maskd.v1.Position.dense")
        .compile_protos(&files, &["protos".to_string()])?;
    Ok(())
}
