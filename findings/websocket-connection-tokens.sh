#!/usr/bin/env bash
# tungstenite's client refuses a valid WebSocket handshake whose Connection header lists another word beside "upgrade",
# which RFC 6455 (section 4.1) lets a server write; hyper writes `connection: upgrade, close` once keep-alive is off.
# It meets whoever serves a page and a WebSocket from one port, one request a connection: browsers connect, and programs
# on tungstenite do not.
#
# tungstenite 0.30.0 by tokio-tungstenite 0.30.0, hyper 1.12.0 (http1, server), hyper-util 0.1.21. Needs cargo and the
# network. Exits 0 while it is so.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cat > "$folder/Cargo.toml" <<'TOML'
[package]
name = "upgrade"
version = "0.0.0"
edition = "2024"

[dependencies]
http-body-util = "=0.1.5"
hyper = { version = "=1.12.0", default-features = false, features = ["http1", "server"] }
hyper-util = { version = "=0.1.21", default-features = false, features = ["tokio"] }
tokio-tungstenite = { version = "=0.30.0", default-features = false, features = ["handshake"] }
tungstenite = { version = "=0.30.0", default-features = false, features = ["handshake"] }
tokio = { version = "1", features = ["rt", "net", "io-util", "macros"] }
TOML
cat > "$folder/src/main.rs" <<'RUST'
use std::convert::Infallible;

use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The answer of RFC 6455, section 4.2.2.
async fn answer(request: Request<Incoming>) -> Result<Response<Empty<Bytes>>, Infallible> {
    let key = request.headers()["sec-websocket-key"].as_bytes();
    let answer = Response::builder()
        .status(101)
        .header("upgrade", "websocket")
        .header("connection", "upgrade")
        .header("sec-websocket-accept", tungstenite::handshake::derive_accept_key(key));
    Ok(answer.body(Empty::new()).unwrap())
}

/// A server for one connection, and where it is.
async fn server(keep_alive: bool) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut http = http1::Builder::new();
        http.keep_alive(keep_alive);
        let _ = http.serve_connection(TokioIo::new(stream), service_fn(answer)).with_upgrades().await;
    });
    place
}

/// What tungstenite's client says to it.
async fn handshake(keep_alive: bool) -> String {
    let place = server(keep_alive).await;
    let stream = TcpStream::connect(place).await.unwrap();
    match tokio_tungstenite::client_async(format!("ws://{place}/"), stream).await {
        Ok(_) => "open".to_owned(),
        Err(why) => why.to_string(),
    }
}

/// The `connection` header that a client gets.
async fn header(keep_alive: bool) -> String {
    let mut stream = TcpStream::connect(server(keep_alive).await).await.unwrap();
    let request = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                   Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = vec![0; 4096];
    let length = stream.read(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
    answer.lines().find(|line| line.starts_with("connection:")).unwrap_or("no connection header").to_owned()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    for keep_alive in [true, false] {
        println!("{}: {}", header(keep_alive).await, handshake(keep_alive).await);
    }
}
RUST
seen=$(cd "$folder" && cargo run --quiet)
echo "$seen"
expected="connection: upgrade: open
connection: upgrade, close: WebSocket protocol error: No \"Connection: upgrade\" header"
[ "$seen" = "$expected" ] || { echo "they do something else now" >&2; exit 1; }
