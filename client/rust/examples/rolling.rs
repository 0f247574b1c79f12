//! An engine of `tests/interop/rolling_restart.py`, as `tests/interop/README.md` ("Rolling
//! restart") says it.
//!
//!     rolling ADDRESSES LOGITS_WIDTH SEED PAUSE_MS KIND SOURCE [KIND SOURCE]...

use std::io::Write;
use std::time::Duration;

use maskd::{FailoverOptions, FailoverStream, Grammar, Step, StepResult, StreamOptions};

const ROWS: usize = 4;
const LONGEST: usize = 48;
const REPORT_EVERY: usize = 20;
const END: usize = 256;
const TIMEOUT: Duration = Duration::from_secs(60);

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [addresses, width, seed, pause_ms, texts @ ..] = arguments.as_slice() else {
        return Err("usage: rolling ADDRESSES LOGITS_WIDTH SEED PAUSE_MS KIND SOURCE...".into());
    };
    let (width, pause): (usize, _) = (width.parse()?, Duration::from_millis(pause_ms.parse()?));
    let grammars: Vec<Grammar> = texts
        .chunks_exact(2)
        .map(|pair| Grammar::new(&pair[0], &pair[1]))
        .collect();
    let options = StreamOptions::new(width.try_into()?);
    let mut stream =
        FailoverStream::open(FailoverOptions::new(addresses.split(','), options)).await?;
    let words = width.div_ceil(32);
    let mut order: Vec<u64> = (0..ROWS as u64).collect();
    let mut lengths = [0; ROWS];
    let mut bitmask = vec![0; ROWS * words];
    let mut step = Step::new();
    let open = |step: &mut Step, row: u64| {
        step.open(row, grammars[row as usize % grammars.len()].clone());
        step.wait_for_compile(TIMEOUT / 2);
    };
    order.iter().for_each(|row| open(&mut step, *row));
    let mut digest: u64 = seed.parse()?;
    for steps in 1.. {
        let result = tokio::time::timeout(TIMEOUT, run(&mut stream, &mut step)).await??;
        result.copy_masks(&order, &mut bitmask, words)?;
        for (i, mask) in bitmask.chunks_exact(words).enumerate() {
            for word in mask {
                digest = (digest ^ u64::from(*word)).wrapping_mul(1_099_511_628_211);
            }
            let token = choose(mask, (digest >> 33) as usize % width, width);
            lengths[i] += 1;
            if token != END && lengths[i] < LONGEST {
                step.take(order[i], &[token.try_into()?]);
                continue;
            }
            step.close(order[i]);
            order[i] += ROWS as u64 + 1;
            lengths[i] = 0;
            open(&mut step, order[i]);
        }
        if steps % REPORT_EVERY == 0 {
            writeln!(
                std::io::stdout(),
                "{steps} {} {digest:016x}",
                stream.moves()
            )?;
        }
        tokio::time::sleep(pause).await;
    }
    Ok(())
}

/// The answer to a step that went well.
async fn run(stream: &mut FailoverStream, step: &mut Step) -> Result<StepResult, Failure> {
    stream.submit(step).await?;
    let result = stream.collect().await?;
    match result.rows.iter().find(|row| row.error.is_some()) {
        Some(row) => Err(format!("step {}: {row:?}", result.step).into()),
        None => Ok(result),
    }
}

/// The first allowed token at `start` or behind it, round and round.
fn choose(words: &[u32], mut start: usize, width: usize) -> usize {
    while words[start / 32] >> (start % 32) & 1 == 0 {
        start = (start + 1) % width;
    }
    start
}
