//! The loop of `bench/client_loop_bench.cc` in Rust: what a step of the client costs, every mask
//! made dense.
//!
//!     bench ADDRESS LOGITS_WIDTH ROWS STEPS
//!
//! Each row writes `[a-z]*` with one token a step. Prints the p50 and p99 of the time from where a
//! step's message begins until its masks lie in the engine's bitmask, in microseconds.

use std::time::{Duration, Instant};

use maskd::{Client, Grammar, Options, Step, StreamOptions};

const WARM_UP: usize = 200;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, width, rows, steps] = arguments.as_slice() else {
        return Err("usage: bench ADDRESS LOGITS_WIDTH ROWS STEPS".into());
    };
    let (width, rows, steps): (u32, u64, usize) = (width.parse()?, rows.parse()?, steps.parse()?);
    let client = Client::connect(address, Options::default()).await?;
    let mut stream = client.open_stream(StreamOptions::new(width)).await?;
    let order: Vec<u64> = (0..rows).collect();
    let words = width.div_ceil(32) as usize;
    let mut bitmask = vec![0; order.len() * words];
    let mut step = Step::new();
    step.wait_for_compile(Duration::from_secs(5));
    for row in &order {
        step.open(*row, Grammar::regex("[a-z]*"));
    }
    let mut micros = Vec::with_capacity(steps);
    for i in 0..WARM_UP + steps {
        let start = Instant::now();
        if i > 0 {
            for row in &order {
                step.take(*row, &[i32::from(b'a')]);
            }
        }
        stream.submit(&mut step).await?;
        let result = stream.collect().await?;
        result.copy_masks(&order, &mut bitmask, words)?;
        if i >= WARM_UP {
            micros.push(start.elapsed().as_nanos() as f64 / 1000.0);
        }
    }
    micros.sort_by(f64::total_cmp);
    println!("{:.1} {:.1}", micros[steps / 2], micros[steps * 99 / 100]);
    Ok(stream.close().await?)
}
