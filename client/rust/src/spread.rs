//! Looks at the servers of a stream now and then, and prepares its move to another where its own
//! has too many: it asks for the grammars of its rows, has them compiled there, opens a stream there
//! and offers it. So a step of a stream that moves waits for no connection and no compile.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rand::seq::SliceRandom;
use tokio::sync::{oneshot, Notify};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{timeout, Instant};
use tonic::transport::Channel;

use crate::balance::{Loads, LookPace};
use crate::v1::compile_service_client::CompileServiceClient;
use crate::v1::mask_service_client::MaskServiceClient;
use crate::v1::{CompileRequest, GetLoadRequest, GetLoadResponse, Welcome};
use crate::{Error, FailoverOptions, Options, Stream};

/// How long a server may take to say how many streams it has.
const LOAD_ANSWER: Duration = Duration::from_millis(500);

/// How long an offer, and a wish for grammars, wait for the next step.
const TAKEN_WITHIN: Duration = Duration::from_secs(1);

/// How long a server that could not be gone to is left alone.
const LEFT_ALONE: Duration = Duration::from_secs(30);

/// How many servers are asked at most.
const MOST_ASKED: usize = 8;

/// A stream as its server knows it.
#[derive(Debug, Clone)]
pub(crate) struct Own {
    pub(crate) address: String,
    pub(crate) number: u64,
}

/// Asks servers how many streams they have, over connections that it keeps.
#[derive(Debug)]
pub(crate) struct Asker {
    connect: Options,
    connections: HashMap<String, Channel>,
}

impl Asker {
    pub(crate) fn new(connect: Options) -> Self {
        Self {
            connect,
            connections: HashMap::new(),
        }
    }

    /// Asks all at once; of many a random few, the own one among them.
    pub(crate) async fn ask(&mut self, servers: &[String], own: Option<&Own>) -> Loads {
        let asked = sample(servers, own);
        self.connections.retain(|server, _| asked.contains(server));
        let mut all = JoinSet::new();
        for (at, server) in asked.iter().enumerate() {
            let own = own.filter(|own| own.address == *server);
            let stream_number = own.map(|own| own.number);
            let (connect, server) = (self.connect.clone(), server.clone());
            // One that fails is not put back: it may wait for long before it tries again.
            let connection = self.connections.remove(&server);
            all.spawn(async move {
                let said = ask_one(connect, &server, connection, stream_number);
                (at, timeout(LOAD_ANSWER, said).await)
            });
        }
        let mut answers: Vec<Option<GetLoadResponse>> = vec![None; asked.len()];
        while let Some(answered) = all.join_next().await {
            if let Ok((at, Ok(Ok((connection, answer))))) = answered {
                self.connections.insert(asked[at].clone(), connection);
                answers[at] = Some(answer);
            }
        }
        let mut loads = Loads::default();
        for (server, answer) in asked.into_iter().zip(answers) {
            let Some(answer) = answer else { continue };
            loads.servers.push(server);
            loads.streams.push(answer.open_streams.into());
            loads.rank = answer.rank.map(u64::from).or(loads.rank);
        }
        loads
    }
}

fn sample(servers: &[String], own: Option<&Own>) -> Vec<String> {
    let mut asked = servers.to_vec();
    if asked.len() > MOST_ASKED {
        asked.shuffle(&mut rand::rng());
        let here = own.and_then(|own| asked.iter().position(|server| *server == own.address));
        asked.swap(0, here.unwrap_or(0));
        asked.truncate(MOST_ASKED);
    }
    asked.sort();
    asked
}

async fn ask_one(
    connect: Options,
    server: &str,
    connection: Option<Channel>,
    stream_number: Option<u64>,
) -> Result<(Channel, GetLoadResponse), Error> {
    let channel = match connection {
        Some(channel) => channel,
        None => connect.dial(server).await?,
    };
    let request = connect.request(GetLoadRequest { stream_number })?;
    let answer = MaskServiceClient::new(channel.clone())
        .get_load(request)
        .await?;
    Ok((channel, answer.into_inner()))
}

/// A stream to go to, on which nothing was sent.
#[derive(Debug)]
pub(crate) struct Offer {
    pub(crate) address: String,
    pub(crate) stream: Stream,
}

/// What the stream and the task tell each other.
#[derive(Debug, Default)]
struct State {
    servers: Vec<String>,
    own: Option<Own>,
    uses: u64, // how often `own` was set
    wanted: Option<oneshot::Sender<Vec<CompileRequest>>>,
    offered: Option<(Offer, oneshot::Sender<()>)>,
    alone_until: HashMap<String, Instant>,
}

#[derive(Debug, Default)]
struct Shared {
    steps: AtomicU64,
    news: AtomicBool, // whether the stream is wanted: give or take
    came: Notify,
    state: Mutex<State>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what the stream is wanted for.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let result = change(&mut state);
        let is_wanted = state.wanted.is_some() || state.offered.is_some();
        self.news.store(is_wanted, Ordering::Relaxed);
        result
    }

    fn leave_alone(&self, address: &str) {
        let until = Instant::now() + LEFT_ALONE;
        self.lock().alone_until.insert(address.to_string(), until);
    }
}

/// The stream's side; the task ends with it.
#[derive(Debug)]
pub(crate) struct Spreader {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Drop for Spreader {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Spreader {
    /// Looks begin now, in a task of the runtime.
    pub(crate) fn new(options: FailoverOptions) -> Self {
        let shared = Arc::new(Shared::default());
        let look = Look {
            asker: Asker::new(options.connect.clone()),
            pace: LookPace::new(options.look_every),
            options,
            shared: Arc::clone(&shared),
            seen: 0,
        };
        let task = tokio::spawn(look.run());
        Self { shared, task }
    }

