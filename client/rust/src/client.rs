use std::time::Duration;

use hyper_util::rt::TokioIo;
use rand::Rng;
use tokio::net::{TcpStream, UnixStream};
use tokio::time::Instant;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};
use tower::service_fn;

use crate::v1;
use crate::v1::compile_service_client::CompileServiceClient;
use crate::v1::tokenizer_service_client::TokenizerServiceClient;
use crate::{Code, Error, Stream, StreamOptions, Target};

/// When a failed unary call is tried again: all are idempotent.
///
/// `Unavailable` and errors with a time of the server's own are, others are not; no wait begins
/// that would pass the call's time.
#[derive(Debug, Clone)]
pub struct RetryPolicy {
    /// Tries in all; 1: never again.
    pub max_attempts: u32,
    /// Wait before the second try, doubled before each later one.
    pub first_delay: Duration,
    /// The longest wait.
    pub max_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 4,
            first_delay: Duration::from_millis(20),
            max_delay: Duration::from_secs(1),
        }
    }
}

/// Of a connection. The default is right for a server on the same machine.
#[derive(Debug, Clone)]
pub struct Options {
    /// Encrypts the connection. None: plain, for Unix sockets and trusted networks.
    #[cfg(feature = "tls")]
    pub tls: Option<tonic::transport::ClientTlsConfig>,
    /// Sent with every call as `authorization: Bearer TOKEN`.
    pub token: Option<String>,
    /// How long `connect` goes on where nobody is there yet. Zero: what the first try says is the
    /// answer.
    pub wait_for_server: Duration,
    /// How long a connection may take to be made.
    pub connect_timeout: Duration,
    /// The time of one unary call, retries included.
    pub call_timeout: Duration,
    /// Of unary calls.
    pub retry: RetryPolicy,
    /// The largest message that is received.
    pub max_message_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            #[cfg(feature = "tls")]
            tls: None,
            token: None,
            wait_for_server: Duration::ZERO,
            connect_timeout: Duration::from_secs(5),
            call_timeout: Duration::from_secs(30),
            retry: RetryPolicy::default(),
            max_message_bytes: 64 << 20,
        }
    }
}

impl Options {
    /// Makes a connection. Errors: `InvalidArgument` (no address), `Unavailable` with the address
    /// and the system's own words.
    pub(crate) async fn dial(&self, address: &str) -> Result<Channel, Error> {
        let connected = match (address.strip_prefix("unix:"), address.split_once('@')) {
            (Some(path), _) => self.dial_unix(path.trim_start_matches("//")).await,
            (None, Some((server, name))) => self.dial_named(server, name).await,
            (None, None) => self.dial_tcp(address).await,
        };
        connected.map_err(|error| error.at(address))
    }

    fn endpoint(&self, uri: String) -> Result<Endpoint, Error> {
        let invalid = |error: tonic::transport::Error| {
            Error::new(Code::InvalidArgument, error.to_string()).with_causes(&error)
        };
        let endpoint = Endpoint::from_shared(uri).map_err(invalid)?;
        let endpoint = endpoint.connect_timeout(self.connect_timeout);
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            return endpoint.tls_config(tls.clone()).map_err(invalid);
        }
        Ok(endpoint)
    }

    fn scheme(&self) -> &'static str {
        #[cfg(feature = "tls")]
        if self.tls.is_some() {
            return "https";
        }
        "http"
    }

    async fn dial_unix(&self, path: &str) -> Result<Channel, Error> {
        let path = format!("/{}", path.trim_start_matches('/'));
        let endpoint = self.endpoint(format!("{}://localhost", self.scheme()))?;
        let connector = service_fn(move |_| {
            let path = path.clone();
            async move { UnixStream::connect(path).await.map(TokioIo::new) }
        });
        endpoint
            .connect_with_connector(connector)
            .await
            .map_err(|error| unavailable(&error))
    }

    async fn dial_tcp(&self, address: &str) -> Result<Channel, Error> {
        let place = address.strip_prefix("dns:///").unwrap_or(address);
        if place.is_empty() {
            return Err(Error::new(Code::InvalidArgument, "address: is empty"));
        }
        let endpoint = self.endpoint(format!("{}://{place}", self.scheme()))?;
        endpoint
            .connect()
            .await
            .map_err(|error| unavailable(&error))
    }

    /// A server that was found by a name: it is held to that, not to its number.
    async fn dial_named(&self, server: &str, name: &str) -> Result<Channel, Error> {
        let (_, port) = server.rsplit_once(':').unwrap_or_default();
        let endpoint = self.endpoint(format!("{}://{name}:{port}", self.scheme()))?;
        let server = server.to_string();
        let connector = service_fn(move |_| {
            let server = server.clone();
            async move {
                let socket = TcpStream::connect(server).await?;
                socket.set_nodelay(true)?;
                Ok::<_, std::io::Error>(TokioIo::new(socket))
            }
        });
        endpoint
            .connect_with_connector(connector)
            .await
            .map_err(|error| unavailable(&error))
    }

    pub(crate) fn request<T>(&self, message: T) -> Result<Request<T>, Error> {
        let mut request = Request::new(message);
        if let Some(token) = &self.token {
            let value = format!("Bearer {token}");
            let value: MetadataValue<Ascii> = value.parse().map_err(|_| {
                Error::new(Code::InvalidArgument, "token: has what no header may have")
            })?;
            request.metadata_mut().insert("authorization", value);
        }
        Ok(request)
    }
}

