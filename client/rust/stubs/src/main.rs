//! Makes the wire's types of the published protos (scripts/rust-stubs): `stubs PROTOS FOLDER`.

use std::env::args;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let (protos, folder) = args()
        .nth(1)
        .zip(args().nth(2))
        .ok_or("stubs PROTOS FOLDER")?;
    let files: Vec<String> = [
        "compile_service",
        "grammar",
        "mask_service",
        "tokenizer_service",
    ]
    .iter()
    .map(|name| format!("{protos}/maskd/v1/{name}.proto"))
    .collect();
    tonic_prost_build::configure()
        .build_server(false)
        .codec_path("crate::codec::WholeCodec")
        .bytes(".maskd.v1.Position.dense")
        .out_dir(folder)
        .compile_protos(&files, &[protos])?;
    Ok(())
}
