//! A client of maskd, which turns grammars into token masks for engines of language models.
//!
//! ```no_run
//! # async fn forward_pass() -> Vec<f32> { vec![] }
//! # fn sample(_: &[f32]) -> i32 { 0 }
//! # async fn engine() -> Result<(), maskd::Error> {
//! let client = maskd::Client::connect("unix:/run/maskd.sock", maskd::Options::default()).await?;
//! let compiled = client.compile(maskd::Grammar::json_schema(r#"{"type": "object"}"#)).await?;
//! let mut stream = client.open_stream(maskd::StreamOptions::new(128_256)).await?;
//! let mut step = maskd::Step::new();
//! step.open(7, maskd::GrammarId::from(compiled.grammar_id));
//! loop {
//!     stream.submit(&mut step).await?; // returns at once, and empties the step
//!     let mut logits = forward_pass().await; // the server fills the masks meanwhile
//!     let result = stream.collect().await?;
//!     result.apply(7, &mut logits)?; // in place
//!     step.take(7, &[sample(&logits)]);
//! }
//! # }
//! ```
//!
//! A mask is `ceil(width / 32)` words; bit `t % 32`, least significant first, of word `t / 32` is
//! token `t`, 1 means allowed. Words are made of the wire's bytes by copying: nothing is viewed as
//! another type, and the crate has no unsafe code.
//!
//! **Errors** are [`Error`], with the canonical code, the server's reason and the place in the
//! caller's own source. What is wrong with one row is in its [`Row`].
//!
//! **Deadlines** are the caller's: a future that is dropped is given up. Dropping
//! [`Stream::collect`] loses nothing, as in `tokio::time::timeout(limit, stream.collect())`: the
//! reply can be collected later.
//!
//! **Failover**: a [`FailoverStream`] is a stream over several servers that outlives them. It goes
//! where there are few streams, at the start and later on.
//!
//! **Features**: `tls`, off by default.

mod balance;
mod client;
mod codec;
mod error;
mod failover;
mod failover_options;
mod grammar;
mod ledger;
mod mask;
mod race;
mod reader;
mod resolve;
mod result;
mod search;
mod servers;
mod spread;
mod step;
mod stream;
mod unanswered;

/// The wire's own types, made of `protos/maskd/v1` by `scripts/rust-stubs`.
// A grammar is larger than the other members of the oneofs it is in; comments are those of protos.
#[allow(
    missing_docs,
    clippy::large_enum_variant,
    clippy::doc_lazy_continuation,
    clippy::doc_overindented_list_items,
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    rustdoc::bare_urls
)]
pub mod v1 {
    include!("generated/maskd.v1.rs");
}

pub use client::{Client, Options, RetryPolicy};
pub use error::{Code, Error};
pub use failover::FailoverStream;
pub use failover_options::FailoverOptions;
pub use grammar::{Grammar, GrammarId, Target};
pub use mask::{Form, Mask};
pub use resolve::Resolver;
pub use result::{Row, State, StepResult};
pub use step::{OpenOptions, RowId, Step, TokenId};
pub use stream::{Stream, StreamOptions, MAX_IN_FLIGHT};

#[cfg(test)]
extern crate self as maskd;
#[cfg(test)]
mod golden_tests;
#[cfg(test)]
mod race_tests;
#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;
