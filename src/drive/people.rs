//! The address book of a data directory, and lists of tables with its marks: who is known, who comes first, and who is
//! left out.

use std::time::SystemTime;

use fairdeal_peers::PeerId;
use fairdeal_peers::announcement::OpenTable;
use fairdeal_session::people::{Book, Mark};
use fairdeal_session::text::clean;
use fairdeal_session::view::ListedTable;

use crate::store::DataView;

/// The address book of a data directory, read again when its file changes.
#[derive(Debug)]
pub struct Acquaintances {
    data: DataView,
    book: Book,
    stamp: Option<(SystemTime, u64)>,
}

impl Acquaintances {
    /// Reads the book. One that cannot be read counts as empty; the caller of [`DataView::people`] reports it.
    pub fn of(data: &DataView) -> Self {
        let mut all = Self { data: data.clone(), book: Book::default(), stamp: None };
        all.refresh();
        all
    }

    /// Reads the file again if it has changed. Returns whether the book has.
    pub fn refresh(&mut self) -> bool {
        let stamp = self.data.people_stamp();
        if stamp == self.stamp {
            return false;
        }
        self.stamp = stamp;
        match self.data.people() {
            Ok(book) => {
                let is_other = book != self.book;
                self.book = book;
                is_other
            }
            Err(error) => {
                // Whoever was blocked stays blocked.
                tracing::warn!(%error, "the address book is not read");
                false
            }
        }
    }

    pub fn book(&self) -> &Book {
        &self.book
    }

    fn is_blocked(&self, peer: PeerId) -> bool {
        self.book.is_blocked(&peer)
    }

    /// A list of tables with the marks of their hosts: those of favourites first, those of blocked hosts left out.
    pub fn arranged(&mut self, tables: Vec<OpenTable>, at_point: bool) -> Vec<ListedTable> {
        self.refresh();
        let known = tables.into_iter().filter(|table| !self.is_blocked(table.ticket().host()));
        let marked = known.map(|table| {
            let name = clean(table.announcement().host.as_str());
            ListedTable { mark: self.book.mark(&table.ticket().host(), &name), table, at_point }
        });
        let mut listed: Vec<ListedTable> = marked.collect();
        let is_favourite = |mark: &Mark| mark.known.as_ref().is_some_and(|known| known.favourite);
        listed.sort_by_key(|listed| !is_favourite(&listed.mark));
        listed
    }
}