    /// The stream is now the one of this welcome.
    pub(crate) fn come(&self, address: &str, welcome: &Welcome) {
        self.shared.change(|state| {
            let address = address.to_string();
            state.own = welcome.stream_number.map(|number| Own { address, number });
            state.uses += 1;
            state.wanted = None;
            state.offered = None;
        });
        self.shared.came.notify_one();
    }

    /// Counts a step, and says whether the stream is wanted.
    pub(crate) fn touch(&self) -> bool {
        self.shared.steps.fetch_add(1, Ordering::Relaxed);
        self.shared.news.load(Ordering::Relaxed)
    }

    /// As of the last look.
    pub(crate) fn servers(&self) -> Vec<String> {
        self.shared.lock().servers.clone()
    }

    /// Hands over the grammars, if they are wanted.
    pub(crate) fn give(&self, grammars: impl FnOnce() -> Vec<CompileRequest>) {
        if let Some(wanted) = self.shared.change(|state| state.wanted.take()) {
            let _ = wanted.send(grammars()); // nobody waits any more: it is asked for again
        }
    }

    pub(crate) fn take(&self) -> Option<Offer> {
        let taken = self.shared.change(|state| state.offered.take());
        taken.map(|(offer, _)| offer)
    }

    /// The stream could not go there.
    pub(crate) fn leave_alone(&self, address: &str) {
        self.shared.leave_alone(address);
    }
}

/// The task's side.
struct Look {
    options: FailoverOptions,
    shared: Arc<Shared>,
    asker: Asker,
    pace: LookPace,
    seen: u64, // steps
}

impl Look {
    async fn run(mut self) {
        loop {
            let came = timeout(self.pace.next(), self.shared.came.notified()).await;
            if came.is_ok() {
                self.pace.came();
            } else {
                self.look().await;
            }
        }
    }

    async fn look(&mut self) {
        let FailoverOptions {
            addresses, resolve, ..
        } = &self.options;
        let servers = resolve.servers_of(addresses).await;
        let count = servers.len();
        let (own, uses) = {
            let mut state = self.shared.lock();
            state.servers = servers;
            (state.own.clone(), state.uses)
        };
        let steps = self.shared.steps.load(Ordering::Relaxed);
        let is_idle = std::mem::replace(&mut self.seen, steps) == steps;
        let Some(own) = own.filter(|_| count > 1 && !is_idle) else {
            return self.pace.looked(false);
        };
        let loads = self.ask_all(&own).await;
        self.pace.looked(loads.is_uneven());
        if let Some(place) = loads.place_for(&own.address) {
            self.prepare(place, &own, uses, &loads.servers).await;
        }
    }

    async fn ask_all(&mut self, own: &Own) -> Loads {
        let servers: Vec<String> = {
            let mut state = self.shared.lock();
            state.alone_until.retain(|_, until| *until > Instant::now());
            let alone = &state.alone_until;
            let may_ask =
                |server: &&String| **server == own.address || !alone.contains_key(*server);
            state.servers.iter().filter(may_ask).cloned().collect()
        };
        self.asker.ask(&servers, Some(own)).await
    }

    /// Makes the move to a place that follows from what the servers `asked` said.
    async fn prepare(&mut self, place: &str, own: &Own, uses: u64, asked: &[String]) {
        let Some(grammars) = self.await_grammars().await else {
            return;
        };
        let compiled = timeout(self.options.compile_timeout, self.compile(place, grammars)).await;
        if !matches!(compiled, Ok(Ok(()))) {
            return self.shared.leave_alone(place);
        }
        // That may have taken long. The same servers: of many, others would have another place.
        let again = self.asker.ask(asked, Some(own)).await;
        if again.place_for(&own.address) != Some(place) {
            return;
        }
        let mut options = self.options.stream.clone();
        options.open_timeout = options.open_timeout.min(TAKEN_WITHIN);
        match Stream::open(place, &self.options.connect, options).await {
            Ok(stream) => self.offer(place, stream, uses).await,
            Err(_) => self.shared.leave_alone(place),
        }
    }

    /// Asks the stream for its rows' grammars, which it gives with its next step.
    async fn await_grammars(&self) -> Option<Vec<CompileRequest>> {
        let (wanted, given) = oneshot::channel();
        self.shared.change(|state| state.wanted = Some(wanted));
        let given = timeout(TAKEN_WITHIN, given).await;
        self.shared.change(|state| state.wanted = None);
        given.ok()?.ok()
    }

    async fn compile(&self, place: &str, grammars: Vec<CompileRequest>) -> Result<(), Error> {
        let connect = &self.options.connect;
        let mut service = CompileServiceClient::new(connect.dial(place).await?);
        for grammar in grammars {
            service.compile(connect.request(grammar)?).await?;
        }
        Ok(())
    }

    /// Offers a stream, and takes it back where it is not taken in time.
    async fn offer(&self, place: &str, stream: Stream, uses: u64) {
        let (taken, was_taken) = oneshot::channel();
        let address = place.to_string();
        let offer = Offer { address, stream };
        self.shared.change(|state| {
            if state.uses == uses {
                state.offered = Some((offer, taken));
            }
        });
        let _ = timeout(TAKEN_WITHIN, was_taken).await;
        self.shared.change(|state| state.offered = None);
    }
}