fn unavailable(error: &tonic::transport::Error) -> Error {
    Error::new(Code::Unavailable, error.to_string()).with_causes(error)
}

/// Between half and all of a delay, so that many callers do not come back at once.
pub(crate) fn jittered(delay: Duration) -> Duration {
    delay.mul_f64(rand::rng().random_range(0.5..1.0))
}

/// A client of one server. Clones share its connection; streams live on their own.
#[derive(Debug, Clone)]
pub struct Client {
    address: String,
    options: Options,
    compile: CompileServiceClient<Channel>,
    tokenizers: TokenizerServiceClient<Channel>,
}

/// One unary call with its retries.
macro_rules! call {
    ($self:ident, $service:ident . $method:ident, $request:expr) => {{
        let request = $request;
        let deadline = Instant::now() + $self.options.call_timeout;
        let mut tries = 1;
        let mut delay = $self.options.retry.first_delay;
        loop {
            let mut service = $self.$service.clone();
            let said = service.$method($self.options.request(request.clone())?);
            let error = match tokio::time::timeout_at(deadline, said).await {
                Ok(Ok(response)) => break Ok(response.into_inner()),
                Ok(Err(status)) => Error::from(status),
                Err(_) => Error::from(Status::deadline_exceeded("no answer in the call's time")),
            };
            match $self.wait_before(&error, tries, delay) {
                Some(wait) if Instant::now() + wait < deadline => tokio::time::sleep(wait).await,
                _ => break Err(error.at(&$self.address)),
            }
            tries += 1;
            delay = (2 * delay).min($self.options.retry.max_delay);
        }
    }};
}

