//! Letters of this seat: written once all that they rest on is on disk, and read like messages of a seat that is not there.

use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::message::Message;

use super::{Due, Seated};
use crate::cx::Cx;
use crate::letter::{Letter, LetterNews, Written};

impl Seated {
    pub(super) fn write_letter(&mut self, to: Seat) {
        if self.peers.contains_key(&to) && self.takes_part(to) {
            self.due.push_back(Due::Write(to));
        } else {
            let why = format!("{} is no longer at this table, so a letter would have no reader", self.name(to));
            self.due.push_back(Due::Refused(why));
        }
    }

    pub(super) fn read_letter(&mut self, sealed: &[u8], cx: &mut Cx<'_>) {
        let (from, letter) = match Letter::open(&self.charter, self.table.me(), &cx.own.key, sealed) {
            Ok(opened) => opened,
            Err(why) => return self.due.push_back(Due::Refused(why.to_string())),
        };
        let (mut refused, signed) = (Vec::new(), self.own_entries());
        for message in letter.messages() {
            let Some(message) = self.taken(from, message.clone(), cx) else { continue };
            self.note_request(from, &message);
            if let Err(why) = self.table.read_letter(from, message, cx.rng) {
                refused.push(why.to_string());
            }
        }
        self.shows = true;
        self.due.push_back(Due::HasRead { from, refused, signed });
    }

    /// Notes a question: the answer goes into the next letter, which another program may write.
    fn note_request(&mut self, from: Seat, message: &Message) {
        if let Message::StateRequest(relayed) = message
            && relayed.request.unverified().asker == from
            && relayed.request.verify(&self.charter).is_ok()
        {
            let (me, open) = (self.table.me(), self.table.replica().step());
            self.notes.asks(from, (**relayed).clone(), (me, open));
        }
    }

    /// Answers the commands about letters: the table has put out everything, and all of it is on disk.
    pub(super) fn answer_letters(&mut self, cx: &mut Cx<'_>) {
        while let Some(due) = self.due.pop_front() {
            let news = match due {
                Due::HasRead { from, refused, signed } => {
                    let (has_signed, asks) = (self.own_entries() > signed, self.is_asking());
                    LetterNews::Read { from, refused, has_signed, asks }
                }
                Due::Write(to) => self.written(to, cx),
                Due::Refused(why) => LetterNews::Refused(why),
            };
            cx.answer_letter(news);
        }
    }

    /// How many entries this seat has signed.
    fn own_entries(&self) -> u64 {
        let progress = self.table.progress();
        progress.step + u64::from(progress.done.contains(self.table.me()))
    }

    fn written(&mut self, to: Seat, cx: &mut Cx<'_>) -> LetterNews {
        let asked = self.notes.request_of(to, (self.table.me(), self.table.replica().step())).cloned();
        let letter = Letter::of(self.table.write_letter(to, asked.as_ref().map(|asked| asked.request.unverified())));
        let (is_here, covered, asks) = (self.is_here(to, cx), self.covers(to), self.is_asking());
        let key = cx.own.key.clone();
        let subject = letter.subject(self.id, &key, to);
        match letter.seal(&self.charter, &key, to, cx.rng) {
            Ok(sealed) => LetterNews::Written(Written { to, subject, is_here, covered, asks, sealed }),
            Err(why) => LetterNews::Refused(why.to_string()),
        }
    }
}
