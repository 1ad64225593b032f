//! Two pages for monitors over HTTP/1.1: bounded requests, a few connections, one request each.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Maximum number of connections at once; more wait.
const CONNECTIONS: usize = 8;
/// Maximum time of a connection, from its beginning to the last byte of the answer.
pub(super) const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of a request's head in bytes; hyper takes no less.
const HEAD: usize = 8192;
/// Pause after a failed accept, such as without free open files.
const PAUSE: Duration = Duration::from_millis(100);
/// Prometheus' text format, which every browser shows too.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    Metrics,
    Health,
}

/// A page's text, or why there is none.
pub(super) type Answer = Result<String, String>;

/// Serves the pages until it is dropped, each connection for at most `limit`. A page that cannot be given answers with
/// 503.
pub(super) async fn serve<A, F>(listener: TcpListener, limit: Duration, answer: A)
where
    A: Fn(Page) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Answer> + Send + 'static,
{
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let slot = slots.clone().acquire_owned().await;
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!(%error, "a monitor could not be served");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let connection = answer_one(stream, answer.clone());
        tokio::spawn(async move {
            if tokio::time::timeout(limit, connection).await.is_err() {
                tracing::debug!("a monitor was too slow");
            }
            drop(slot);
        });
    }
}

async fn answer_one<A, F>(stream: TcpStream, answer: A)
where
    A: Fn(Page) -> F + Send,
    F: Future<Output = Answer> + Send,
{
    let respond = service_fn(|request: Request<Incoming>| {
        let page = page(&request).map(&answer);
        async move {
            Ok::<_, Infallible>(match page {
                Err(status) => refusal(status),
                Ok(page) => match page.await {
                    Ok(text) => response(StatusCode::OK, text),
                    Err(why) => response(StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
                },
            })
        }
    });
    let mut http = http1::Builder::new();
    http.keep_alive(false).max_buf_size(HEAD);
    // An error means garbage, or a client that has left.
    let _ = http.serve_connection(TokioIo::new(stream), respond).await;
}

fn page(request: &Request<Incoming>) -> Result<Page, StatusCode> {
    let page = match request.uri().path() {
        "/metrics" => Page::Metrics,
        "/health" => Page::Health,
        _ => return Err(StatusCode::NOT_FOUND),
    };
    match *request.method() {
        Method::GET | Method::HEAD => Ok(page),
        _ => Err(StatusCode::METHOD_NOT_ALLOWED),
    }
}

fn response(status: StatusCode, text: String) -> Response<String> {
    let mut response = Response::new(text);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, TEXT);
    response
}

fn refusal(status: StatusCode) -> Response<String> {
    let mut response = response(status, format!("{status}: GET /metrics or /health\n"));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, METHODS);
    }
    response
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    async fn server(limit: Duration) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(listener, limit, async |page| match page {
            Page::Metrics => Ok("a_metric 1\n".to_owned()),
            Page::Health => Err("the relay listens nowhere".to_owned()),
        }));
        address
    }

    /// All that the server answers to these bytes.
    async fn answer(server: SocketAddr, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(server).await.unwrap();
        // It may answer and close before it has read everything.
        let _ = stream.write_all(request).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8(answer).unwrap()
    }

    #[tokio::test]
    async fn pages_are_answered_and_nothing_else() {
        let server = server(TIMEOUT).await;
        for (request, status, ends_with) in [
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "200 OK", "\r\n\r\na_metric 1\n"),
            ("GET /metrics?x=1 HTTP/1.0\r\n\r\n", "200 OK", "\r\n\r\na_metric 1\n"),
            ("HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "200 OK", "\r\n\r\n"),
            ("GET /health HTTP/1.1\r\nHost: x\r\n\r\n", "503 Service Unavailable", "listens nowhere\n"),
            ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "404 Not Found", "/health\n"),
            ("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", "405 Method", "/health\n"),
        ] {
            let answer = answer(server, request.as_bytes()).await;
            assert_eq!(answer.split_once(' ').map(|(_, rest)| rest.starts_with(status)), Some(true), "{answer}");
            assert!(answer.ends_with(ends_with), "{request}: {answer}");
        }
    }

    #[tokio::test]
    async fn garbage_and_giants_are_refused() {
        let server = server(TIMEOUT).await;
        assert_eq!(answer(server, b"\x16\x03\x01\x02\x00").await.split(' ').nth(1), Some("400"));
        let giant = [b"GET /metrics HTTP/1.1\r\nX: ", &[b'x'; 100_000][..]].concat();
        let refused = answer(server, &giant).await;
        assert!(refused.is_empty() || refused.starts_with("HTTP/1.1 4"), "{refused}");
        let many = format!("GET /metrics HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(1000));
        let refused = answer(server, many.as_bytes()).await;
        assert!(refused.is_empty() || refused.starts_with("HTTP/1.1 4"), "{refused}");
    }

    #[tokio::test]
    async fn slow_clients_make_room_in_time() {
        let server = server(Duration::from_millis(50)).await;
        let mut slow = Vec::new();
        for _ in 0..CONNECTIONS {
            let mut stream = TcpStream::connect(server).await.unwrap();
            stream.write_all(b"GET /metrics").await.unwrap();
            slow.push(stream);
        }
        let answer = answer(server, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let mut rest = Vec::new();
        let _ = slow[0].read_to_end(&mut rest).await;
        assert!(rest.is_empty(), "closed without an answer");
    }
}
