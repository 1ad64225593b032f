//! The address book of a data directory, and lists of tables with its marks: who is known, who comes first, and who is
//! left out.

use std::collections::BTreeSet;
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

    /// Open tables with the marks of their hosts: those of favourites first, then those nearby, each once. The tables of
    /// blocked hosts and of `own` are left out.
    pub fn arranged(&mut self, near: &[OpenTable], far: &[OpenTable], own: Option<PeerId>) -> Vec<ListedTable> {
        self.refresh();
        let found = near.iter().map(|table| (table, false)).chain(far.iter().map(|table| (table, true)));
        let mut seen = BTreeSet::new();
        let mut listed = Vec::new();
        for (table, at_point) in found {
            let host = table.ticket().host();
            if Some(host) != own && !self.book.is_blocked(&host) && seen.insert(table.id()) {
                let mark = self.book.mark(&host, &clean(table.announcement().host.as_str()));
                listed.push(ListedTable { mark, table: table.clone(), at_point });
            }
        }
        let is_favourite = |mark: &Mark| mark.known.as_ref().is_some_and(|known| known.favourite);
        listed.sort_by_key(|listed| !is_favourite(&listed.mark));
        listed
    }
}

#[cfg(test)]
mod tests {
    use fairdeal_peers::testing::{announcement, peer};
    use fairdeal_session::people::Change;

    use super::*;
    use crate::store::DataDir;

    fn table(host: u8) -> OpenTable {
        let addresses = ["/ip4/192.168.0.2/tcp/4001".parse().unwrap()];
        OpenTable::new(peer(host), announcement(host), addresses).unwrap()
    }

    #[test]
    fn tables_are_listed_once_and_arranged() {
        let root = tempfile::tempdir().unwrap();
        let data = DataDir::open(Some(root.path())).unwrap();
        let mut people = Acquaintances::of(&data);
        for (seed, change) in [(2, Change::Blocked(true)), (4, Change::Favourite(true))] {
            data.change_people(|book| book.change(peer(seed), None, &change)).unwrap();
        }
        let far = [table(3), table(4), table(5), table(6)];
        let listed = people.arranged(&[table(1), table(2), table(3)], &far, Some(peer(6)));
        let listed = listed.iter().map(|listed| (listed.table.ticket().host(), listed.at_point));
        let expected = [(peer(4), true), (peer(1), false), (peer(3), false), (peer(5), true)];
        assert_eq!(listed.collect::<Vec<_>>(), expected);
    }
}
