//! The frames of `/fairdeal/meet/1`: a request and its response, each one frame.

use std::io;

use fairdeal_peers::listing::{MAX_REQUEST, MAX_RESPONSE, MeetRequest, MeetResponse};
use fairdeal_protocol::wire::codec::CodecError;
use futures::{AsyncRead, AsyncWrite};
use libp2p::StreamProtocol;
use libp2p::request_response;

use crate::codec::{read_frame, write_frame};

/// The protocol between a meeting point and its hosts and clients.
pub(crate) const MEET: StreamProtocol = StreamProtocol::new("/fairdeal/meet/1");

/// Reads and writes requests and responses.
#[derive(Clone, Debug)]
pub(crate) struct Meetings;

impl request_response::Codec for Meetings {
    type Protocol = StreamProtocol;
    type Request = MeetRequest;
    type Response = MeetResponse;

    async fn read_request<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<MeetRequest>
    where
        T: AsyncRead + Unpin + Send,
    {
        let bytes = read_frame(io, MAX_REQUEST).await?;
        MeetRequest::from_bytes(&bytes).map_err(invalid)
    }

    async fn read_response<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<MeetResponse>
    where
        T: AsyncRead + Unpin + Send,
    {
        let bytes = read_frame(io, MAX_RESPONSE).await?;
        MeetResponse::from_bytes(&bytes).map_err(invalid)
    }

    async fn write_request<T>(&mut self, _: &StreamProtocol, io: &mut T, request: MeetRequest) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        write_frame(io, &request.to_bytes(), MAX_REQUEST).await
    }

    async fn write_response<T>(&mut self, _: &StreamProtocol, io: &mut T, response: MeetResponse) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        write_frame(io, &response.to_bytes(), MAX_RESPONSE).await
    }
}

fn invalid(error: CodecError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
