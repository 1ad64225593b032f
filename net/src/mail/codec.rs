//! The frames of `/fairdeal/mail/1`: a request and its response, each one frame.

use std::io;

use fairdeal_peers::mail::{MAX_MAIL_REQUEST, MAX_MAIL_RESPONSE, MailRequest, MailResponse};
use fairdeal_protocol::wire::codec::CodecError;
use futures::{AsyncRead, AsyncWrite};
use libp2p::StreamProtocol;
use libp2p::request_response;

use crate::codec::{read_frame, write_frame};

/// The protocol between a meeting point and those whose letters it keeps.
pub(crate) const MAIL: StreamProtocol = StreamProtocol::new("/fairdeal/mail/1");

/// Reads and writes requests and responses.
#[derive(Clone, Debug)]
pub(crate) struct Mails;

impl request_response::Codec for Mails {
    type Protocol = StreamProtocol;
    type Request = MailRequest;
    type Response = MailResponse;

    async fn read_request<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<MailRequest>
    where
        T: AsyncRead + Unpin + Send,
    {
        let bytes = read_frame(io, MAX_MAIL_REQUEST).await?;
        MailRequest::from_bytes(&bytes).map_err(invalid)
    }

    async fn read_response<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<MailResponse>
    where
        T: AsyncRead + Unpin + Send,
    {
        let bytes = read_frame(io, MAX_MAIL_RESPONSE).await?;
        MailResponse::from_bytes(&bytes).map_err(invalid)
    }

    async fn write_request<T>(&mut self, _: &StreamProtocol, io: &mut T, request: MailRequest) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        write_frame(io, &request.to_bytes(), MAX_MAIL_REQUEST).await
    }

    async fn write_response<T>(&mut self, _: &StreamProtocol, io: &mut T, response: MailResponse) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        write_frame(io, &response.to_bytes(), MAX_MAIL_RESPONSE).await
    }
}

fn invalid(error: CodecError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
