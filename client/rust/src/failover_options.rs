use std::time::Duration;

use crate::resolve::is_name;
use crate::{Options, Resolver, RetryPolicy, StreamOptions};

/// Between which servers a stream may move, and when.
#[derive(Debug, Clone)]
pub struct FailoverOptions {
    /// At least one, as of `Client::connect`.
    pub addresses: Vec<String>,
    /// Whether they are tried as listed, and the stream stays where it is. Else it goes where there
    /// are few streams, also later on: after a restart, or when a server has come to those of a
    /// name.
    pub in_order: bool,
    /// What the stream is for.
    pub stream: StreamOptions,
    /// How the servers are reached.
    pub connect: Options,
    /// A server that has not answered a step for so long is given up.
    pub step_timeout: Duration,
    /// How long a server that serves is looked for.
    pub give_up_after: Duration,
    /// How long the replayed rows' grammars may compile on the new server.
    pub compile_timeout: Duration,
    /// Waits between two rounds over the addresses, each with jitter.
    pub retry: RetryPolicy,
    /// How often the stream looks at the servers, at least.
    pub look_every: Duration,
    /// Gives the servers of an address.
    pub resolve: Resolver,
}

impl FailoverOptions {
    /// For these servers, all else at its default.
    pub fn new<T: Into<String>>(
        addresses: impl IntoIterator<Item = T>,
        stream: StreamOptions,
    ) -> Self {
        Self {
            addresses: addresses.into_iter().map(Into::into).collect(),
            in_order: false,
            stream,
            connect: Options::default(),
            step_timeout: Duration::from_secs(2),
            give_up_after: Duration::from_secs(10),
            compile_timeout: Duration::from_secs(10),
            retry: RetryPolicy::default(),
            look_every: Duration::from_secs(4),
            resolve: Resolver::default(),
        }
    }

    pub(crate) fn spreads(&self) -> bool {
        !self.in_order && (self.addresses.len() > 1 || is_name(&self.addresses[0]))
    }
}
