//! Writes one JSON text with a model that guesses: each step masks random logits and takes the
//! greatest. The server has its embedded vocabulary of single bytes.
//!
//!     maskd & cargo run --example engine unix:/tmp/maskd.sock

use maskd::{Client, Grammar, OpenOptions, Options, Step, StreamOptions};

const ROW: u64 = 7;
const WIDTH: u32 = 320;
const END: i32 = 256;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), maskd::Error> {
    let address = std::env::args()
        .nth(1)
        .unwrap_or("unix:/tmp/maskd.sock".to_string());
    let client = Client::connect(address, Options::default()).await?;
    let grammar = Grammar::json_schema(
        r#"{"type": "object", "required": ["age"], "properties": {"age": {"type": "integer"}},
            "additionalProperties": false}"#,
    );
    let compiled = client.compile(grammar).await?;
    let mut stream = client.open_stream(StreamOptions::new(WIDTH)).await?;
    let mut step = Step::new();
    let options = OpenOptions {
        remaining_tokens: Some(40),
        ..OpenOptions::default()
    };
    step.open_with(ROW, maskd::GrammarId::from(compiled.grammar_id), options);
    let mut text = Vec::new();
    loop {
        stream.submit(&mut step).await?; // returns at once, and empties the step
        let mut logits: Vec<f32> = (0..WIDTH).map(|_| rand::random()).collect(); // the forward pass
        let result = stream.collect().await?;
        result.apply(ROW, &mut logits)?; // in place
        let best = (0..END + 1).max_by(|a, b| logits[*a as usize].total_cmp(&logits[*b as usize]));
        let token = best.unwrap_or(END);
        if token == END {
            break;
        }
        text.extend(u8::try_from(token));
        step.take(ROW, &[token]);
    }
    println!("{}", String::from_utf8_lossy(&text));
    stream.close().await
}
