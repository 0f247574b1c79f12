//! Streams that are opened on several servers at once, so that those that are silent are not waited
//! for in turn.

use std::collections::VecDeque;
use std::future::Future;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{sleep_until, Instant};

use crate::Error;

/// How long an attempt is alone before the next begins beside it: RFC 8305, section 5, "Connection
/// Attempt Delay".
pub(crate) const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// What has come of opening a stream on an address.
pub(crate) type Attempt<S> = (String, Result<S, Error>);

/// The next attempt begins [`ATTEMPT_DELAY`] after the one before, or as soon as one has failed
/// ("Happy Eyeballs", RFC 8305). Those that run end when the race is dropped.
#[derive(Debug)]
pub(crate) struct Race<S, Open> {
    left: VecDeque<String>,
    open: Open,
    running: JoinSet<Attempt<S>>,
    due: Instant, // when the next begins
}

impl<S, Open, Opened> Race<S, Open>
where
    S: Send + 'static,
    Open: Fn(String) -> Opened,
    Opened: Future<Output = Result<S, Error>> + Send + 'static,
{
    pub(crate) fn new(addresses: Vec<String>, open: Open) -> Self {
        Self {
            left: addresses.into(),
            open,
            running: JoinSet::new(),
            due: Instant::now(),
        }
    }

    /// Waits for the next attempt that ends; none: all have.
    pub(crate) async fn next(&mut self) -> Option<Attempt<S>> {
        loop {
            let ended = tokio::select! {
                biased;
                Some(ended) = self.running.join_next() => ended,
                () = sleep_until(self.due), if !self.left.is_empty() => {
                    self.begin();
                    continue;
                }
                else => return None,
            };
            // One that has panicked says nothing, and is as good as one that has failed.
            self.due = Instant::now();
            if let Ok(attempt) = ended {
                return Some(attempt);
            }
        }
    }

    fn begin(&mut self) {
        let Some(address) = self.left.pop_front() else {
            return;
        };
        self.due = Instant::now() + ATTEMPT_DELAY;
        let opened = (self.open)(address.clone());
        self.running.spawn(async move { (address, opened.await) });
    }
}
