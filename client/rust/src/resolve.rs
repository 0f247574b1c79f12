//! Which servers there are behind an address.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// How long an answer of DNS is waited for.
const ANSWER: Duration = Duration::from_secs(2);

type Found = Pin<Box<dyn Future<Output = io::Result<Vec<String>>> + Send>>;

/// Gives the servers of an address. The default asks DNS for those of a name.
#[derive(Clone)]
pub struct Resolver(Arc<dyn Fn(String) -> Found + Send + Sync>);

impl Resolver {
    /// One of the caller's own: given an address of the options, it gives those of its servers.
    pub fn new<F>(resolve: impl Fn(String) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = io::Result<Vec<String>>> + Send + 'static,
    {
        Self(Arc::new(move |address| Box::pin(resolve(address))))
    }

    /// The servers of all addresses, ascending; one that cannot be resolved stands for itself.
    pub(crate) async fn servers_of(&self, addresses: &[String]) -> Vec<String> {
        let mut servers = Vec::new();
        for address in addresses {
            match tokio::time::timeout(ANSWER, self.0(address.clone())).await {
                Ok(Ok(found)) => servers.extend(found),
                _ => servers.push(address.clone()),
            }
        }
        servers.sort();
        servers.dedup();
        servers
    }
}

impl Default for Resolver {
    fn default() -> Self {
        Self::new(by_dns)
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resolver")
    }
}

/// Whether DNS may know more servers by an address than one.
pub(crate) fn is_name(address: &str) -> bool {
    name_of(address).is_some()
}

/// Host and port of a name.
fn name_of(address: &str) -> Option<(&str, &str)> {
    let rest = match address.strip_prefix("dns:") {
        Some(rest) => rest.strip_prefix("///").unwrap_or(rest),
        None => address,
    };
    let (host, port) = rest.rsplit_once(':')?;
    let is_server = host.is_empty() || host == "unix" || host.parse::<IpAddr>().is_ok();
    let is_other = port.is_empty() || rest.contains(['/', '@', '[']) || host.contains(':');
    (!is_server && !is_other).then_some((host, port))
}

/// Each server with the name that it was found by, to which TLS holds it: `10.0.0.7:7411@maskd`.
async fn by_dns(address: String) -> io::Result<Vec<String>> {
    let Some((host, port)) = name_of(&address) else {
        return Ok(vec![address]);
    };
    let found = tokio::net::lookup_host(format!("{host}:{port}")).await?;
    Ok(found.map(|server| format!("{server}@{host}")).collect())
}
