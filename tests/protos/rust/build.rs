fn main() -> Result<(), Box<dyn std::error::Error>> {
    let protos = std::env::var("MASKD_PROTOS")?;
    let files: Vec<String> = ["compile_service", "grammar", "mask_service", "tokenizer_service"]
        .iter()
        .map(|name| format!("{protos}/maskd/v1/{name}.proto"))
        .collect();
    tonic_prost_build::configure().compile_protos(&files, &[protos])?;
    Ok(())
}