impl Client {
    /// Makes a client and asks the server a question, so that whoever has a client has had an
    /// answer. Addresses are `unix:/run/maskd.sock` (an absolute path), `127.0.0.1:7411` or
    /// `dns:///maskd:7411`.
    ///
    /// # Errors
    /// `InvalidArgument` (no address), `Unavailable` with the address and the system's own words.
    pub async fn connect(address: impl Into<String>, options: Options) -> Result<Self, Error> {
        let address = address.into();
        let deadline = Instant::now() + options.wait_for_server;
        loop {
            let error = match options.dial(&address).await {
                Ok(channel) => {
                    let limit = options.max_message_bytes;
                    let client = Self {
                        compile: CompileServiceClient::new(channel.clone())
                            .max_decoding_message_size(limit),
                        tokenizers: TokenizerServiceClient::new(channel)
                            .max_decoding_message_size(limit),
                        address: address.clone(),
                        options: options.clone(),
                    };
                    match client.tokenizer("").await {
                        Ok(_) => return Ok(client),
                        Err(error) => error,
                    }
                }
                Err(error) => error,
            };
            let is_final =
                error.code != Code::Unavailable || error.message.contains("ermission denied");
            if is_final || Instant::now() >= deadline {
                return Err(error);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    fn wait_before(&self, error: &Error, tries: u32, delay: Duration) -> Option<Duration> {
        if tries >= self.options.retry.max_attempts {
            return None;
        }
        let own = (error.code == Code::Unavailable).then(|| jittered(delay));
        error.retry_after.or(own)
    }

    /// Compiles a grammar against the server's default tokenizer, or finds it in the cache.
    ///
    /// # Errors
    /// Those of `CompileService.Compile`.
    pub async fn compile(&self, target: impl Into<Target>) -> Result<v1::CompileResponse, Error> {
        self.compile_for("", target).await
    }

    /// [`Self::compile`] for a tokenizer by its name.
    ///
    /// # Errors
    /// Those of `CompileService.Compile`.
    pub async fn compile_for(
        &self,
        tokenizer: &str,
        target: impl Into<Target>,
    ) -> Result<v1::CompileResponse, Error> {
        let target = Some(target.into().into());
        let request = v1::CompileRequest {
            tokenizer: tokenizer.to_string(),
            target,
        };
        call!(self, compile.compile, request)
    }

    /// Runs a text through a grammar. What the grammar refuses is an answer, not an error.
    ///
    /// # Errors
    /// Those of `CompileService.Check`.
    pub async fn check(
        &self,
        target: impl Into<Target>,
        text: impl Into<String>,
    ) -> Result<v1::CheckResponse, Error> {
        self.check_request(v1::CheckRequest {
            target: Some(target.into().into()),
            input: Some(v1::check_request::Input::Text(text.into())),
            ..Default::default()
        })
        .await
    }

    /// [`Self::check`] of a request that the caller has filled: raw bytes, tokens, a tokenizer.
    ///
    /// # Errors
    /// Those of `CompileService.Check`.
    pub async fn check_request(
        &self,
        request: v1::CheckRequest,
    ) -> Result<v1::CheckResponse, Error> {
        call!(self, compile.check, request)
    }

    /// Says what the compiler understood of a grammar.
    ///
    /// # Errors
    /// Those of `CompileService.Explain`.
    pub async fn explain(&self, target: impl Into<Target>) -> Result<v1::ExplainResponse, Error> {
        let target = Some(target.into().into());
        call!(
            self,
            compile.explain,
            v1::ExplainRequest {
                target,
                ..Default::default()
            }
        )
    }

    /// All vocabularies, the default first.
    ///
    /// # Errors
    /// Those of `TokenizerService.ListTokenizers`.
    pub async fn list_tokenizers(&self) -> Result<Vec<v1::Tokenizer>, Error> {
        let mut all = Vec::new();
        let mut request = v1::ListTokenizersRequest::default();
        loop {
            let page = call!(self, tokenizers.list_tokenizers, request.clone())?;
            all.extend(page.tokenizers);
            if page.next_page_token.is_empty() {
                return Ok(all);
            }
            request.page_token = page.next_page_token;
        }
    }

    /// One vocabulary by its name; an empty name is the server's default.
    ///
    /// # Errors
    /// Those of `TokenizerService.GetTokenizer`.
    pub async fn tokenizer(&self, name: &str) -> Result<v1::Tokenizer, Error> {
        let request = v1::GetTokenizerRequest {
            name: name.to_string(),
        };
        let response = call!(self, tokenizers.get_tokenizer, request)?;
        Ok(response.tokenizer.unwrap_or_default())
    }

    /// Every token in order of id.
    ///
    /// # Errors
    /// Those of `TokenizerService.ListTokens`.
    pub async fn list_tokens(&self, tokenizer: &str) -> Result<Vec<v1::Token>, Error> {
        let mut all = Vec::new();
        let tokenizer = tokenizer.to_string();
        let mut request = v1::ListTokensRequest {
            tokenizer,
            ..Default::default()
        };
        loop {
            let page = call!(self, tokenizers.list_tokens, request.clone())?;
            all.extend(page.tokens);
            match page.next_id {
                None => return Ok(all),
                Some(next) if usize::try_from(next) == Ok(all.len()) => request.first_id = next,
                Some(_) => {
                    let text = "the server's pages of tokens do not follow each other";
                    return Err(Error::internal(text));
                }
            }
        }
    }

    /// Opens a decode stream, on a connection of its own so that no other call's bytes delay a
    /// step, and says hello.
    ///
    /// # Errors
    /// Those of `MaskService.Decode`, `Unavailable`, `DeadlineExceeded`.
    pub async fn open_stream(&self, options: StreamOptions) -> Result<Stream, Error> {
        Stream::open(&self.address, &self.options, options).await
    }
}
